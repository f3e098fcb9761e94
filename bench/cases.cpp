// Whole runs of the standard cases: accuracy first, then the time to reach it. Prints CSV; see bench/run.
//
//   limber_cases [REPEATS [CASE]]     best of REPEATS runs (default 5); only cases whose name contains CASE
//
// Error: of the position named in the reference data, at the end. Drift: largest |E - E0| over all steps. Both are
// measured in a separate run, so that the clock sees nothing but stepping.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "support.hpp"

namespace limber::bench {
namespace {

struct Case {
    std::string name, model;
    ParameterOverrides overrides;
    double until;
    std::string sensor;
    double reference;
    std::vector<double> steps;
};

std::vector<Case> cases() {
    std::vector<Case> list{
        {"pendulum", "simple-pendulum.yaml", {}, 10, "tip.x", -0.2750874626, {1e-2, 1e-3}},
        {"double pendulum", "double-pendulum.yaml", {}, 10, "tip.x", -0.691313859947, {1e-2, 1e-3}},
        {"slider-crank", "slider-crank.yaml", {}, 10, "slider.x", 1.975881094673, {1e-2, 1e-3}},
        {"andrews", "andrews.yaml", {}, 0.03, "beta", 15.810771195153, {2e-4, 1e-4, 5e-5, 1e-5}},
        {"bricard", "loops/bricard.yaml", {}, 10, "p3.x", 0.9992646101, {2e-2, 1e-2, 1e-3}},
    };
    const std::pair<int, double> bars[] = {
        {1, 0.4783850578}, {5, 0.2357891358}, {10, 0.2043535610}, {40, 0.1805122267}};
    for (const auto& [n, x] : bars)
        list.push_back({fmt::format("four-bar N={}", n),
                        "n-four-bar.yaml",
                        {{"N", std::to_string(n)}},
                        10,
                        "b0.x",
                        x,
                        {2e-2, 1e-2, 5e-3, 2e-3, 1e-3}});
    return list;
}

void measure(const Case& c, const std::string& formulation, const std::string& integrator, double step, int repeats) {
    const Model model = example(c.model, c.overrides);
    const SimulationOptions o = options(formulation, integrator);
    // Accuracy.
    Simulation watched(model, o);
    const auto energy = [&] {
        const Energies e = watched.observer().compute_energies(watched.state());
        return e.kinetic + e.potential;
    };
    const double start = energy();
    double drift = 0;
    const long steps = std::lround(c.until / step);
    for (long i = 0; i < steps; ++i) {
        const StepReport report = watched.step(step);
        if (!report.ok) {
            fmt::print("{},{},{},{:g},,,,,\"{}\"\n", c.name, formulation, integrator, step, report.reason);
            return;
        }
        drift = std::max(drift, std::abs(energy() - start));
    }
    const double error = std::abs(sense(watched, c.sensor) - c.reference);
    // Time.
    double best = INFINITY;
    for (int i = 0; i < repeats; ++i) {
        Simulation timed(model, o);
        const auto before = std::chrono::steady_clock::now();
        for (long k = 0; k < steps; ++k) timed.step(step);
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
    }
    fmt::print("{},{},{},{:g},{},{:.3f},{:.3f},{:.2e},{:.2e}\n", c.name, formulation, integrator, step, steps,
               1e3 * best, 1e6 * best / static_cast<double>(steps), error, drift);
}

}  // namespace
}  // namespace limber::bench

int main(int argc, char** argv) {
    using namespace limber::bench;
    const int repeats = argc > 1 ? std::max(1, std::stoi(argv[1])) : 5;
    const std::string only = argc > 2 ? argv[2] : "";
    fmt::print("case,formulation,integrator,step,steps,total_ms,us_per_step,error,energy_drift_J\n");
    for (const Case& c : cases()) {
        if (c.name.find(only) == std::string::npos) continue;
        for (const double step : c.steps) {
            measure(c, "global", "trapezoidal", step, repeats);
            for (const char* formulation : {"augmented-lagrangian", "baumgarte"})
                measure(c, formulation, "rk4", step, repeats);
        }
    }
    return 0;
}
