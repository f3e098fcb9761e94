#pragma once
// Contacts as they are shown: a point, a normal and a force for rigid bodies, compliant bodies and stops alike.

#include <vector>

#include "limber/kinematics/body_space/reactions.hpp"
#include "limber/simulation/observer.hpp"

namespace limber {

/// What the bodies of one rule do to each other.
struct ContactRuleLoad {
    double normal = 0;    ///< sum of the normal forces
    double friction = 0;  ///< sum over pairs of shapes of the size of their friction force
    double depth = 0;     ///< largest overlap, of rigid bodies
    int count = 0;        ///< contact points; of compliant bodies pairs of shapes
};

template <int D>
class ContactView {
public:
    ContactView(const Model& model, const Mechanism<D>& mechanism);

    /// Whether a stop is closed, so that its force has to be found.
    bool needs_reactions(const State& state) const;
    /// Everything that touches. `reactions` must be those of the state if they are needed.
    void find(const State& state, const MeasureContext<D>& context, const ReactionSolver<D>& reactions,
              std::vector<ContactLoad>& list) const;
    /// `rule` is a place among those of the mechanism.
    ContactRuleLoad measure_rule(int rule, const State& state, const MeasureContext<D>& context) const;

private:
    struct Place {
        int stop = -1;
        bool is_limit = false;
        enum class At { second_marker, foot, middle };  ///< foot: of the second marker on a wall
        At at = At::second_marker;
        int a = -1, b = -1;  ///< points between which it acts; of a limit those of its joint, -1: none
        int body = -1;       ///< on which it acts
        double sign = 1;     ///< -1: that is the first body
        int friction = -1;
    };
    /// `moment` is that of a unit normal force about the second point.
    Vec<D> contact_point(const Place& place, const FeatureState<D>& features, const Vec<D>& normal,
                         const AngularVec<D>& moment) const;
    Vec<D> friction_force(const Place& place, const State& state, const FeatureState<D>& features,
                          const ReactionSolver<D>& reactions, const Vec<D>& at) const;

    const Mechanism<D>& m_;
    std::vector<Place> places_;  ///< beside Mechanism::stops
};

}  // namespace limber
