#include "limber/integration/structural.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "limber/model/error.hpp"

namespace limber {

StructuralScheme make_structural_scheme(const std::string& name, const IntegratorOptions& options) {
    const auto in_range = [&](double value, double low, double high, const char* what) {
        if (!(value >= low && value <= high))
            throw ModelError(
                fmt::format("{}: {} must lie between {} and {:.4g}, found {}", name, what, low, high, value));
        return value;
    };
    StructuralScheme s;
    if (name == "trapezoidal") return s;
    if (name == "newmark") {
        const double xi = in_range(options.newmark_xi, -1, 0, "xi");
        s.beta = (1 - xi) * (1 - xi) / 4;
        s.gamma = (1 - 2 * xi) / 2;
    } else if (name == "hht") {
        s.delta_f = in_range(options.hht_delta, 0, 1.0 / 3.0, "delta");
        s.beta = (1 + s.delta_f) * (1 + s.delta_f) / 4;
        s.gamma = (1 + 2 * s.delta_f) / 2;
    } else if (name == "generalized-alpha") {
        const double rho = in_range(options.rho_infinity, 0, 1, "rho");
        s.delta_m = (2 * rho - 1) / (rho + 1);
        s.delta_f = rho / (rho + 1);
        s.gamma = 0.5 - s.delta_m + s.delta_f;
        s.beta = 0.25 * (1 + s.delta_f - s.delta_m) * (1 + s.delta_f - s.delta_m);
    } else if (name == "linear-acceleration") {
        s.beta = 1.0 / 6.0;
    } else if (name == "higher-order") {
        s.looks_back = true;
    } else {
        throw ModelError(fmt::format("'{}' is not a structural integrator", name));
    }
    return s;
}

void update_formulas(const StructuralScheme& s, const State& state, double h, DifferenceFormulas& f) {
    f.step = h;
    f.delta_m = s.delta_m;
    f.delta_f = s.delta_f;
    const VecX& a = state.scheme_a;
    if (!s.looks_back) {
        f.beta = s.beta;
        f.gamma = s.gamma;
        f.q_hat = state.q + h * state.v + (h * h * (0.5 - s.beta)) * a;
        f.v_hat = state.v + (h * (1 - s.gamma)) * a;
        return;
    }
    if (state.previous_step <= 0 || state.previous_a.size() != a.size()) {
        // No past yet: the acceleration as a straight line.
        f.beta = 1.0 / 6.0;
        f.gamma = 0.5;
        f.q_hat = state.q + h * state.v + (h * h / 3) * a;
        f.v_hat = state.v + (h / 2) * a;
        return;
    }
    // Integrals of the parabola through (-r, a_(n-1)), (0, a_n), (1, a'), time in units of h.
    const double r = state.previous_step / h;
    f.beta = (1 + 2 * r) / (12 * (1 + r));
    f.gamma = (2 + 3 * r) / (6 * (1 + r));
    f.q_hat = state.q + h * state.v + h * h * ((1 + 4 * r) / (12 * r) * a - 1 / (12 * r * (1 + r)) * state.previous_a);
    f.v_hat = state.v + h * ((1 + 3 * r) / (6 * r) * a - 1 / (6 * r * (1 + r)) * state.previous_a);
}

// ---------------------------------------------------------------- step solvers

StructuralStepper::StructuralStepper(std::unique_ptr<StepSolver> solver, std::unique_ptr<AccelerationSolver> starter,
                                     StructuralScheme scheme)
    : solver_(std::move(solver)), starter_(std::move(starter)), scheme_(scheme) {}

StepReport StructuralStepper::start(State& state) {
    return start_state(*starter_, state);
}

StepReport StructuralStepper::step(State& state, double h) {
    update_formulas(scheme_, state, h, formulas_);
    return solver_->step(state, formulas_);
}

// ---------------------------------------------------------------- acceleration solvers

namespace {

// Steps in a row with a growing corrector before it counts as divergence.
constexpr int patience = 20;

}  // namespace

PredictorCorrector::PredictorCorrector(std::unique_ptr<AccelerationSolver> solver, StructuralScheme scheme,
                                       bool use_gains, double tolerated_drift, int passes, int projection_interval)
    : solver_(std::move(solver)),
      scheme_(scheme),
      use_gains_(use_gains),
      tolerated_drift_(tolerated_drift),
      passes_(passes),
      projection_interval_(projection_interval) {
    const int n = solver_->system().size();
    q_ = v_ = a_ = scheme_a_ = unprojected_q_ = unprojected_v_ = VecX::Zero(n);
    lambda_ = VecX::Zero(solver_->system().rows());
}

StepReport PredictorCorrector::start(State& state) {
    unprojected_steps_ = 0;
    return start_state(*solver_, state);
}

StepReport PredictorCorrector::step(State& state, double h) {
    StepReport report;
    if (use_gains_) solver_->use_gains_for_step(std::max(h, whole_step_));
    update_formulas(scheme_, state, h, formulas_);
    const DifferenceFormulas& f = formulas_;
    const double t = state.t + h;
    lambda_ = state.lambda;
    scheme_a_ = state.scheme_a;
    double before = 0;
    double ratio = 0;
    double change = 0;
    perturbation_ = {};
    for (int pass = 0; pass < passes_; ++pass) {
        q_ = f.q_hat + (f.beta * h * h) * scheme_a_;
        v_ = f.v_hat + (f.gamma * h) * scheme_a_;
        if (!solver_->solve(t, q_, v_, state.memory, a_, lambda_)) {
            report.ok = false;
            report.reason = solver_->failure();
            return report;
        }
        ++report.iterations;
        if (perturbation_limit_ < std::numeric_limits<double>::infinity()) {
            perturbation_.add(solver_->perturbation(a_));
            if (perturbation_.last > perturbation_limit_) {
                report.ok = false;
                report.reason = too_rough;
                return report;
            }
        }
        // (1 - dm) A' + dm A_n = (1 - df) a' + df a_n with A the acceleration of the difference formulas.
        change = 0;
        double size = 0;
        for (Eigen::Index i = 0; i < a_.size(); ++i) {
            const double next =
                ((1 - f.delta_f) * a_[i] + f.delta_f * state.a[i] - f.delta_m * state.scheme_a[i]) / (1 - f.delta_m);
            change = std::max(change, std::abs(next - scheme_a_[i]));
            size = std::max(size, std::abs(next));
            scheme_a_[i] = next;
        }
        if (pass > 0) ratio = change / before;
        if (change <= solver_->options().tolerance * size) break;
        before = change;
    }
    // Corrections that grow belong to forces too stiff for the step. At a dead point of the mechanism they may grow
    // once.
    growing_ = ratio > 1 ? growing_ + 1 : 0;
    if (growing_ > patience) {
        growing_ = 0;
        report.ok = false;
        report.reason = "the corrector diverges: the step is too large for the stiffness of the forces";
        return report;
    }
    q_ = f.q_hat + (f.beta * h * h) * scheme_a_;
    v_ = f.v_hat + (f.gamma * h) * scheme_a_;
    // The solver has evaluated the constraints before the last correction; one that moves little changes little.
    if (f.beta * h * h * change > 1e-6 * solver_->system().length_scale())
        solver_->system().update_residuals(solver_->evaluation(), t, q_, state.memory);
    if (solver_->has_come_apart()) {
        report.ok = false;
        report.reason = solver_->failure();
        return report;
    }
    if (!end_on_constraints(t, state.memory, report)) return report;
    state.complete_step(t, h, q_, v_, a_, scheme_a_, lambda_);
    solver_->system().update_memory(solver_->evaluation(), state.q, state.memory);
    return report;
}

bool PredictorCorrector::end_on_constraints(double t, std::span<const double> memory, StepReport& report) {
    const System& system = solver_->system();
    const auto open = solver_->evaluation().phi.head(system.holonomic_rows());
    const double drift = open.size() == 0 ? 0 : open.lpNorm<Eigen::Infinity>();
    if (tolerated_drift_ > 0 && drift <= tolerated_drift_) return true;
    if (tolerated_drift_ > 0 && drift > 100 * tolerated_drift_) {
        report.ok = false;
        report.reason = "the step is too long for this motion: " + system.describe_worst_row(solver_->evaluation().phi);
        return false;
    }
    if (tolerated_drift_ == 0 && ++unprojected_steps_ < projection_interval_) return true;
    unprojected_steps_ = 0;
    unprojected_q_ = q_;
    unprojected_v_ = v_;
    if (solver_->project(t, q_, v_, memory)) return true;
    report.ok = tolerated_drift_ > 0;
    if (report.ok) {
        // As at a dead point. The gains go on.
        q_ = unprojected_q_;
        v_ = unprojected_v_;
    } else {
        report.reason = "the projection onto the constraints failed";
    }
    return report.ok;
}

}  // namespace limber
