// Algorithms in relative coordinates that are linear in the number of bodies, on the chain of N rods and on the
// vehicle.

#include "limber/dynamics/system/relative_system.hpp"
#include "stretch.hpp"

namespace limber::bench {
namespace {

Stretch chain(long bodies) {
    return {"chain", "chain.yaml", {{"N", std::to_string(bodies)}}, 1e-3, 10};
}

// Closures that couple neighbours only.
Stretch four_bars(long loops) {
    return {"n-four-bar", "n-four-bar.yaml", {{"N", std::to_string(loops)}}, 1e-2, 50};
}

// Positions, velocities and accelerations in, forces along the coordinates out.
template <int D>
void inverse_dynamics(benchmark::State& state, const Stretch& stretch) {
    Simulation simulation = stretch.start("articulated-body", "rk4");
    const std::vector<State> states = states_along(stretch, simulation, 10);
    const auto& system = static_cast<const RelativeSystem<D>&>(simulation.system());
    const auto e = system.make_evaluation();
    VecX forces(system.size());
    while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(states.size())))
        for (const State& s : states) {
            system.update(*e, s.t, s.q, s.v, s.memory);
            system.compute_inverse_dynamics(*e, s.a, forces);
            benchmark::DoNotOptimize(forces.data());
        }
}

[[maybe_unused]] const bool is_registered = [] {
    add_benchmark("solve_accelerations/articulated-body/chain", [](auto& state) {
        measure_accelerations(state, chain(state.range(0)), "articulated-body", 10);
        state.SetComplexityN(state.range(0));
    })->ArgsProduct({{10, 40, 160, 640, 2560, 10000}});
    add_benchmark("solve_accelerations/articulated-body/n-four-bar", [](auto& state) {
        measure_accelerations(state, four_bars(state.range(0)), "articulated-body", 10);
        state.SetComplexityN(state.range(0));
    })->ArgsProduct({{5, 40, 200}});
    add_benchmark("step/articulated-body/semi-implicit-euler/chain", [](auto& state) {
        measure_steps(state, chain(state.range(0)), "articulated-body", "semi-implicit-euler");
        state.SetComplexityN(state.range(0));
    })->ArgsProduct({{10, 100, 1000, 10000}});
    add_benchmark("step/articulated-body/rk4/chain", [](auto& state) {
        measure_steps(state, chain(state.range(0)), "articulated-body", "rk4");
        state.SetComplexityN(state.range(0));
    })->ArgsProduct({{10, 100, 1000, 10000}});
    add_benchmark("inverse_dynamics/chain", [](auto& state) {
        inverse_dynamics<2>(state, chain(state.range(0)));
        state.SetComplexityN(state.range(0));
    })->ArgsProduct({{10, 100, 1000, 10000}});
    add_benchmark("inverse_dynamics/iltis", [](auto& state) {
        inverse_dynamics<3>(state, {"iltis", "iltis/ramp-and-stairs.yaml", {}, 1e-3, 1000, true});
    });
    return true;
}();

}  // namespace
}  // namespace limber::bench
