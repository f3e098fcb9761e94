#include "limber/integration/stepper.hpp"

namespace limber {

StepReport start_state(AccelerationSolver& solver, State& state) {
    StepReport report;
    solver.use_no_gains();
    state.a.resize(state.q.size());
    state.lambda.setZero(solver.system().rows());
    report.ok = solver.solve(state.t, state.q, state.v, state.memory, state.a, state.lambda);
    if (!report.ok) report.reason = solver.failure();
    state.scheme_a = state.a;
    state.previous_a.resize(0);
    state.previous_step = 0;
    return report;
}

}  // namespace limber
