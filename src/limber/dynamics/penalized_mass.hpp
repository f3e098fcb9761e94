#pragma once
// The matrix S = M + J^T W J with W = penalty * row inertia: positive definite at singular positions, with redundant
// constraints and with massless bodies. Shared by penalty, augmented Lagrangian and projections.

#include <algorithm>
#include <memory>
#include <vector>

#include "limber/dynamics/system/system.hpp"
#include "limber/math/linear_solver.hpp"
#include "limber/math/multiplier_iteration.hpp"

namespace limber {

class PenalizedMass {
public:
    PenalizedMass(const System& system, double penalty)
        : system_(system),
          weight_(penalty * system.row_inertia()),
          solver_(make_linear_solver(system.pattern())),
          iteration_(system.size(), system.rows()) {
        matrix_.assign(system.pattern().nonzeros(), 0.0);
    }

    const VecX& weight() const { return weight_; }

    /// At the positions of the evaluation.
    bool factorize(const Evaluation& e) {
        std::copy(e.mass.begin(), e.mass.end(), matrix_.begin());
        system_.add_penalty(e, weight_, matrix_);
        return solver_->factorize(matrix_);
    }
    void solve(VecX& x) { solver_->solve(x); }

    /// Moves x so that J x + rhs = 0, least in the metric of the masses; residual: J x + rhs on entry, the rest on exit. J is
    /// the evaluation's, S the factorised one. Returns the number of passes.
    int eliminate(const Evaluation& e, double enough, int max_passes, VecX& residual, VecX& x, VecX& lambda) {
        return iteration_.run(weight_, enough, max_passes, residual, x, lambda,
                              [&](const VecX& direction, VecX& change, VecX& rows) {
                                  change.setZero();
                                  add_transposed(system_.jacobian_pattern(), e.jacobian, direction, 1.0, change);
                                  solver_->solve(change);
                                  multiply(system_.jacobian_pattern(), e.jacobian, change, rows);
                              });
    }

private:
    const System& system_;
    VecX weight_;
    std::vector<double> matrix_;
    std::unique_ptr<LinearSolver> solver_;
    MultiplierIteration iteration_;
};

}  // namespace limber
