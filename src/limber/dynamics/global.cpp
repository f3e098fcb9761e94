#include "limber/dynamics/global.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/dynamics/dependent_rows.hpp"
#include "limber/dynamics/newton_iteration.hpp"

namespace limber {
namespace {

// Constraint error accepted at the end of a step, over the length scale.
constexpr double constraint_tolerance = 1e-9;
constexpr double closed_to_rounding = 1e-14;
// A change below this part of the positions is none.
constexpr double newton_rounding = 1e-16;
// As slow_newton, for a matrix with an old stiffness.
constexpr double slow_with_old_stiffness = 0.1;
// A stiffness is kept for so many steps at most, and while an iteration leaves less than this part of the error.
constexpr int oldest_stiffness = 8;
constexpr double fast_enough = 0.01;
constexpr double old_stiffness_rate = 0.003;
// Projection of velocities and accelerations: passes at most, and the part of the error that one may leave.
constexpr int velocity_projection_passes = 10;
constexpr double newton_falls_enough = 0.9;
// Velocity rows that depend on each other contradict each other a little: with less weight they yield, and not the
// holonomic ones.
constexpr double dependent_weight = 1e-3;

}  // namespace

GlobalSolver::GlobalSolver(std::shared_ptr<const System> system, const FormulationOptions& options)
    : system_(std::move(system)),
      options_(options),
      evaluation_(system_->make_evaluation()),
      updates_(system_->coordinate_inertia(), system_->rows(), options.max_iterations),
      choice_(options.use_approximate_tangent, !options.use_approximate_tangent && !system_->has_constant_mass()) {
    const int n = system_->size();
    const int m = system_->rows();
    solver_ = make_linear_solver(system_->pattern());
    tangent_.assign(system_->pattern().nonzeros(), 0.0);
    stiffness_ = tangent_;
    jacobian_.assign(system_->jacobian_pattern().nonzeros(), 0.0);
    weight_ = options_.penalty_or(1e6) * system_->row_inertia();
    q_ = v_ = a_ = scheme_a_ = change_ = residual_ = product_ = VecX::Zero(n);
    lambda_ = rows_ = multiplier_change_ = VecX::Zero(m);
    are_velocities_dependent_ = has_dependent_velocity_rows(*system_);
    if (are_velocities_dependent_) weight_.tail(m - system_->holonomic_rows()) *= dependent_weight;
}

// The acceleration that belongs to the scheme's A' (see the header).
void GlobalSolver::update_acceleration(const State& state, const DifferenceFormulas& f) {
    if (f.delta_m == 0 && f.delta_f == 0) {
        a_ = scheme_a_;
        return;
    }
    a_ = ((1 - f.delta_m) * scheme_a_ + f.delta_m * state.scheme_a - f.delta_f * state.a) / (1 - f.delta_f);
}

// S with mass and constraints of here; stiffness and damping of here too, or those of an earlier step.
bool GlobalSolver::factorize_tangent(const DifferenceFormulas& f, bool with_stiffness) {
    Evaluation& e = *evaluation_;
    if (with_stiffness) {
        if (choice_.is_approximate()) {
            system_->assemble_approximate_tangent(e, 0, f.gamma * f.step, f.beta * f.step * f.step, stiffness_);
        } else {
            system_->assemble_tangent(e, 0, f.gamma * f.step, f.beta * f.step * f.step, lambda_, a_, stiffness_);
        }
        stiffness_age_ = 0;
        stiffness_step_ = f.step;
        stiffness_beta_ = f.beta;
    }
    const double share = (1 - f.delta_m) / (1 - f.delta_f);
    for (std::size_t k = 0; k < tangent_.size(); ++k) tangent_[k] = share * e.mass[k] + stiffness_[k];
    system_->add_penalty(e, weight_, tangent_);
    // The diagonal is the first entry of each column.
    for (int i = 0; i < system_->size() && borrowed_inertia_ > 0; ++i)
        tangent_[system_->pattern().start[i]] += borrowed_inertia_ * system_->coordinate_inertia()[i];
    std::copy(e.jacobian.begin(), e.jacobian.end(), jacobian_.begin());
    updates_.restart();
    return solver_->factorize(tangent_);
}

bool GlobalSolver::can_reuse_stiffness(const DifferenceFormulas& f) const {
    // With a constant mass matrix stiffness is cheaper than the further iterations that an old one may cost.
    return !system_->has_constant_mass() && stiffness_age_ < oldest_stiffness && convergence_rate_ < fast_enough &&
           stiffness_beta_ == f.beta && std::abs(stiffness_step_ - f.step) < 1e-6 * f.step;
}

void GlobalSolver::update_residual(const DifferenceFormulas& f) {
    const Evaluation& e = *evaluation_;
    const int holonomic = system_->holonomic_rows();
    multiply(system_->pattern(), e.mass, a_, product_);
    residual_ = product_ - e.force;
    add_transposed(system_->jacobian_pattern(), e.jacobian, lambda_, 1, residual_);
    residual_ *= f.beta * f.step * f.step;
    rows_ = e.phi;
    rows_.tail(system_->rows() - holonomic) *= f.beta * f.step / f.gamma;
}

// Near singular positions some multipliers settle slowly, in directions in which the constraints hardly act; to chase
// them would build up forces that belong to the discretisation, not to the mechanism.
bool GlobalSolver::is_balanced(const DifferenceFormulas& f) const {
    return is_balanced_to(f, 3 * options_.tolerance * a_.lpNorm<Eigen::Infinity>(), constraint_tolerance);
}

// Equilibrium holds to this acceleration, so that light and heavy coordinates count alike, and constraints to this part
// of the length scale.
bool GlobalSolver::is_balanced_to(const DifferenceFormulas& f, double acceleration, double opening) const {
    const VecX& inertia = system_->coordinate_inertia();
    double worst = 0;
    for (Eigen::Index i = 0; i < residual_.size(); ++i) worst = std::max(worst, std::abs(residual_[i]) / inertia[i]);
    if (worst > f.beta * f.step * f.step * acceleration) return false;
    return rows_.size() == 0 || rows_.lpNorm<Eigen::Infinity>() <= opening * system_->length_scale();
}

// The same as far as the step's own error asks for, or as far as it goes (newton_iteration.hpp).
bool GlobalSolver::has_settled(const State& start, const DifferenceFormulas& f, const ConvergenceWatch& watch) const {
    const double acceptable = find_acceptable_error(start.scheme_a, scheme_a_, options_.tolerance);
    const double part = acceptable / std::max(a_.lpNorm<Eigen::Infinity>(), std::numeric_limits<double>::min());
    if (is_balanced_to(f, acceptable, std::clamp(part, closed_to_rounding, constraint_tolerance))) return true;
    return watch.has_stalled() && is_balanced(f);
}

void GlobalSolver::find_change() {
    change_ = -residual_;
    // J of the factorised configuration on both sides, so that the penalty acts along its own normals.
    const RowPattern& pattern = system_->jacobian_pattern();
    for (int i = 0; i < pattern.rows(); ++i) {
        const double pull = weight_[i] * rows_[i];
        for (int k = pattern.start[i]; k < pattern.start[i + 1]; ++k) change_[pattern.column[k]] -= jacobian_[k] * pull;
    }
    solver_->solve(change_);
}

// What the multipliers do with the change of the positions.
void GlobalSolver::find_multiplier_change(const DifferenceFormulas& f) {
    const RowPattern& pattern = system_->jacobian_pattern();
    const double scale = 1 / (f.beta * f.step * f.step);
    for (int i = 0; i < pattern.rows(); ++i) {
        double after = rows_[i];
        for (int k = pattern.start[i]; k < pattern.start[i + 1]; ++k)
            after += jacobian_[k] * change_[pattern.column[k]];
        multiplier_change_[i] = scale * weight_[i] * after;
    }
    if (are_velocities_dependent_) drop_idle_multipliers();
}

NewtonProgress GlobalSolver::take_change(const DifferenceFormulas& f) {
    lambda_ += multiplier_change_;
    q_ += change_;
    scheme_a_ += change_ / (f.beta * f.step * f.step);
    v_ += change_ * (f.gamma / (f.beta * f.step));
    return {change_.lpNorm<Eigen::Infinity>(),
            std::max(options_.tolerance * f.beta * f.step * f.step * a_.lpNorm<Eigen::Infinity>(),
                     1e-14 * q_.lpNorm<Eigen::Infinity>())};
}

// Where conditions on velocities depend on each other, those of a scheme that meets the constraints at positions
// contradict each other a little, and what is left would add up in the multipliers, step by step, in a combination that
// does nothing where it arose and much where the mechanism goes. So only what acts is taken: W J S^-1 J^T keeps it, up
// to 1/penalty, and drops the rest.
void GlobalSolver::drop_idle_multipliers() {
    product_.setZero();
    add_transposed(system_->jacobian_pattern(), jacobian_, multiplier_change_, 1.0, product_);
    solver_->solve(product_);
    multiply(system_->jacobian_pattern(), jacobian_, product_, multiplier_change_);
    multiplier_change_ = multiplier_change_.cwiseProduct(weight_);
}

// The change of the positions that may be left out.
double GlobalSolver::find_enough(const State& start, const DifferenceFormulas& f) const {
    return std::max(f.beta * f.step * f.step * find_acceptable_error(start.scheme_a, scheme_a_, options_.tolerance),
                    newton_rounding * q_.lpNorm<Eigen::Infinity>());
}

// Two passes are enough but near singular positions, where constraints hardly act in some directions. What is left
// there of the accelerations is multiplied by up to (1/2 - beta) / beta in the next step, 3.4 with `higher-order`, and
// would grow while the mechanism is near.
void GlobalSolver::project(const VecX& rhs, VecX& x) {
    const Evaluation& e = *evaluation_;
    const double enough = 1e-10 * x.lpNorm<Eigen::Infinity>();
    double before = std::numeric_limits<double>::infinity();
    for (int pass = 0; pass < velocity_projection_passes; ++pass) {
        multiply(system_->jacobian_pattern(), e.jacobian, x, rows_);
        rows_ += rhs;
        const double error = rows_.lpNorm<Eigen::Infinity>();
        // Rows that contradict each other leave a rest that nothing can remove.
        if (!(error > enough) || error > newton_falls_enough * before) break;
        before = error;
        rows_ = rows_.cwiseProduct(weight_);
        change_.setZero();
        add_transposed(system_->jacobian_pattern(), jacobian_, rows_, -1.0, change_);
        solver_->solve(change_);
        x += change_;
    }
}

StepReport GlobalSolver::step(State& state, const DifferenceFormulas& f) {
    StepReport report;
    Evaluation& e = *evaluation_;
    open(state, f);
    ConvergenceWatch watch;
    bool converged = false;
    bool is_stale = true;
    // Stiffness and damping of an earlier step serve as long as the iteration converges fast.
    bool needs_stiffness = !can_reuse_stiffness(f);
    ++stiffness_age_;
    while (true) {
        system_->update(e, state.t + f.step, q_, v_, state.memory);
        update_acceleration(state, f);
        if (is_stale && !factorize_tangent(f, needs_stiffness)) break;
        if (is_stale) watch.start_tangent();
        update_residual(f);
        converged = report.iterations > 1 && has_settled(state, f, watch);
        if (converged) break;
        if (report.iterations == options_.max_iterations) {
            converged = is_balanced(f);
            break;
        }
        find_change();
        find_multiplier_change(f);
        updates_.improve(change_, multiplier_change_);
        const auto [size, loosely] = take_change(f);
        ++report.iterations;
        if (!std::isfinite(size)) break;
        watch.follow(size, newton_noise * loosely);
        // With an old stiffness the first rates flatter: the predictor's error lies mostly where it matters little.
        const bool is_old = stiffness_age_ > 0;
        const double left = watch.left(is_old ? old_stiffness_rate : 0);
        converged = left <= find_enough(state, f) || (watch.has_stalled() && left <= loosely);
        if (converged) break;
        is_stale = needs_stiffness = watch.rate() > (is_old ? slow_with_old_stiffness : slow_newton);
        if (is_stale && !is_old) choice_.learn(watch.worst_of_tangent());
    }
    convergence_rate_ = watch.worst();
    if (stiffness_age_ == 0) choice_.learn(watch.worst_of_tangent());
    if (!converged) {
        stiffness_age_ = oldest_stiffness;
        report.ok = false;
        report.reason = q_.allFinite() ? fmt::format("Newton's method did not converge in {} iterations ({})",
                                                     report.iterations, system_->describe_worst_row(e.phi))
                                       : "the positions are not finite";
        return report;
    }
    const StepReport closed = close(state, f);
    report.ok = closed.ok;
    report.reason = closed.reason;
    return report;
}

// ---------------------------------------------------------------- by single iterations

void GlobalSolver::renew() {
    stiffness_age_ = oldest_stiffness;
}

void GlobalSolver::open(const State& start, const DifferenceFormulas& f) {
    predict_acceleration(start, f.step, scheme_a_);
    lambda_ = start.lambda;
    scheme_share_ = (1 - f.delta_f) / (1 - f.delta_m);
    q_ = f.q_hat + f.beta * f.step * f.step * scheme_a_;
    v_ = f.v_hat + f.gamma * f.step * scheme_a_;
}

bool GlobalSolver::approach(const State& start, const DifferenceFormulas& f, bool refresh) {
    system_->update(*evaluation_, start.t + f.step, q_, v_, start.memory);
    update_acceleration(start, f);
    if (refresh && !factorize_tangent(f, true)) return false;
    update_residual(f);
    find_change();
    return change_.allFinite();
}

NewtonProgress GlobalSolver::advance(const DifferenceFormulas& f, const VecX& response) {
    change_ += f.beta * f.step * f.step * response;
    find_multiplier_change(f);
    return take_change(f);
}

StepReport GlobalSolver::close(State& state, const DifferenceFormulas& f) {
    StepReport report;
    Evaluation& e = *evaluation_;
    update_acceleration(state, f);
    // Velocities and accelerations onto the constraints, with J at the last iterate.
    project(e.time_partial, v_);
    system_->update_velocities(e, v_);
    project(e.bias, a_);
    if (!v_.allFinite() || !a_.allFinite()) {
        report.ok = false;
        report.reason = "the velocities are not finite";
        return report;
    }
    if (f.delta_m == 0 && f.delta_f == 0) {
        scheme_a_ = a_;
    } else {
        scheme_a_ = ((1 - f.delta_f) * a_ + f.delta_f * state.a - f.delta_m * state.scheme_a) / (1 - f.delta_m);
    }
    state.complete_step(state.t + f.step, f.step, q_, v_, a_, scheme_a_, lambda_);
    system_->update_memory(e, state.q, state.memory);
    return report;
}

void GlobalSolver::change_velocities(State& end, const VecX& change) {
    Evaluation& e = *evaluation_;
    v_ = end.v + change;
    project(e.time_partial, v_);
    end.v = v_;
    system_->update_velocities(e, v_);
    a_ = end.a;
    settle_accelerations(end);
}

void GlobalSolver::change_accelerations(State& end, const VecX& change) {
    a_ = end.a + change;
    settle_accelerations(end);
}

// a_ onto the constraints and into the state.
void GlobalSolver::settle_accelerations(State& end) {
    project(evaluation_->bias, a_);
    end.scheme_a += scheme_share_ * (a_ - end.a);
    end.a = a_;
}

}  // namespace limber
