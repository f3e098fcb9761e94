// Contact: one step of time-stepping in a wall of bricks and in a heap of balls after they have settled, and in heaps
// while they fall.

#include <benchmark/benchmark.h>

#include "stretch.hpp"

namespace limber::bench {
namespace {

void step(benchmark::State& state, const std::string& file, double settle, double h) {
    SimulationOptions chosen;
    chosen.integrator = "moreau-jean";
    Simulation simulation(example(file), chosen);
    if (!simulation.advance(settle, h).ok) state.SkipWithError("the steps before failed");
    double iterations = 0;
    for (auto _ : state) iterations += simulation.step(h).iterations;
    state.counters["contacts"] = static_cast<double>(simulation.state().contacts.size());
    state.counters["iterations"] = iterations / static_cast<double>(state.iterations());
    state.SetLabel(std::to_string(simulation.state().contacts.size()) + " contacts");
}

// The whole second, 500 steps, in which a heap falls and comes to rest.
void settle(benchmark::State& state, const std::string& count) {
    SimulationOptions chosen;
    chosen.integrator = "moreau-jean";
    constexpr int steps = 500;
    double iterations = 0;
    for (auto _ : state) {
        state.PauseTiming();
        Simulation simulation(example("contact/heap-of-spheres.yaml", {{"count", count}}), chosen);
        state.ResumeTiming();
        for (int k = 0; k < steps; ++k) iterations += simulation.step(2e-3).iterations;
    }
    state.counters["iterations"] = iterations / (steps * static_cast<double>(state.iterations()));
}

const bool is_registered = [] {
    benchmark::RegisterBenchmark("contact/brick-wall/100-bodies", step, "contact/brick-wall.yaml", 0.5, 5e-3)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark("contact/heap-of-spheres/1000-bodies", step, "contact/heap-of-spheres.yaml", 0.6, 2e-3)
        ->Unit(benchmark::kMillisecond);
    for (const char* count : {"3", "5"})
        benchmark::RegisterBenchmark(("contact/heap-falls/" + std::string(count) + "-along-each-edge").c_str(), settle,
                                     count)
            ->Unit(benchmark::kMillisecond);
    return true;
}();

}  // namespace
}  // namespace limber::bench
