#include "stops_long.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "limber/io/svg_plot.hpp"
#include "support.hpp"

namespace limber::bench {
namespace {

constexpr double until = 10;

struct Way {
    const char* name;
    ContactTreatment treatment;
    StopAction action;
    bool knows_restitution;
};
constexpr Way by_forces{"projected forces", ContactTreatment::augmented_lagrangian, StopAction::force, false};
constexpr Way by_impulses{"projected impulses", ContactTreatment::augmented_lagrangian, StopAction::impulse, true};
constexpr Way by_events{"events", ContactTreatment::events, StopAction::force, true};

double pushed(Simulation& simulation) {
    return sense(simulation, "tip_impulse") + sense(simulation, "elbow_impulse");
}

struct LongRun {
    Plot energy{"Energy over ten seconds, start at (60, 90) degrees, step 1 ms", "t [s]", "energy [J]", {}};
    std::string table =
        "| method | scheme | restitution | step [s] | impacts | energy at the end [J] | largest gain in a step [J] | "
        "ends at [s] |\n|---|---|---|---|---|---|---|---|\n";

    void add(const Way& way, const char* integrator, const char* restitution, double step);
};

void LongRun::add(const Way& way, const char* integrator, const char* restitution, double step) {
    SimulationOptions o = options("semi-recursive", integrator, "relative");
    o.contact_options.treatment = way.treatment;
    o.contact_options.action = way.action;
    Simulation simulation(example("contact/double-pendulum-wall.yaml", {{"theta2", "90 deg"}, {"e", restitution}}), o);
    PlotSeries series;
    series.name = way.knows_restitution ? fmt::format("{}, e = {}", way.name, restitution)
                                        : fmt::format("{}, {}", way.name, integrator);
    double before = sense(simulation, "energy");
    double gain = 0;
    long impacts = 0;
    bool was_pushed = false;
    std::string end = fmt::format("{:g}", until);
    for (long i = 0; i < std::lround(until / step); ++i) {
        const double earlier = pushed(simulation);
        if (const StepReport report = simulation.step(step); !report.ok) {
            end = fmt::format("{:.3f}: {}", simulation.time(), report.reason);
            break;
        }
        const double now = sense(simulation, "energy");
        const bool is_pushed = pushed(simulation) > earlier;
        impacts += is_pushed && !was_pushed ? 1 : 0;
        was_pushed = is_pushed;
        gain = std::max(gain, now - before);
        before = now;
        series.x.push_back(simulation.time());
        series.y.push_back(now);
    }
    table += fmt::format("| {} | {} | {} | {:g} | {} | {:.4g} | {:.1e} | {} |\n", way.name, integrator,
                         way.knows_restitution ? restitution : "-", step, impacts, before, gain, end);
    const bool is_shown = integrator != std::string_view("trapezoidal") && step == 1e-3;
    if (is_shown) energy.series.push_back(std::move(series));
}

}  // namespace

std::string follow_long(const std::string& svg_file) {
    LongRun run;
    for (const double step : {1e-3, 2.5e-4}) {
        for (const char* integrator : {"higher-order", "linear-acceleration"})
            run.add(by_forces, integrator, "0", step);
        for (const char* restitution : {"0", "0.5", "1"})
            for (const char* integrator : {"higher-order", "trapezoidal"})
                run.add(by_impulses, integrator, restitution, step);
        for (const char* restitution : {"0", "0.5", "1"}) run.add(by_events, "higher-order", restitution, step);
    }
    run.energy.y_range = {-25, 20};
    std::ofstream(svg_file) << render_svg(run.energy);
    return run.table;
}

}  // namespace limber::bench
