#pragma once
// The matrix S = M + J^T W J with W = penalty * row inertia: positive definite at singular positions, with redundant
// constraints and with massless bodies. Shared by penalty, augmented Lagrangian and projections.
// Combinations of rows can be left out (see left_out_rows.hpp).

#include <algorithm>
#include <memory>
#include <vector>

#include "limber/dynamics/left_out_rows.hpp"
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
          iteration_(system.size(), system.rows()),
          left_out_(system, weight_, penalty) {
        matrix_.assign(system.pattern().nonzeros(), 0.0);
    }

    const VecX& weight() const { return weight_; }

    /// At the positions of the evaluation.
    bool factorize(const Evaluation& e) {
        std::copy(e.mass.begin(), e.mass.end(), matrix_.begin());
        system_.add_penalty(e, weight_, matrix_);
        left_out_.clear();
        return solver_->factorize(matrix_);
    }
    void solve(VecX& x) {
        solver_->solve(x);
        left_out_.respond(x);
    }

    /// Leaves out the combination of rows that is held least (left_out_rows.hpp), if its square is below this share of
    /// the usual one.
    bool leave_out(const Evaluation& e, const VecX& residual, double share) {
        return left_out_.add(e, residual, share, [&](VecX& x) { solver_->solve(x); });
    }
    /// Whether some combination of rows depends on the others. Makes room for combinations to be left out, if so.
    bool has_dependent_rows(const Evaluation& e) {
        return left_out_.find_dependent(e, [&](VecX& x) { solver_->solve(x); });
    }
    bool are_velocities_dependent() const { return left_out_.are_velocities_dependent(); }
    /// All rows again, with the same factorisation.
    void take_back_left_out() { left_out_.clear(); }
    /// Takes away what is left out of residuals.
    void take_left_out(VecX& residual) const { left_out_.take_from(residual); }

    /// Moves x so that J x + rhs = 0, least in the metric of the masses; residual: J x + rhs on entry, the rest on
    /// exit. J is the evaluation's, S the factorised one. Returns the number of passes.
    int eliminate(const Evaluation& e, double enough, int max_passes, VecX& residual, VecX& x, VecX& lambda) {
        take_left_out(residual);
        return iteration_.run(weight_, enough, max_passes, residual, x, lambda,
                              [&](const VecX& direction, VecX& change, VecX& rows) {
                                  change.setZero();
                                  add_transposed(system_.jacobian_pattern(), e.jacobian, direction, 1.0, change);
                                  solve(change);
                                  multiply(system_.jacobian_pattern(), e.jacobian, change, rows);
                                  take_left_out(rows);
                              });
    }

private:
    const System& system_;
    VecX weight_;
    std::vector<double> matrix_;
    std::unique_ptr<LinearSolver> solver_;
    MultiplierIteration iteration_;
    LeftOutRows left_out_;
};

}  // namespace limber
