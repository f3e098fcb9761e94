#pragma once
// The state of a running mechanism: a plain value. Copy it, save it, give one to each thread.

#include <vector>

#include "limber/math/types.hpp"

namespace limber {

struct State {
    double t = 0;
    VecX q, v, a;                ///< coordinates, velocities, accelerations
    VecX lambda;                 ///< multipliers: M a + J^T lambda = Q
    std::vector<double> memory;  ///< turns counted by angles, places on curves
    /// The acceleration carried by the difference formulas of implicit schemes. For schemes that weight the
    /// equilibrium over the step (HHT, generalized-alpha) it lags behind a. Empty: start from a.
    VecX scheme_a;
    /// For schemes that look back: the acceleration one step ago and the length of that step (0: none yet).
    VecX previous_a;
    double previous_step = 0;

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
