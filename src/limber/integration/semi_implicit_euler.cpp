#include "limber/integration/semi_implicit_euler.hpp"

#include <utility>

namespace limber {

SemiImplicitEuler::SemiImplicitEuler(std::unique_ptr<AccelerationSolver> solver, bool use_gains, bool use_projection)
    : solver_(std::move(solver)), use_gains_(use_gains), use_projection_(use_projection) {
    q_ = v_ = a_ = VecX::Zero(solver_->system().size());
    lambda_ = VecX::Zero(solver_->system().rows());
}

StepReport SemiImplicitEuler::start(State& state) {
    return start_state(*solver_, state);
}

StepReport SemiImplicitEuler::step(State& state, double h) {
    StepReport report;
    if (use_gains_) solver_->use_gains_for_step(h);
    const auto fail = [&](std::string reason) {
        report.ok = false;
        report.reason = std::move(reason);
        return report;
    };
    const double end = state.t + h;
    // The acceleration is that of the end of the last step.
    v_ = state.v + h * state.a;
    solver_->system().move(state.q, h, v_, q_);
    if (use_projection_ && !solver_->project_step(state.q, state.t, h, q_, v_, state.memory))
        return fail("the projection onto the constraints failed");
    ++report.iterations;
    lambda_ = state.lambda;
    if (!solver_->solve(end, q_, v_, state.memory, a_, lambda_) || solver_->has_come_apart())
        return fail(solver_->failure());
    state.complete_step(end, h, q_, v_, a_, a_, lambda_);
    solver_->system().update_memory(solver_->evaluation(), state.q, state.memory);
    return report;
}

}  // namespace limber
