#include "limber/dynamics/augmented_lagrangian.hpp"

namespace limber {

AugmentedLagrangianSolver::AugmentedLagrangianSolver(std::shared_ptr<const System> system,
                                                     const FormulationOptions& options)
    : AccelerationSolver(std::move(system), options), mass_(*system_, options.penalty_or(1e7)) {
    residual_ = VecX::Zero(system_->rows());
    change_ = VecX::Zero(system_->size());
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
    // The first residual is about 1/penalty of the constraint accelerations that had to be cancelled.
    const double enough = 1e-10 * residual_.lpNorm<Eigen::Infinity>();
    double before = 0;
    for (int i = 0; i < options_.max_iterations; ++i) {
        residual_ = residual_.cwiseProduct(mass_.weight());
        lambda += residual_;
        change_.setZero();
        add_transposed(system_->jacobian_pattern(), e.jacobian, residual_, -1.0, change_);
        mass_.solve(change_);
        a += change_;
        ++iterations_;
        multiply(system_->jacobian_pattern(), e.jacobian, a, residual_);
        residual_ += target_;
        const double error = residual_.lpNorm<Eigen::Infinity>();
        // Redundant rows that contradict each other leave a rest that no iteration can remove.
        if (!(error > enough) || (i > 0 && error > 0.5 * before)) break;
        before = error;
    }
    if (!a.allFinite()) {
        failure_ = "the accelerations are not finite";
        return false;
    }
    return true;
}

}  // namespace limber
