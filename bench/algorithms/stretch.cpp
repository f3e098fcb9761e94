#include "stretch.hpp"

#include <fmt/format.h>

namespace limber::bench {

void measure_accelerations(benchmark::State& state, const Stretch& stretch, const std::string& formulation, int count) {
    Simulation simulation = stretch.start(formulation, "rk4");
    const std::vector<State> states = states_along(stretch, simulation, count);
    const auto solver = make_acceleration_solver(formulation, simulation.shared_system());
    VecX a = simulation.state().a;
    VecX lambda = simulation.state().lambda;
    while (state.KeepRunningBatch(count))
        for (const State& s : states)
            if (!solver->solve(s.t, s.q, s.v, s.memory, a, lambda))
                return state.SkipWithError(solver->failure().c_str());
    state.SetLabel(simulation.system().coordinates_name());
}

void measure_steps(benchmark::State& state, const Stretch& stretch, const std::string& formulation,
                   const std::string& integrator) {
    const Simulation simulation = stretch.start(formulation, integrator);
    const auto stepper = make_stepper(formulation, integrator, simulation.shared_system());
    State moving;
    long divided = 0;
    while (state.KeepRunningBatch(stretch.steps)) {
        moving = simulation.state();
        stepper->start(moving);
        divided = 0;
        for (int i = 0; i < stretch.steps; ++i) {
            const StepReport report = stepper->step(moving, stretch.step);
            if (!report.ok) return state.SkipWithError(fmt::format("t = {:.4g}: {}", moving.t, report.reason).c_str());
            divided += report.substeps > 1 ? 1 : 0;
        }
    }
    state.SetLabel(simulation.system().coordinates_name() +
                   (divided > 0 ? fmt::format("; {} of {} steps divided", divided, stretch.steps) : ""));
}

}  // namespace limber::bench
