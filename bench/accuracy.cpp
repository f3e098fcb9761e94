// Accuracy of every formulation in every set of coordinates it works in: numbers that do not depend on the machine.
// Prints CSV; see bench/run. A run that fails shows its reason in place of its value.
//
//   limber_accuracy [CASE]     only cases whose name contains CASE

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/measures.hpp"

namespace limber::bench {
namespace {

using examples::example;
using examples::options;

/// A quantity with its unit, and its value.
using Measured = std::vector<std::pair<const char*, double>>;
using Measure = std::function<Measured(const SimulationOptions& options, double step)>;

struct Case {
    std::string name;
    Measure measure;
    std::vector<std::pair<std::string, double>> runs;  ///< integrator and step
};

// ---------------------------------------------------------------- measures

constexpr double pendulum_end = 3;
constexpr int pendulum_instants = 30;

const std::vector<Vec2>& reference_tips() {
    static const std::vector<Vec2> tips = [] {
        SimulationOptions o = options("augmented-lagrangian", "reference");
        o.integrator_options.reference_tolerance = 1e-12;
        Simulation simulation(example("double-pendulum.yaml"), o);
        std::vector<Vec2> list;
        for (int i = 1; i <= pendulum_instants; ++i) {
            examples::advance_or_throw(simulation, pendulum_end * i / pendulum_instants, 0.01);
            list.push_back(examples::sense_point(simulation, "tip"));
        }
        return list;
    }();
    return tips;
}

Measured measure_pendulum_error(const SimulationOptions& o, double step) {
    Simulation simulation(example("double-pendulum.yaml"), o);
    double worst = 0;
    for (int i = 1; i <= pendulum_instants; ++i) {
        examples::advance_or_throw(simulation, pendulum_end * i / pendulum_instants, step);
        worst = std::max(worst, (examples::sense_point(simulation, "tip") - reference_tips()[i - 1]).norm());
    }
    return {{"tip error to 3 s [m]", worst}};
}

// The step of the table is the finest of the three runs.
Measured measure_order(const SimulationOptions& o, double /*step*/) {
    return {{"observed order", examples::observe_order(o).order}};
}

Measured measure_slider(const SimulationOptions& o, double step) {
    const examples::SliderErrors worst = examples::measure_slider(o, step);
    return {{"slider off its rail [m]", worst.rail}, {"slider off its branch [m]", worst.branch}};
}

Measured measure_andrews(const SimulationOptions& o, double step) {
    return {{"beta error at 0.03 s [rad]", examples::measure_andrews_error(o, step)}};
}

Measure ten_seconds(const std::string& file, const ParameterOverrides& overrides = {}) {
    return [=](const SimulationOptions& o, double step) -> Measured {
        const RunSummary summary = examples::run_example(file, o, 10, step, overrides);
        if (!summary.ok) throw std::runtime_error(summary.failure);
        return {{"energy drift [J]", summary.energy_drift}, {"constraint error", summary.errors.position}};
    };
}

// In place of the gains that structural schemes have by default on acceleration solvers.
Measure with_projection(const Measure& measure) {
    return [=](SimulationOptions o, double step) {
        o.formulation_options.stabilisation = Stabilisation::projection;
        return measure(o, step);
    };
}

// ---------------------------------------------------------------- table

std::vector<Case> cases() {
    std::vector<Case> list{
        {"double pendulum", measure_pendulum_error, {{"trapezoidal", 1e-3}, {"rk4", 1e-3}}},
        {"double pendulum", measure_order, {{"trapezoidal", 1e-3}, {"rk4", 2e-3}}},
        {"double pendulum", ten_seconds("double-pendulum.yaml"), {{"trapezoidal", 1e-3}, {"rk4", 1e-3}}},
        {"slider-crank", measure_slider, {{"trapezoidal", 1e-2}, {"trapezoidal", 1e-3}}},
        {"andrews", measure_andrews, {{"trapezoidal", 1e-5}, {"trapezoidal", 5e-6}, {"rk4", 1e-5}}},
    };
    for (const char* n : {"1", "5", "40"}) {
        const Measure run = ten_seconds("n-four-bar.yaml", {{"N", n}});
        list.push_back({fmt::format("four-bar N={}", n),
                        run,
                        {{"trapezoidal", 1e-2}, {"trapezoidal", 5e-3}, {"trapezoidal", 2e-3}, {"rk4", 1e-2}}});
        list.push_back({fmt::format("four-bar N={} projected", n), with_projection(run), {{"trapezoidal", 1e-2}}});
    }
    for (const char* loop : {"bricard", "bennett", "spatial-four-bar"})
        list.push_back({loop, ten_seconds(fmt::format("loops/{}.yaml", loop)), {{"trapezoidal", 1e-3}}});
    return list;
}

void print_rows(const Case& c, const SimulationOptions& o, double step) {
    const std::string run = fmt::format("{},{},{},{},{:g}", c.name, o.formulation, o.coordinates, o.integrator, step);
    try {
        for (const auto& [quantity, value] : c.measure(o, step)) fmt::print("{},{},{:.2e},\n", run, quantity, value);
    } catch (const std::exception& e) {
        fmt::print("{},,,\"{}\"\n", run, e.what());
    }
    std::fflush(stdout);
}

}  // namespace
}  // namespace limber::bench

int main(int argc, char** argv) {
    using namespace limber;
    const std::string only = argc > 1 ? argv[1] : "";
    fmt::print("case,formulation,coordinates,integrator,step,quantity,value,failure\n");
    for (const bench::Case& c : bench::cases()) {
        if (c.name.find(only) == std::string::npos) continue;
        for (const auto& [integrator, step] : c.runs)
            for (const auto& [formulation, coordinates] : examples::formulations_in_coordinates())
                bench::print_rows(c, examples::options(formulation, integrator, coordinates), step);
    }
    return 0;
}
