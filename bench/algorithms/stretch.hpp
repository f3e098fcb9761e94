#pragma once
// What is measured of a moving mechanism is measured along a stretch of its motion, the same for every formulation: no
// two calls in a row meet the same positions, so nothing kept from the last call can pass for work done.

#include <benchmark/benchmark.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"

namespace limber::bench {

/// A model and the stretch of its motion, from the start of the model.
struct Stretch {
    std::string name, file;
    ParameterOverrides overrides;
    double step;
    int steps;
    bool from_equilibrium = false;

    Simulation start(const std::string& formulation, const std::string& integrator,
                     const std::string& coordinates = "") const {
        SimulationOptions o = options(formulation, integrator, coordinates);
        o.from_equilibrium = from_equilibrium;
        return Simulation(example(file, overrides), o);
    }
};

/// States along the stretch, the start left out.
inline std::vector<State> states_along(const Stretch& stretch, Simulation& simulation, int count) {
    std::vector<State> states;
    for (int i = 1; i <= count; ++i) {
        const int steps = stretch.steps * i / count - stretch.steps * (i - 1) / count;
        for (int k = 0; k < steps; ++k) {
            const StepReport report = simulation.step(stretch.step);
            if (!report.ok) throw std::runtime_error(report.reason);
        }
        states.push_back(simulation.state());
    }
    return states;
}

/// Registers a benchmark whose exceptions become its error.
template <class Measure>
benchmark::internal::Benchmark* add_benchmark(const std::string& name, Measure&& measure) {
    return benchmark::RegisterBenchmark(name.c_str(),
                                        [measure = std::forward<Measure>(measure)](benchmark::State& state) {
                                            try {
                                                measure(state);
                                            } catch (const std::exception& e) {
                                                state.SkipWithError(e.what());
                                            }
                                        });
}

/// One evaluation of the accelerations, at states along the stretch.
void measure_accelerations(benchmark::State& state, const Stretch& stretch, const std::string& formulation, int count);
/// One step of the integrator, over the whole stretch.
void measure_steps(benchmark::State& state, const Stretch& stretch, const std::string& formulation,
                   const std::string& integrator);

}  // namespace limber::bench
