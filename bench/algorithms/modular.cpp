// Divided mechanisms: a step of a chain of components beside that of the undivided chain, and the exchange of one joint between
// components, which must not depend on how large these are.

#include <benchmark/benchmark.h>

#include "limber/modular/modular_stepper.hpp"
#include "stretch.hpp"

namespace limber::bench {
namespace {

void step(benchmark::State& state, int bodies, const std::string& division, const std::string& gluing, int threads) {
    SimulationOptions o = options("global", "trapezoidal");
    o.modular.division = division;
    o.modular.threads = threads;
    set_option(o, "gluing", gluing);
    Simulation simulation(example("chain.yaml", {{"N", std::to_string(bodies)}}), o);
    long questions = 0;
    for (auto _ : state) {
        const StepReport report = simulation.step(1e-3);
        questions += report.iterations;
        if (!report.ok) {
            state.SkipWithError(report.reason.c_str());
            break;
        }
    }
    state.counters["iterations"] =
        benchmark::Counter(static_cast<double>(questions), benchmark::Counter::kAvgIterations);
}

// Takes the joint in the middle of a chain of two components away and puts it back, each time with the restart of velocities.
void exchange(benchmark::State& state, int bodies_per_component) {
    const Model model = example("chain.yaml", {{"N", std::to_string(2 * bodies_per_component)}});
    const auto mechanism = std::make_shared<const Mechanism<2>>(make_mechanism<2>(model));
    Division division;
    division.components.resize(2);
    for (int b = 0; b < 2 * bodies_per_component; ++b)
        division.component_of_body.push_back(b < bodies_per_component ? 0 : 1);
    const auto system = compile_modular<2>(mechanism, division, {"", "global", "trapezoidal", "", 0}, {}, {},
                                           ModularOptions{}.tolerance);
    const auto assembly = make_assembly(*system, ModularOptions{});
    const PartChoice& all = system->parts.interface;
    for (auto _ : state) {
        assembly->exchange_joints(std::make_unique<InterfaceJoints<2>>(*mechanism, PartChoice{all.bodies, {}, {}}));
        assembly->exchange_joints(std::make_unique<InterfaceJoints<2>>(*mechanism, all));
    }
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
    for (const int bodies : {10, 100, 1000})
        benchmark::RegisterBenchmark(("modular/exchange-joint/" + std::to_string(bodies) + "-bodies-each").c_str(),
                                     exchange, bodies)
            ->Unit(benchmark::kMicrosecond);
    return true;
}();

}  // namespace
}  // namespace limber::bench
