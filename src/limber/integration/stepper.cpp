#include "limber/integration/stepper.hpp"

namespace limber {

namespace {

StepReport solve_without_past(AccelerationSolver& solver, State& state) {
    StepReport report;
    state.a.resize(state.q.size());
    state.lambda.setZero(solver.system().rows());
    report.ok = solver.solve(state.t, state.q, state.v, state.memory, state.a, state.lambda);
    if (!report.ok) report.reason = solver.failure();
    state.scheme_a = state.a;
    state.previous_a.resize(0);
    state.previous_step = 0;
    return report;
}

}  // namespace

StepReport start_state(AccelerationSolver& solver, State& state) {
    solver.use_no_gains();
    return solve_without_past(solver, state);
}

StepReport restart_state(AccelerationSolver& solver, State& state) {
    if (!solver.project(state.t, state.q, state.v, state.memory))
        return {.ok = false, .reason = "the projection onto the constraints failed"};
    StepReport report = solve_without_past(solver, state);
    report.iterations = 1;
    return report;
}

}  // namespace limber
