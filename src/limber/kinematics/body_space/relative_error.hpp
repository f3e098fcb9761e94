#pragma once
// How much of what the joints do is the mending of errors: the relative error of Joli 2008 eq. (15),
//
//   Sigma = |e| / |K lambda|,      e = kv Phi' + kp Phi,      K lambda = G M^-1 w - e
//
// with w the wrenches that all joints together exert for exact constraint accelerations (inertia - applied wrenches,
// eq. 6-8). Taken over the rows of the bodies' twists, not over those of a formulation, so that it means the same
// everywhere: rows that coordinates satisfy by themselves count with no error. Rows that measure angles are multiplied
// by the length scale.

#include "limber/kinematics/body_space/twist_constraints.hpp"

namespace limber {

template <int D>
class RelativeErrorMeter {
public:
    explicit RelativeErrorMeter(const Mechanism<D>& mechanism);

    /// `twist_rates` are those of the exact constraint accelerations. 0 without constraints.
    double compute(const BodyStates<D>& states, const std::vector<double>& memory, double t,
                   const std::vector<TwistVec<D>>& twist_rates, const Gains& gains);

private:
    const Mechanism<D>& m_;
    TwistConstraints<D> constraints_;
    std::vector<Vec<D>> slot_force_;
    VecX twists_, rates_, forced_;
};

}  // namespace limber
