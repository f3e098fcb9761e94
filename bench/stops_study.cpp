// The test problem of Glowinski and Nasser: a double pendulum against a wall, by events, time-stepping, augmented Lagrangian, multipliers and
// penalty. Writes docs/studies/stops.md and its plots, after figures 2 to 9 of the paper. No data are printed there; ours are those of
// examples/contact/double-pendulum-wall.yaml.

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <string_view>

#include "limber/io/svg_plot.hpp"
#include "support.hpp"

namespace limber::bench {
namespace {

constexpr double until = 1;
constexpr double start_energy = -7.3575;
constexpr double first_contact = 0.655423130;

struct Method {
    const char* name;
    ContactTreatment treatment;
    const char* integrator;
    double stiffness = 0;

    /// Then the ends of the rods are rigid balls.
    bool is_time_stepping() const { return std::string_view(integrator) == "moreau-jean"; }
};

struct Track {
    std::vector<double> t, energy, impulse;
    double contact = NAN;  // instant at which the tip first pushes
    std::string failure;
};

Track follow(const Method& method, double step, const char* second_angle, double restitution) {
    const bool is_stepping = method.is_time_stepping();
    SimulationOptions o = options("semi-recursive", method.integrator, "relative");
    o.contact_options.treatment = method.treatment;
    o.contact_options.stiffness = method.stiffness;
    Simulation simulation(
        example(is_stepping ? "contact/double-pendulum-rigid.yaml" : "contact/double-pendulum-wall.yaml",
                {{"theta2", second_angle}, {"e", fmt::format("{}", restitution)}}),
        o);
    Track track;
    const auto record = [&] {
        const double before = track.impulse.empty() ? 0 : track.impulse.back();
        track.t.push_back(simulation.time());
        track.energy.push_back(sense(simulation, "energy"));
        track.impulse.push_back(is_stepping ? before + step * sense(simulation, "tip_wall.normal")
                                            : sense(simulation, "tip_impulse"));
    };
    record();
    for (long i = 0; i < std::lround(until / step); ++i) {
        const StepReport report = simulation.step(step);
        if (!report.ok) {
            track.failure = report.reason;
            break;
        }
        record();
        if (std::isnan(track.contact) && track.impulse.back() > 0) {
            track.contact = simulation.time();
            if (!report.events.empty()) track.contact = report.events.front().t;
        }
    }
    return track;
}

// Mean force over each step.
std::vector<double> forces_of(const Track& track) {
    std::vector<double> forces(track.t.size(), 0.0);
    for (std::size_t i = 1; i < track.t.size(); ++i)
        forces[i] = (track.impulse[i] - track.impulse[i - 1]) / (track.t[i] - track.t[i - 1]);
    return forces;
}

void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

int run_study(const std::string& root) {
    const std::vector<Method> methods{
        {"events, e = 1", ContactTreatment::events, "higher-order"},
        {"time-stepping, e = 1", ContactTreatment::events, "moreau-jean"},
        {"multipliers", ContactTreatment::multipliers, "higher-order"},
        {"augmented Lagrangian", ContactTreatment::augmented_lagrangian, "higher-order"},
        {"penalty 1e5 N/m", ContactTreatment::penalty, "higher-order", 1e5},
    };
    const std::string folder = root + "/docs/studies/";
    Plot energy{"Energy of the double pendulum against a wall, step 1 ms", "t [s]", "energy [J]", {}};
    Plot force{"Force of the wall on the tip, mean over steps of 1 ms", "t [s]", "force [N]", {}};
    std::string table =
        "| method | scheme | step [s] | first contact [s] | impulse of the tip until 0.69 s [N s] | energy after, lost "
        "or gained [J] |\n"
        "|---|---|---|---|---|---|\n";
    const auto add_row = [&](const Method& method, double step) {
        const Track track = follow(method, step, "90 deg", 1);
        const auto at = [&](const std::vector<double>& values, double t) {
            const auto i = static_cast<std::size_t>(std::lround(t / step));
            return i < values.size() ? values[i] : NAN;
        };
        table += fmt::format("| {} | {} | {:g} | {:.6f} | {:.4f} | {:+.4f}{} |\n", method.name, method.integrator, step,
                             track.contact, at(track.impulse, 0.69), at(track.energy, 0.69) - start_energy,
                             track.failure.empty() ? "" : " (stopped: " + track.failure + ")");
        return track;
    };
    for (const Method& method : methods)
        for (const double step : {1e-3, 2.5e-4, 6.25e-5}) {
            const Track track = add_row(method, step);
            if (step != 1e-3) continue;
            energy.series.push_back({method.name, track.t, track.energy});
            force.series.push_back({method.name, track.t, forces_of(track)});
        }
    for (const char* integrator : {"linear-acceleration", "trapezoidal", "newmark"})
        for (const double step : {1e-3, 6.25e-5})
            add_row({"augmented Lagrangian", ContactTreatment::augmented_lagrangian, integrator}, step);
    Plot schemes{"Augmented Lagrangian, start at (60, 0) degrees, step 1 ms", "t [s]", "energy [J]", {}};
    for (const char* integrator : {"linear-acceleration", "higher-order", "trapezoidal"}) {
        const Track track = follow({"", ContactTreatment::augmented_lagrangian, integrator}, 1e-3, "0", 1);
        schemes.series.push_back({integrator, track.t, track.energy});
    }
    write(folder + "stops-energy.svg", render_svg(energy));
    write(folder + "stops-force.svg", render_svg(force));
    write(folder + "stops-schemes.svg", render_svg(schemes));
    write(folder + "stops.md", fmt::format(R"(# Stops: events against projected multipliers

Made by `bench/stops`; do not edit.

The test problem of Glowinski and Nasser: a double pendulum swings against a wall. Their method treats the wall at the ends of steps, by an
augmented Lagrangian with projected multipliers, by multipliers alone, or by a penalty alone
([equations](../../src/limber/contact/projected_multipliers.hpp)). Ours finds the instant of contact within the step ([theory](../theory/stops.md)).
Independent computation: first contact at {:.9f} s; for an elastic wall impulse 4.13172356 N s and no change of energy.

{}
What an impact does is left to the scheme in the paper's method: it depends on where within the step contact falls, and on the scheme, not on a
restitution. It does not converge to one as the step falls. A penalty that the step resolves is nearly elastic. With events, restitution is a
datum, and impulse and energy are right at every step; with time-stepping it is a datum too, and they converge to first order.

![energy](stops-energy.svg)

![force](stops-force.svg)

The two schemes of the paper, and the trapezoidal rule, from the second start:

![schemes](stops-schemes.svg)
)",
                                           first_contact, table));
    return 0;
}

}  // namespace
}  // namespace limber::bench

int main(int count, char** arguments) {
    if (count < 2) return 1;
    return limber::bench::run_study(arguments[1]);
}
