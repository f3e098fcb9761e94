#include "limber/dynamics/augmented_lagrangian.hpp"

namespace limber {

AugmentedLagrangianSolver::AugmentedLagrangianSolver(std::shared_ptr<const System> system,
                                                     const FormulationOptions& options)
    : AccelerationSolver(std::move(system), options), mass_(*system_, options.penalty_or(1e7)) {
    residual_ = VecX::Zero(system_->rows());
}

bool AugmentedLagrangianSolver::solve_penalty(double t, const VecX& q, const VecX& v, std::span<const double> memory,
                                              VecX& a) {
    Evaluation& e = *evaluation_;
    system_->update(e, t, q, v, memory);
    update_target();
    if (!mass_.factorize(e)) {
        failure_ = "the mass matrix is not finite";
        return false;
    }
    a = e.force;
    residual_ = mass_.weight().cwiseProduct(target_);
    add_transposed(system_->jacobian_pattern(), e.jacobian, residual_, -1.0, a);
    mass_.solve(a);
    ++iterations_;
    multiply(system_->jacobian_pattern(), e.jacobian, a, residual_);
    residual_ += target_;
    return true;
}

bool AugmentedLagrangianSolver::solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a,
                                      VecX& lambda) {
    if (!solve_penalty(t, q, v, memory, a)) return false;
    const Evaluation& e = *evaluation_;
    lambda.setZero(system_->rows());
    if (system_->rows() == 0) return a.allFinite();
    // Rows have gradients of about one, so constraint accelerations compare with accelerations.
    const double enough =
        1e-12 * (target_.lpNorm<Eigen::Infinity>() + a.lpNorm<Eigen::Infinity>() + e.force.lpNorm<Eigen::Infinity>());
    iterations_ += mass_.eliminate(e, enough, options_.max_iterations, residual_, a, lambda);
    lambda += residual_.cwiseProduct(mass_.weight());
    if (!a.allFinite()) {
        failure_ = "the accelerations are not finite";
        return false;
    }
    return true;
}

}  // namespace limber
