#pragma once
// Stops in time-stepping: their gaps are rows of the same problem as the contacts of bodies, so that a limit and a ball
// that hits the limited arm find their impulses together. By events (stop_stepper.hpp) they cannot: bodies jump
// where a step becomes long enough for an impact between them.

#include "limber/kinematics/body_space/twist_constraints.hpp"
#include "limber/kinematics/forces/contact_law.hpp"

namespace limber {

/// Whether the stops of a mechanism are stepped over like its contacts: if bodies touch rigidly, and if no stop rubs or
/// latches.
template <int D>
bool has_stepped_stops(const Mechanism<D>& mechanism);

template <int D>
class SteppedStops {
public:
    explicit SteppedStops(const Mechanism<D>& mechanism);

    int count() const { return rows_.row_count(); }
    const StopRow& stop(int i) const { return m_.stops[i]; }
    /// Restitution, and nothing that rubs.
    const ContactLaw& law(int i) const { return laws_[i]; }
    const std::string& name(int i) const { return m_.elements[stop(i).element].name; }
    void update(const BodyStates<D>& states, const std::vector<double>& memory, double t) {
        rows_.update(states, memory, t);
    }
    /// As the row measures it: its sign and its zero are those of the gap.
    double gap(int i) const { return rows_.values.phi[i]; }
    double rate(int i, const VecX& twists) const { return rows_.dot_row(i, twists); }
    /// use(body, wrench) for all bodies that a unit impulse of a stop acts on.
    template <class Use>
    void for_each_body(int i, const Use& use) const {
        const auto range = rows_.entries(i);
        for (int entry = range.first; entry < range.second; ++entry)
            use(rows_.entry_body(entry), rows_.entry_wrench(entry));
    }

private:
    const Mechanism<D>& m_;
    TwistConstraints<D> rows_;
    std::vector<ContactLaw> laws_;
};

/// All rows but those of stops.
template <int D>
ConstraintSet<D> rows_without_stops(const Mechanism<D>& mechanism);

}  // namespace limber
