#pragma once
// Twists of all bodies brought onto the joints with the least change in the metric of the masses: what the impulses of
// the joints do.
//
// One factorisation of S = M + w G^T G, then a few passes of the multiplier iteration, so redundant joints and massless
// bodies are no obstacle.
//
// Where a body that joints hold has next to no inertia, M^-1 of a force is nothing to start from: the force acts on
// others through the joints. There it is S^-1 of it (respond).

#include "limber/kinematics/body_space/twist_constraints.hpp"
#include "limber/math/multiplier_iteration.hpp"

namespace limber {

template <int D>
class JointProjector {
public:
    explicit JointProjector(const Mechanism<D>& mechanism) : JointProjector(mechanism, mechanism.constraints) {}
    /// With some of the mechanism's rows only.
    JointProjector(const Mechanism<D>& mechanism, ConstraintSet<D> rows);

    bool has_joints() const { return constraints_.row_count() > 0; }
    /// Whether some joint or driver acts on a body.
    bool is_joined(int body) const { return body >= 0 && is_joined_[body]; }
    /// What else acts on a body together with others.
    void count_as_joined(int body) { is_joined_[body] = true; }

    /// Joined, and with next to no mass.
    bool is_light(int body) const;
    /// Of wrenches on the bodies, what acts where joined bodies have next to no inertia. False: there is none.
    bool find_light_part(const BodyStates<D>& states, const VecX& wrenches, VecX& light) const;

    /// Rows at a configuration, masses at another one nearby. False: the matrix cannot be factorised.
    bool update(const BodyStates<D>& states, const BodyStates<D>& mass_states, const std::vector<double>& memory,
                double t);
    const FeatureState<D>& features() const { return constraints_.features; }
    const VecX& bias() const { return constraints_.values.bias; }
    const VecX& time_partial() const { return constraints_.values.time_partial; }
    void multiply_rows(const VecX& twists, VecX& result) const { constraints_.multiply_rows(twists, result); }

    /// Changes twists so that G twist + target = 0.
    void project(const VecX& target, VecX& twists);
    /// The same with target zero.
    void project(VecX& twists) { project(zero_, twists); }
    /// Turns impulses (or forces) on the bodies into the twists (or their rates) they give, such that G x + target = 0.
    void respond(const VecX& target, VecX& x);
    void respond(VecX& x) { respond(zero_, x); }
    /// Brings positions that have drifted off the joints back, with rows and matrix at their place. False as in
    /// update().
    bool correct_positions(BodyStates<D>& states, const std::vector<double>& memory, double t);

private:
    /// A body with next to no inertia in some directions.
    struct LightBody {
        int body = -1;
        bool has_mass = true;
        AngularMat<D> turns = AngularMat<D>::Zero();  // projector on them, body axes
    };
    void find_light_bodies(const Mechanism<D>& mechanism);

    TwistConstraints<D> constraints_;
    std::vector<bool> is_joined_;
    std::vector<LightBody> light_;  // joined or not
    double penalty_;
    MultiplierIteration iteration_;
    VecX zero_, weight_, residual_, multipliers_, step_, phi_;
};

}  // namespace limber
