#include "limber/integration/explicit_stepper.hpp"

#include <algorithm>
#include <utility>

namespace limber {

ExplicitStepper::ExplicitStepper(std::unique_ptr<AccelerationSolver> solver, bool use_gains, int projection_interval)
    : solver_(std::move(solver)), use_gains_(use_gains), projection_interval_(projection_interval) {
    q_ = v_ = a_ = VecX::Zero(solver_->system().size());
    lambda_ = VecX::Zero(solver_->system().rows());
}

StepReport ExplicitStepper::start(State& state) {
    unprojected_steps_ = 0;
    return start_state(*solver_, state);
}

StepReport ExplicitStepper::step(State& state, double h) {
    StepReport report;
    const auto fail = [&](std::string reason) {
        report.ok = false;
        report.reason = std::move(reason);
        return report;
    };
    if (use_gains_) solver_->use_gains_for_step(std::max(h, whole_step_));
    const double end = state.t + h;
    lambda_ = state.lambda;
    if (!advance(state, h, report.iterations)) return fail(solver_->failure());
    if (projection_interval_ > 0 && ++unprojected_steps_ >= projection_interval_) {
        unprojected_steps_ = 0;
        if (!project_end(state, h)) return fail("the projection onto the constraints failed");
    }
    ++report.iterations;
    if (!solver_->solve(end, q_, v_, state.memory, a_, lambda_) || solver_->has_come_apart())
        return fail(solver_->failure());
    perturbation_ = {};
    if (perturbation_limit_ < std::numeric_limits<double>::infinity()) perturbation_.add(solver_->perturbation(a_));
    if (perturbation_.last > perturbation_limit_) return fail(too_rough);
    state.complete_step(end, h, q_, v_, a_, a_, lambda_);
    solver_->system().update_memory(solver_->evaluation(), state.q, state.memory);
    return report;
}

bool ExplicitStepper::project_end(const State& state, double h) {
    return solver_->project(state.t + h, q_, v_, state.memory);
}

}  // namespace limber
