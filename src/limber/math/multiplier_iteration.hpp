#pragma once
// Multipliers of the augmented Lagrangian by conjugate gradients.
//
// With S = M + J^T W J factorised, the x that satisfies J x + rhs = 0 and differs from a given x_0 least in the metric
// of M is x = x_0 - S^-1 J^T lambda with (J S^-1 J^T) lambda = r_0, r_0 = J x_0 + rhs. Bayo's iteration lambda <-
// lambda + W r is Richardson's method on this system: W J S^-1 J^T has all eigenvalues at 1, up to 1/penalty, except in
// directions in which the constraints hardly act. Conjugate gradients with the preconditioner W cost the same per pass,
// take the same first step, and deal with the few weak directions in as many passes. Redundant rows are no obstacle:
// from zero lambda stays in the range.

#include <algorithm>

#include "limber/math/types.hpp"

namespace limber {

class MultiplierIteration {
public:
    MultiplierIteration(int size, int rows)
        : direction_(VecX::Zero(rows)), scaled_(VecX::Zero(rows)), rows_(VecX::Zero(rows)), change_(VecX::Zero(size)) {}

    /// residual: J x + rhs on entry, what is left of it on exit. x and lambda are updated. apply(direction, change,
    /// rows) must set change = S^-1 J^T direction and rows = J change. Stops when no residual exceeds `enough`, or when
    /// it no longer falls. Returns the number of passes.
    template <class Apply>
    int run(const VecX& weight, double enough, int max_passes, VecX& residual, VecX& x, VecX& lambda,
            const Apply& apply) {
        scaled_ = weight.cwiseProduct(residual);
        direction_ = scaled_;
        double product = residual.dot(scaled_);
        double error = residual.lpNorm<Eigen::Infinity>();
        int passes = 0;
        int stalls = 0;
        while (passes < max_passes && error > enough && product > 0) {
            apply(direction_, change_, rows_);
            const double curvature = direction_.dot(rows_);
            if (!(curvature > 0)) break;
            // One over the weight of the constraints in this direction; beyond the limit nothing but rounding holds it.
            const double step = product / curvature;
            if (step > longest_step) break;
            lambda += step * direction_;
            x -= step * change_;
            residual -= step * rows_;
            ++passes;
            const double next_error = residual.lpNorm<Eigen::Infinity>();
            // Rows that contradict each other leave a rest that nothing can remove.
            stalls = next_error > 0.5 * error ? stalls + 1 : 0;
            error = std::min(error, next_error);
            if (stalls > 3) break;
            scaled_ = weight.cwiseProduct(residual);
            const double next = residual.dot(scaled_);
            direction_ = scaled_ + (next / product) * direction_;
            product = next;
        }
        return passes;
    }

    /// The same with multipliers that balance the forces by themselves; above, lambda + weight * residual does.
    template <class Apply>
    int run_balanced(const VecX& weight, double enough, int max_passes, VecX& residual, VecX& x, VecX& lambda,
                     const Apply& apply) {
        lambda -= weight.cwiseProduct(residual);
        const int passes = run(weight, enough, max_passes, residual, x, lambda, apply);
        lambda += weight.cwiseProduct(residual);
        return passes;
    }

private:
    static constexpr double longest_step = 1e3;
    VecX direction_, scaled_, rows_, change_;
};

}  // namespace limber
