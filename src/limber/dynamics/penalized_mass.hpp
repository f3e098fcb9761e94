#pragma once
// The matrix S = M + J^T W J with W = penalty * row inertia: positive definite at singular positions, with redundant
// constraints and with massless bodies. Shared by penalty, augmented Lagrangian and projections.
//
// Combinations y^T W^1/2 J of rows, |y| = 1, can be left out (see open_constraints.hpp): with u = J^T W^1/2 y and z = S^-1 u
//   (S - u u^T)^-1 = S^-1 + z z^T / (1 - u.z)
// and residuals r lose their part W^-1/2 y y^T W^1/2 r.

#include <algorithm>
#include <cmath>
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
          penalty_(penalty),
          iteration_(system.size(), system.rows()) {
        matrix_.assign(system.pattern().nonzeros(), 0.0);
    }

    const VecX& weight() const { return weight_; }

    /// At the positions of the evaluation.
    bool factorize(const Evaluation& e) {
        std::copy(e.mass.begin(), e.mass.end(), matrix_.begin());
        system_.add_penalty(e, weight_, matrix_);
        left_out_count_ = 0;
        return solver_->factorize(matrix_);
    }
    void solve(VecX& x) {
        solver_->solve(x);
        for (int i = 0; i < left_out_count_; ++i) {
            const LeftOut& l = left_out_[i];
            x += (l.force.dot(x) / l.rest) * l.response;
        }
    }

    /// Leaves out the combination of rows that is held least, if its square is below this share of the usual one. To be found among
    /// the residuals that a solve has left.
    bool leave_out(const Evaluation& e, const VecX& residual, double share) {
        if (left_out_count_ == static_cast<int>(left_out_.size())) return false;
        LeftOut& next = left_out_[left_out_count_];
        next.shape = residual;
        // A solve leaves 1 / (1 + penalty * share) of a residual: those held least stand out more with each.
        for (int i = 0; i < power_iterations; ++i) {
            const double size = std::sqrt(next.shape.dot(weight_.cwiseProduct(next.shape)));
            if (!(size > 0)) return false;
            next.shape /= size;
            next.row = weight_.cwiseProduct(next.shape);
            next.force.setZero();
            add_transposed(system_.jacobian_pattern(), e.jacobian, next.row, 1.0, next.force);
            next.response = next.force;
            solve(next.response);
            next.rest = 1 - next.force.dot(next.response);
            if (i + 1 == power_iterations) break;
            multiply(system_.jacobian_pattern(), e.jacobian, next.response, change_);
            next.shape -= change_;
            take_left_out(next.shape);
        }
        if (!(next.rest > 1 / (1 + penalty_ * share))) return false;
        ++left_out_count_;
        return true;
    }
    /// Whether some combination of rows depends on the others. Makes room for combinations to be left out, if so.
    bool has_dependent_rows(const Evaluation& e) {
        // Any residual will do that has a part of each.
        VecX trial(system_.rows());
        for (int i = 0; i < system_.rows(); ++i) trial[i] = std::sin(1.0 + i) / std::sqrt(weight_[i]);
        const VecX by_row = VecX::Zero(system_.rows());
        const VecX by_column = VecX::Zero(system_.size());
        left_out_.assign(most_left_out, {by_row, by_row, by_column, by_column, 1.0});
        change_ = by_row;
        const bool found = leave_out(e, trial, 1 / penalty_);
        left_out_count_ = 0;
        if (!found) left_out_ = {};
        return found;
    }
    /// Takes away what is left out of residuals.
    void take_left_out(VecX& residual) const {
        for (int i = 0; i < left_out_count_; ++i) residual -= left_out_[i].row.dot(residual) * left_out_[i].shape;
    }

    /// Moves x so that J x + rhs = 0, least in the metric of the masses; residual: J x + rhs on entry, the rest on exit. J is
    /// the evaluation's, S the factorised one. Returns the number of passes.
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
    static constexpr int most_left_out = 4;
    static constexpr int power_iterations = 3;
    struct LeftOut {
        VecX shape, row;       ///< W^-1/2 y, W^1/2 y
        VecX force, response;  ///< u, z
        double rest = 1;       ///< 1 - u.z
    };

    const System& system_;
    VecX weight_;
    std::vector<double> matrix_;
    std::unique_ptr<LinearSolver> solver_;
    double penalty_;
    MultiplierIteration iteration_;
    std::vector<LeftOut> left_out_;
    int left_out_count_ = 0;
    VecX change_;
};

}  // namespace limber
