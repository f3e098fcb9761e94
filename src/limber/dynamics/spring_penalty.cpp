#include "limber/dynamics/spring_penalty.hpp"

#include <algorithm>

namespace limber {
namespace {

// Of the forces, that rounding leaves of the balance. A mass matrix that is singular leaves all there is.
constexpr double balance_tolerance = 1e-6;

}  // namespace

SpringPenaltySolver::SpringPenaltySolver(std::shared_ptr<const System> system, const FormulationOptions& options)
    : AccelerationSolver(std::move(system), options), solver_(make_linear_solver(system_->pattern())) {
    matrix_.assign(system_->pattern().nonzeros(), 0.0);
    springs_ = row_of_admittance_ = VecX::Zero(system_->rows());
    column_ = response_ = VecX::Zero(system_->size());
}

double SpringPenaltySolver::find_row_inertia(int row) {
    const Evaluation& e = *evaluation_;
    const RowPattern& pattern = system_->jacobian_pattern();
    column_.setZero();
    for (int k = pattern.start[row]; k < pattern.start[row + 1]; ++k) column_[pattern.column[k]] = e.jacobian[k];
    if (options_.row_inertia == RowInertia::product) {
        multiply(system_->pattern(), e.mass, column_, response_);
        return column_.dot(response_);
    }
    solver_->solve(column_);
    multiply(pattern, e.jacobian, column_, row_of_admittance_);
    const double sum = row_of_admittance_.lpNorm<1>();
    return sum > 0 ? 1 / sum : 0;
}

bool SpringPenaltySolver::is_regular(const VecX& a) {
    multiply(system_->pattern(), evaluation_->mass, a, response_);
    const double left = (response_ - column_).lpNorm<Eigen::Infinity>();
    return left <= balance_tolerance * std::max(column_.lpNorm<Eigen::Infinity>(), response_.lpNorm<Eigen::Infinity>());
}

bool SpringPenaltySolver::solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a,
                                VecX& lambda) {
    Evaluation& e = *evaluation_;
    system_->update(e, t, q, v, memory);
    std::copy(e.mass.begin(), e.mass.end(), matrix_.begin());
    if (!solver_->factorize(matrix_)) {
        failure_ = "the mass matrix is not finite";
        return false;
    }
    update_target();
    ++iterations_;
    lambda.setZero(system_->rows());
    if (has_gains())
        for (int r = 0; r < system_->rows(); ++r) lambda[r] = find_row_inertia(r) * (target_[r] - e.bias[r]);
    springs_ = lambda;
    column_ = e.force;
    add_transposed(system_->jacobian_pattern(), e.jacobian, lambda, -1.0, column_);
    a = column_;
    solver_->solve(a);
    if (!a.allFinite()) {
        failure_ = "the accelerations are not finite";
        return false;
    }
    if (is_regular(a)) return true;
    failure_ =
        "springs in the place of constraints need coordinates that all have inertia: natural ones, and bodies with "
        "mass and inertia";
    return false;
}

double SpringPenaltySolver::perturbation(const VecX& /*a*/) {
    column_.setZero();
    add_transposed(system_->jacobian_pattern(), evaluation_->jacobian, springs_, 1.0, column_);
    solver_->solve(column_);
    multiply(system_->jacobian_pattern(), evaluation_->jacobian, column_, row_of_admittance_);
    return row_of_admittance_.squaredNorm();
}

}  // namespace limber
