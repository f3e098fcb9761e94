#pragma once
// Acceleration-based penalty (Bayo 1988; Seguy 2003 eqs. 7, 8): the constraints replaced by heavy mass-spring-damper
// systems,
//
//   (M + J^T W J) a = Q - J^T W (bias + kv Phi' + kp Phi),   lambda = W (J a + bias + kv Phi' + kp Phi)
//
// One solve per evaluation, and one more for its rounding errors, which are about penalty times those of M; constraint
// accelerations are met to about 1/penalty.

#include "limber/dynamics/augmented_lagrangian.hpp"

namespace limber {

class PenaltySolver final : public AugmentedLagrangianSolver {
public:
    using AugmentedLagrangianSolver::AugmentedLagrangianSolver;

    bool solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a, VecX& lambda) override {
        if (!solve_penalty(t, q, v, memory, a)) return false;
        if (system_->rows() > 0) {
            refine_penalty(a);
            leave_out_uncertain(0, [&] {
                start(a);
                refine_penalty(a);
            });
        }
        lambda = residual_.cwiseProduct(mass_.weight());
        // A projection onto the constraints wants all of them.
        mass_.take_back_left_out();
        if (!a.allFinite()) failure_ = "the accelerations are not finite";
        return a.allFinite();
    }
};

}  // namespace limber
