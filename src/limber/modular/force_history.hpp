#pragma once
// What accepted steps tell of the next one: multipliers of the joints, forces between components and wrenches on the
// ports, at the ends of the last three steps. A straight line or a parabola through them predicts the next.

#include <array>
#include <cmath>
#include <vector>

#include "limber/kinematics/body_space/twist.hpp"
#include "limber/modular/options.hpp"

namespace limber {

template <int D>
class ForceHistory {
public:
    using Wrenches = std::vector<TwistVec<D>>;

    explicit ForceHistory(int ports);
    /// Multipliers of other joints.
    void set_multipliers(const VecX& multipliers);
    /// What comes does not go on from what was.
    void restart() { steps_ = 0; }

    /// Whether the last so many steps had this length.
    bool has_steps(int count, double h) const { return steps_ >= count && is_same_step(h); }
    /// At the last instant accepted and at the one before.
    const VecX& multipliers() const { return multipliers_; }
    const VecX& multipliers_before() const { return before_; }
    const Wrenches& wrenches() const { return wrenches_[0]; }

    /// At the end of a step of this length: a line, or a parabola if that would have predicted the step before better.
    void predict_multipliers(double h, bool may_bend, VecX& multipliers) const;
    void predict_forces(double h, ForceCourse course, Wrenches& forces) const;
    /// Second differences of the wrenches.
    void find_bend(Wrenches& bend) const;

    /// late_correction: what would still have corrected the multipliers. A step of length 0 finds forces of the same
    /// instant again.
    void accept(double h, const VecX& multipliers, const VecX& late_correction, const Wrenches& forces,
                const Wrenches& wrenches);

private:
    bool is_same_step(double h) const { return std::abs(h_ - h) < 1e-6 * h; }

    int steps_ = 0;  // of length h_, in a row
    double h_ = 0;
    VecX multipliers_, before_;
    // With their late corrections: at the last instant, at that before and at the one before that.
    VecX expected_, expected_before_, expected_earlier_;
    bool predicts_parabola_ = false;             // better than a line does: so it was in the last step
    std::array<Wrenches, 3> forces_, wrenches_;  // newest first
};

}  // namespace limber
