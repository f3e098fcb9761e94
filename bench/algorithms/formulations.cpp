// Every formulation of the registry: one evaluation of the accelerations, one step with every integrator.

#include "stretch.hpp"

namespace limber::bench {
namespace {

constexpr int evaluated_states = 50;

// The vehicle comes to its ramp after 0.4 s. The long four-bar is short of steps because null-space is dense.
const std::vector<Stretch>& stretches() {
    static const std::vector<Stretch> list{
        {"double-pendulum", "double-pendulum.yaml", {}, 1e-3, 1000},
        {"four-bar-5", "n-four-bar.yaml", {{"N", "5"}}, 1e-3, 1000},
        {"four-bar-40", "n-four-bar.yaml", {{"N", "40"}}, 1e-3, 100},
        {"iltis", "iltis/ramp-and-stairs.yaml", {}, 1e-3, 1000, true},
    };
    return list;
}

// Short steps of the step solvers up to and past the first flat position, at 0.72 s: the hardest place for Newton's
// method.
const Stretch& flat_passage() {
    static const Stretch stretch{"four-bar-40-flat", "n-four-bar.yaml", {{"N", "40"}}, 1e-4, 7500};
    return stretch;
}

void project(benchmark::State& state, const std::string& file) {
    Simulation simulation(example(file), options("augmented-lagrangian", "rk4"));
    const auto solver = make_acceleration_solver("augmented-lagrangian", simulation.shared_system());
    const State& s = simulation.state();
    const VecX off = VecX::Constant(s.q.size(), 1e-6);
    VecX q = s.q;
    VecX v = s.v;
    for (auto _ : state) {
        q = s.q + off;
        v = s.v + off;
        if (!solver->project(s.t, q, v, s.memory)) return state.SkipWithError("the projection failed");
    }
}

[[maybe_unused]] const bool is_registered = [] {
    for (const Stretch& stretch : stretches())
        for (const FormulationInfo& formulation : formulations()) {
            const std::string name = formulation.name;
            if (!formulation.is_step_solver())
                add_benchmark("solve_accelerations/" + name + "/" + stretch.name, [&stretch, name](auto& state) {
                    measure_accelerations(state, stretch, name, evaluated_states);
                });
            for (const IntegratorInfo& integrator : integrators())
                add_benchmark("step/" + name + "/" + integrator.name + "/" + stretch.name,
                              [&stretch, name, scheme = integrator.name](auto& state) {
                                  measure_steps(state, stretch, name, scheme);
                              });
        }
    for (const FormulationInfo& formulation : formulations())
        for (const std::string scheme : {"trapezoidal", "higher-order"})
            if (formulation.is_step_solver())
                add_benchmark("step/" + formulation.name + "/" + scheme + "/" + flat_passage().name,
                              [name = formulation.name, scheme](auto& state) {
                                  measure_steps(state, flat_passage(), name, scheme);
                              });
    for (const std::string file : {"double-pendulum.yaml", "loops/bricard.yaml", "n-four-bar.yaml"})
        add_benchmark("project/" + file, [file](auto& state) { project(state, file); });
    return true;
}();

}  // namespace
}  // namespace limber::bench
