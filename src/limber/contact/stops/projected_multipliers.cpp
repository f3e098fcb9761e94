#include "limber/contact/stops/projected_multipliers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "limber/model/error.hpp"

namespace limber {
namespace {

constexpr int max_newton_steps = 40;
constexpr int max_updates = 2000;
constexpr double accuracy = 1e-11;  // of positions, over the length scale
constexpr double penalty_over_rate = 10;

}  // namespace

template <int D>
ProjectedMultiplierStepper<D>::ProjectedMultiplierStepper(std::shared_ptr<const MechanismSystem<D>> system,
                                                          std::unique_ptr<AccelerationSolver> starter,
                                                          const StructuralScheme& scheme, const ContactOptions& options)
    : system_(std::move(system)),
      m_(system_->mechanism()),
      starter_(std::move(starter)),
      scheme_(scheme),
      options_(options),
      evaluation_(system_->make_evaluation()),
      linear_(make_linear_solver(system_->pattern())) {
    if (system_->rows() != static_cast<int>(m_.stops.size()) || !m_.friction.empty() || m_.has_contact_bristles())
        throw ModelError(
            "projected multipliers need independent coordinates and no friction: a tree in relative coordinates, "
            "without ball joints; treat stops by events instead");
    if (scheme_.delta_m != 0 || scheme_.delta_f != 0)
        throw ModelError("projected multipliers need a scheme that holds equilibrium at the end of the step");
    const int n = system_->size();
    matrix_.assign(system_->pattern().nonzeros(), 0.0);
    q_ = v_ = a_ = residual_ = product_ = VecX::Zero(n);
    lambda_ = forces_ = penalty_ = rate_ = active_ = row_force_ = VecX::Zero(system_->rows());
}

template <int D>
StepReport ProjectedMultiplierStepper<D>::start(State& state) {
    lambda_.setZero();
    forces_.setZero();
    return start_state(*starter_, state);
}

// S = M + gamma h C + beta h^2 (K + R + S) of eqs. (16)-(18), (30), (36), times beta h^2 of the paper's A.
template <int D>
bool ProjectedMultiplierStepper<D>::factorize(const DifferenceFormulas& f, const VecX& active_penalty) {
    const double square = f.beta * f.step * f.step;
    system_->assemble_tangent(*evaluation_, 1, f.gamma * f.step, square, row_force_, a_, matrix_);
    system_->add_penalty(*evaluation_, square * active_penalty, matrix_);
    return linear_->factorize(matrix_);
}

template <int D>
void ProjectedMultiplierStepper<D>::choose_parameters(const DifferenceFormulas& f) {
    row_force_.setZero();
    active_.setZero();
    factorize(f, active_);
    const RowPattern& pattern = system_->jacobian_pattern();
    for (int i = 0; i < pattern.rows(); ++i) {
        product_.setZero();
        for (int k = pattern.start[i]; k < pattern.start[i + 1]; ++k)
            product_[pattern.column[k]] = evaluation_->jacobian[k];
        linear_->solve(product_);
        double response = 0;
        for (int k = pattern.start[i]; k < pattern.start[i + 1]; ++k)
            response += evaluation_->jacobian[k] * product_[pattern.column[k]];
        const double exact = response > 0 ? 1 / (f.beta * f.step * f.step * response) : 0;
        const double stiffness = options_.stiffness;
        switch (options_.treatment) {
            case ContactTreatment::augmented_lagrangian:
                penalty_[i] = stiffness > 0 ? stiffness : penalty_over_rate * exact;
                rate_[i] = penalty_[i];
                break;
            case ContactTreatment::multipliers:
                penalty_[i] = 0;
                rate_[i] = exact;
                break;
            default:
                penalty_[i] = stiffness > 0 ? stiffness : exact;
                rate_[i] = 0;
                break;
        }
    }
}

template <int D>
bool ProjectedMultiplierStepper<D>::solve_motion(const DifferenceFormulas& f, double t, int& iterations) {
    Evaluation& e = *evaluation_;
    const double square = f.beta * f.step * f.step;
    const double enough = accuracy * m_.length_scale;
    for (int pass = 0; pass < max_newton_steps; ++pass) {
        system_->update(e, t, q_, v_, memory_);
        for (Eigen::Index i = 0; i < forces_.size(); ++i) {
            active_[i] = e.phi[i] < 0 ? penalty_[i] : 0;
            forces_[i] = lambda_[i] - active_[i] * e.phi[i];
        }
        row_force_ = -forces_;
        multiply(system_->pattern(), e.mass, a_, residual_);
        residual_ -= e.force;
        add_transposed(system_->jacobian_pattern(), e.jacobian, row_force_, 1, residual_);
        residual_ *= -square;
        if (!factorize(f, active_)) return false;
        linear_->solve(residual_);
        ++iterations;
        q_ += residual_;
        a_ += residual_ / square;
        v_ += residual_ * (f.gamma / (f.beta * f.step));
        const double change = residual_.lpNorm<Eigen::Infinity>();
        if (!std::isfinite(change)) return false;
        if (change < enough) return true;
    }
    return false;
}

template <int D>
StepReport ProjectedMultiplierStepper<D>::step(State& state, double h) {
    StepReport report;
    update_formulas(scheme_, state, h, formulas_);
    const DifferenceFormulas& f = formulas_;
    const double t = state.t + h;
    memory_ = state.memory;
    for (const StopRow& gap : m_.stops) gap.flag.in(memory_) = ContactFlag::closed;
    a_ = state.scheme_a;
    q_ = f.q_hat + f.beta * h * h * a_;
    v_ = f.v_hat + f.gamma * h * a_;
    system_->update(*evaluation_, t, q_, v_, memory_);
    choose_parameters(f);
    const VecX lambda_before = lambda_;
    const auto fail = [&](const char* reason) {
        lambda_ = lambda_before;
        report.ok = false;
        report.reason = reason;
        return report;
    };
    if (options_.treatment == ContactTreatment::penalty) lambda_.setZero();
    for (int update = 0;; ++update) {
        if (!solve_motion(f, t, report.iterations)) return fail("Newton's method did not converge at a stop");
        double defect = 0;
        for (Eigen::Index i = 0; i < lambda_.size(); ++i) {
            if (!(rate_[i] > 0)) continue;
            const double next = std::max(0.0, lambda_[i] - rate_[i] * evaluation_->phi[i]);
            defect = std::max(defect, std::abs(next - lambda_[i]) / rate_[i]);
            lambda_[i] = next;
        }
        if (defect < 10 * accuracy * m_.length_scale) break;
        if (update == max_updates) return fail("the multipliers of stops did not converge");
    }
    for (std::size_t i = 0; i < m_.stops.size(); ++i)
        m_.stops[i].impulse.in(state.memory) += h * forces_[static_cast<Eigen::Index>(i)];
    state.complete_step(t, h, q_, v_, a_, a_, state.lambda);
    system_->update_memory(*evaluation_, state.q, state.memory);
    return report;
}

template class ProjectedMultiplierStepper<2>;
template class ProjectedMultiplierStepper<3>;

}  // namespace limber
