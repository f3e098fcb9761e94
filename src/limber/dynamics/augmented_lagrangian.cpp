#include "limber/dynamics/augmented_lagrangian.hpp"

#include <algorithm>

#include "limber/dynamics/dependent_rows.hpp"

namespace limber {
namespace {

constexpr double default_penalty = 1e7;

}  // namespace

AugmentedLagrangianSolver::AugmentedLagrangianSolver(std::shared_ptr<const System> system,
                                                     const FormulationOptions& options)
    : AccelerationSolver(std::move(system), options), mass_(*system_, options.penalty_or(default_penalty)) {
    residual_ = VecX::Zero(system_->rows());
    projection_lambda_ = VecX::Zero(system_->rows());
    change_ = VecX::Zero(system_->size());
    is_overconstrained_ = system_->rows() > 0 && has_dependent_rows();
}

bool AugmentedLagrangianSolver::has_dependent_rows() {
    update_reference_positions(*system_, *evaluation_);
    return mass_.factorize(*evaluation_) && mass_.has_dependent_rows(*evaluation_);
}

bool AugmentedLagrangianSolver::factorize_at(double t, const VecX& q, std::span<const double> memory) {
    Evaluation& e = *evaluation_;
    return factorize_once_at(factorized_at_, *system_, e, t, q, memory, [&] { return mass_.factorize(e); });
}

bool AugmentedLagrangianSolver::project(double t, VecX& q, VecX& v, std::span<const double> memory) {
    if (system_->rows() == 0) return true;
    if (!factorized_at_.is_set() && !factorize_at(t, q, memory)) return false;
    before_ = q;
    factorized_at_.clear();
    if (!correct_positions(t, q, memory, mass_, projection_lambda_)) {
        q = before_;
        if (!factorize_at(t, q, memory)) return false;
        factorized_at_.clear();
        if (!correct_positions(t, q, memory, mass_, projection_lambda_)) return false;
    }
    return project_velocities(t, q, v, memory);
}

bool AugmentedLagrangianSolver::project_step(const VecX& start, double t, double h, VecX& q, VecX& v,
                                             std::span<const double> memory) {
    if (system_->rows() == 0) return true;
    const double end = t + h;
    if (!factorize_at(t, start, memory)) return false;
    before_ = q;
    factorized_at_.clear();
    if (!correct_positions(end, q, memory, mass_, projection_lambda_)) {
        // The forces of the start do not lead onto the constraints, as at a dead point.
        q = before_;
        return project(end, q, v, memory);
    }
    v += (q - before_) / h;
    return project_velocities(end, q, v, memory);
}

bool AugmentedLagrangianSolver::project_velocities(double t, const VecX& q, VecX& v, std::span<const double> memory) {
    if (!factorize_at(t, q, memory)) return false;
    correct_velocities(v, mass_, projection_lambda_);
    return q.allFinite() && v.allFinite();
}

bool AugmentedLagrangianSolver::solve_penalty(double t, const VecX& q, const VecX& v, std::span<const double> memory,
                                              VecX& a) {
    Evaluation& e = *evaluation_;
    if (!factorize_at(t, q, memory)) {
        failure_ = "the mass matrix is not finite";
        return false;
    }
    system_->update_velocities(e, v);
    system_->update_forces(e);
    update_target();
    start(a);
    return true;
}

void AugmentedLagrangianSolver::start(VecX& a) {
    const Evaluation& e = *evaluation_;
    a = e.force;
    residual_ = target_;
    mass_.take_left_out(residual_);
    residual_ = residual_.cwiseProduct(mass_.weight());
    add_transposed(system_->jacobian_pattern(), e.jacobian, residual_, -1.0, a);
    mass_.solve(a);
    ++iterations_;
    update_residual(a);
}

void AugmentedLagrangianSolver::refine(VecX& a, VecX& lambda) {
    residual_ = residual_.cwiseProduct(mass_.weight());
    lambda += residual_;
    residual_ += lambda;
    balance(a);
}

void AugmentedLagrangianSolver::refine_penalty(VecX& a) {
    residual_ = residual_.cwiseProduct(mass_.weight());
    balance(a);
}

// Takes out what the forces of the constraints, in residual_, leave of the equilibrium.
void AugmentedLagrangianSolver::balance(VecX& a) {
    const Evaluation& e = *evaluation_;
    multiply(system_->pattern(), e.mass, a, change_);
    change_ = e.force - change_;
    add_transposed(system_->jacobian_pattern(), e.jacobian, residual_, -1.0, change_);
    mass_.solve(change_);
    a += change_;
    ++iterations_;
    update_residual(a);
}

void AugmentedLagrangianSolver::update_residual(const VecX& a) {
    multiply(system_->jacobian_pattern(), evaluation_->jacobian, a, residual_);
    residual_ += target_;
    mass_.take_left_out(residual_);
}

bool AugmentedLagrangianSolver::solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a,
                                      VecX& lambda) {
    if (!solve_penalty(t, q, v, memory, a)) return false;
    const Evaluation& e = *evaluation_;
    lambda.setZero(system_->rows());
    if (system_->rows() == 0) {
        if (!a.allFinite()) failure_ = "the accelerations are not finite";
        return a.allFinite();
    }
    // Rows have gradients of about one, or of a length by angles, so constraint accelerations compare with
    // accelerations.
    const double enough =
        1e-12 * std::min(1.0, system_->length_scale()) *
        (target_.lpNorm<Eigen::Infinity>() + a.lpNorm<Eigen::Infinity>() + e.force.lpNorm<Eigen::Infinity>());
    refine(a, lambda);
    leave_out_uncertain(enough, [&] {
        lambda.setZero();
        start(a);
        refine(a, lambda);
    });
    if (residual_.lpNorm<Eigen::Infinity>() > enough) {
        iterations_ += mass_.eliminate(e, enough, options_.max_iterations, residual_, a, lambda);
        refine(a, lambda);
    }
    lambda += residual_.cwiseProduct(mass_.weight());
    if (!a.allFinite()) {
        failure_ = "the accelerations are not finite";
        return false;
    }
    return true;
}

}  // namespace limber
