// Divided mechanisms: a step of a chain of components beside that of the undivided chain, and the exchange of one joint
// between components, which must not depend on how large these are.

#include <benchmark/benchmark.h>

#include "limber/io/element_edits.hpp"
#include "limber/modular/live_joints.hpp"
#include "stretch.hpp"

namespace limber::bench {
namespace {

void step(benchmark::State& state, int bodies, const std::string& division, const std::string& gluing, int threads) {
    SimulationOptions o = options("global", "trapezoidal");
    o.modular.division = division;
    o.modular.threads = threads;
    set_option(o, "gluing", gluing);
    Simulation simulation(example("chain.yaml", {{"N", std::to_string(bodies)}}), o);
    long evaluations = 0;
    for (auto _ : state) {
        const StepReport report = simulation.step(1e-3);
        evaluations += report.iterations;
        if (!report.ok) {
            state.SkipWithError(report.reason.c_str());
            break;
        }
    }
    state.counters["iterations"] =
        benchmark::Counter(static_cast<double>(evaluations), benchmark::Counter::kAvgIterations);
}

// A chain of two components, with the joint in the middle and without it.
struct DividedChain {
    explicit DividedChain(int bodies_per_component)
        : with(example("chain.yaml", {{"N", std::to_string(2 * bodies_per_component)}})) {
        ComponentGroup first{"first", {}, "", "", "", std::nullopt};
        for (int i = 1; i <= bodies_per_component; ++i) first.bodies.push_back("rod" + std::to_string(i));
        with.simulation.components = {first};
        without = with;
        remove_element(without, "joints", "pin" + std::to_string(bodies_per_component + 1), false);
        o = options("global", "trapezoidal");
        o.modular.division = "groups";
    }

    Model with, without;
    SimulationOptions o;
};

// Takes the joint in the middle away and puts it back: the joint alone, without the forces and velocities that follow.
void exchange_joint(benchmark::State& state, int bodies_per_component) {
    const DividedChain chain(bodies_per_component);
    const auto mechanism = std::make_shared<const Mechanism<2>>(make_mechanism<2>(chain.with));
    const auto system = compile_modular<2>(mechanism, find_division(*mechanism, chain.with, chain.o.modular),
                                           {"", "global", "trapezoidal", "", 0}, {}, {}, chain.o.modular.tolerance);
    const auto assembly = make_assembly(*system, chain.o.modular);
    const JointChanges leave = find_joint_changes(chain.with, chain.without).value();
    const JointChanges come = find_joint_changes(chain.without, chain.with).value();
    for (auto _ : state) {
        assembly->exchange_joints(make_changed_joints(*system, assembly->joints(), chain.without, leave));
        assembly->exchange_joints(make_changed_joints(*system, assembly->joints(), chain.with, come));
    }
}

// The same through the door of a simulation, with impulses and accelerations. `compiles`: by another number of threads
// each time, for which all is compiled anew.
void edit_joint(benchmark::State& state, int bodies_per_component, bool compiles) {
    DividedChain chain(bodies_per_component);
    Simulation simulation(chain.with, chain.o);
    for (auto _ : state)
        for (const Model* model : {&chain.without, &chain.with}) {
            if (compiles) chain.o.modular.threads = 3 - chain.o.modular.threads;
            simulation.transfer(*model, chain.o);
        }
}

void step_between_edits(benchmark::State& state, int bodies_per_component) {
    const DividedChain chain(bodies_per_component);
    Simulation simulation(chain.with, chain.o);
    for (auto _ : state)
        if (const StepReport report = simulation.step(1e-4); !report.ok) state.SkipWithError(report.reason.c_str());
}

const bool is_registered = [] {
    for (const int bodies : {100, 1000}) {
        const std::string name = "modular/step/chain-" + std::to_string(bodies) + "/";
        const auto add = [&](const std::string& what, const std::string& division, const char* gluing, int threads) {
            benchmark::RegisterBenchmark((name + what).c_str(), step, bodies, division, gluing, threads)
                ->Unit(benchmark::kMillisecond)
                ->UseRealTime();
        };
        const std::string parts = "auto:" + std::to_string(bodies / 50);
        add("undivided", "", "direct", 1);
        add("direct/1-thread", parts, "direct", 1);
        add("direct/2-threads", parts, "direct", 2);
        add("conjugate-gradient/1-thread", parts, "conjugate-gradient", 1);
    }
    for (const int bodies : {10, 100, 1000}) {
        const std::string size = "/" + std::to_string(bodies) + "-bodies-each";
        const auto add = [&](const std::string& name, auto run, auto... arguments) {
            benchmark::RegisterBenchmark(("modular/live/" + name + size).c_str(), run, bodies, arguments...)
                ->Unit(benchmark::kMicrosecond);
        };
        add("exchange-joint", exchange_joint);
        add("edit-joint", edit_joint, false);
        add("edit-and-compile", edit_joint, true);
        add("step", step_between_edits);
    }
    return true;
}();

}  // namespace
}  // namespace limber::bench
