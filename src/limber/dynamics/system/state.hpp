#pragma once
// The state of a running mechanism: a plain value. Copy it, save it, give one to each thread.

#include <vector>

#include "limber/math/types.hpp"

namespace limber {

/// Where two bodies touch, and what they have done to each other there over the last step.
struct ContactPoint {
    int body_a = -1, body_b = -1;    ///< -1: ground
    int shape_a = -1, shape_b = -1;  ///< of the mechanism
    int rule = -1;
    Vec3 point = Vec3::Zero();
    Vec3 normal = Vec3::UnitZ();  ///< from a to b
    double gap = 0;
    Vec3 force = Vec3::Zero(), torque = Vec3::Zero();  ///< on b, world axes
    bool slides = false;                               ///< at the end of the step
};

struct State {
    double t = 0;
    VecX q, v, a;                ///< coordinates, velocities, accelerations
    VecX lambda;                 ///< multipliers: M a + J^T lambda = Q
    std::vector<double> memory;  ///< in blocks, see kinematics/elements/memory.hpp
    /// The acceleration carried by the difference formulas of implicit schemes. For schemes that weight the
    /// equilibrium over the step (HHT, generalized-alpha) it lags behind a. Empty: start from a.
    VecX scheme_a;
    /// For schemes that look back: the acceleration one step ago and the length of that step (0: none yet).
    VecX previous_a;
    double previous_step = 0;
    std::vector<ContactPoint> contacts;  ///< of rigid bodies, see moreau_jean.hpp

    /// What a step of length h has found for its end.
    void complete_step(double end, double h, const VecX& new_q, const VecX& new_v, const VecX& new_a,
                       const VecX& new_scheme_a, const VecX& new_lambda) {
        t = end;
        q = new_q;
        v = new_v;
        previous_a = scheme_a;
        previous_step = h;
        scheme_a = new_scheme_a;
        a = new_a;
        lambda = new_lambda;
    }
};

}  // namespace limber
