// One evaluation of the accelerations under each formulation; one step of each integrator.

#include <benchmark/benchmark.h>

#include "support.hpp"

namespace limber::bench {
namespace {

const char* model_names[] = {"simple-pendulum.yaml", "double-pendulum.yaml", "slider-crank.yaml",
                             "andrews.yaml",         "loops/bricard.yaml",   "n-four-bar.yaml"};
const char* coordinate_names[] = {"natural", "reference-point"};

// Arguments: formulation, model, coordinates.
void solve_accelerations(benchmark::State& state) {
    const auto& formulation = formulations()[static_cast<std::size_t>(state.range(0))].name;
    Simulation simulation(example(model_names[state.range(1)]),
                          options(formulation, "rk4", coordinate_names[state.range(2)]));
    const auto solver = make_acceleration_solver(formulation, simulation.shared_system());
    const State& s = simulation.state();
    VecX a = s.a;
    VecX lambda = s.lambda;
    // Time changes from call to call, as it does in use: solvers may keep what belongs to the last positions.
    double t = s.t;
    for (auto _ : state) benchmark::DoNotOptimize(solver->solve(t += 1e-9, s.q, s.v, s.memory, a, lambda));
    state.SetLabel(formulation + " " + model_names[state.range(1)] + " " + coordinate_names[state.range(2)]);
}
BENCHMARK(solve_accelerations)->ArgsProduct({{1, 2, 3, 4}, {1, 3, 4, 5}, {0, 1}});

// Arguments: formulation, integrator, model.
void step(benchmark::State& state) {
    const auto& formulation = formulations()[static_cast<std::size_t>(state.range(0))].name;
    const auto& integrator = integrators()[static_cast<std::size_t>(state.range(1))].name;
    const std::string model = model_names[state.range(2)];
    const double h = model == "andrews.yaml" ? 1e-6 : 1e-3;
    Simulation simulation(example(model), options(formulation, integrator));
    for (auto _ : state)
        if (!simulation.step(h).ok) state.SkipWithError("the step failed");
    state.SetLabel(formulation + " " + integrator + " " + model);
}
BENCHMARK(step)->ArgsProduct({{0, 1}, {0, 2, 3, 5, 6}, {0, 1, 5}});

void project(benchmark::State& state) {
    Simulation simulation(example(model_names[state.range(0)]), options("augmented-lagrangian", "rk4"));
    const auto solver = make_acceleration_solver("augmented-lagrangian", simulation.shared_system());
    const State& s = simulation.state();
    const VecX off = VecX::Constant(s.q.size(), 1e-6);
    VecX q = s.q;
    VecX v = s.v;
    for (auto _ : state) {
        q = s.q + off;
        v = s.v + off;
        benchmark::DoNotOptimize(solver->project(s.t, q, v, s.memory));
    }
    state.SetLabel(model_names[state.range(0)]);
}
BENCHMARK(project)->Arg(1)->Arg(4)->Arg(5);

}  // namespace
}  // namespace limber::bench
