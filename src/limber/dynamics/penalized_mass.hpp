#pragma once
// The matrix S = M + J^T W J with W = penalty * row inertia: positive definite at singular positions, with redundant
// constraints and with massless bodies. Shared by penalty, augmented Lagrangian and projections.

#include <memory>
#include <vector>

#include "limber/dynamics/system/system.hpp"
#include "limber/math/linear_solver.hpp"

namespace limber {

class PenalizedMass {
public:
    PenalizedMass(const System& system, double penalty)
        : system_(system), weight_(penalty * system.row_inertia()), solver_(make_linear_solver(system.pattern())) {
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

private:
    const System& system_;
    VecX weight_;
    std::vector<double> matrix_;
    std::unique_ptr<LinearSolver> solver_;
};

}  // namespace limber
