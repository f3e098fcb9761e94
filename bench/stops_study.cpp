// The test problem of Glowinski and Nasser: a double pendulum against a wall, by events, time-stepping, augmented
// Lagrangian, multipliers and penalty. Writes docs/studies/stops.md and its plots, after figures 2 to 9 of the paper.
// No data are printed there; ours are those of examples/contact/double-pendulum-wall.yaml.

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <string_view>

#include "limber/integration/explicit_euler.hpp"
#include "limber/io/svg_plot.hpp"
#include "stops_long.hpp"
#include "stops_map.hpp"
#include "support.hpp"

namespace limber::bench {
namespace {

constexpr double until = 1;

/// A start of the pendulum, and what an independent computation says about its first impact.
struct Start {
    const char* name;  ///< both angles, in degrees
    const char* second_angle;
    const char* end;  ///< of the rods that touches first: "tip" or "elbow"
    double energy, contact;
    double seen_at;  ///< when that impact is over for every method, and before the next one
    double elastic_impulse, damped_impulse, damped_energy;  ///< with restitution 1 and 0.5
};
constexpr Start first_start{"(60, 90)", "90 deg",   "tip",      -7.3575,     0.655423130,
                            0.69,       4.13172356, 3.09879267, -12.11360862};
constexpr Start second_start{"(60, 0)", "0",        "elbow",    -12.2625,    0.512418174,
                             0.53,      5.91886068, 4.43914551, -14.94561616};

struct Method {
    const char* name;
    ContactTreatment treatment;
    const char* integrator;
    double stiffness = 0;
    StopAction action = StopAction::force;

    /// Then the ends of the rods are rigid balls.
    bool is_time_stepping() const { return std::string_view(integrator) == "moreau-jean"; }
    /// Then the balls are elastic.
    bool is_explicit() const { return std::string_view(integrator) == "explicit-euler"; }
    bool knows_restitution() const { return treatment == ContactTreatment::events || action == StopAction::impulse; }
};

struct Track {
    std::vector<double> t, energy, impulse;
    double contact = NAN;  // instant at which the end that touches first pushes
    std::string failure;
};

Track follow(const Method& method, double step, const Start& start, double restitution) {
    const bool has_balls = method.is_time_stepping() || method.is_explicit();
    SimulationOptions o =
        options("semi-recursive", method.is_explicit() ? "higher-order" : method.integrator, "relative");
    o.contact_options.treatment = method.treatment;
    o.contact_options.stiffness = method.stiffness;
    o.contact_options.action = method.action;
    Model model = example(has_balls ? "contact/double-pendulum-rigid.yaml" : "contact/double-pendulum-wall.yaml",
                          {{"theta2", start.second_angle}, {"e", fmt::format("{}", restitution)}});
    for (const auto handle : model.contacts.handles()) {
        if (!method.is_explicit()) break;
        ContactRule& rule = model.contacts.get(handle);
        rule = LinearContact{.name = rule.name, .between = rule.between(), .stiffness = method.stiffness};
    }
    Simulation simulation(model, o);
    ExplicitEuler euler(make_acceleration_solver("augmented-lagrangian", simulation.shared_system()), false, false);
    const auto advance = [&] {
        if (!method.is_explicit()) return simulation.step(step);
        State state = simulation.state();
        StepReport report = euler.step(state, step);
        simulation.restore(state);
        return report;
    };
    Track track;
    const auto record = [&] {
        const double before = track.impulse.empty() ? 0 : track.impulse.back();
        track.t.push_back(simulation.time());
        track.energy.push_back(sense(simulation, "energy"));
        const std::string end = start.end;
        track.impulse.push_back(has_balls ? before + step * sense(simulation, end + "_wall.normal")
                                          : sense(simulation, end + "_impulse"));
    };
    record();
    for (long i = 0; i < std::lround(until / step); ++i) {
        const StepReport report = advance();
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

/// The force around the first impact, a mark for every step.
PlotSeries force_around(const std::string& name, const Track& track, double from, double to) {
    PlotSeries series;
    series.name = name;
    series.has_markers = true;
    const std::vector<double> forces = forces_of(track);
    for (std::size_t i = 0; i < track.t.size(); ++i) {
        if (track.t[i] < from || track.t[i] > to) continue;
        series.x.push_back(track.t[i]);
        series.y.push_back(forces[i]);
    }
    return series;
}

constexpr const char* table_head =
    "| method | scheme | restitution | step [s] | first contact [s] | impulse [N s] | energy lost or gained [J] |\n"
    "|---|---|---|---|---|---|---|\n";

/// Of methods that know no restitution it is left out.
std::string table_row(const Method& method, double step, const Start& start, double restitution, const Track& track) {
    const auto seen = static_cast<std::size_t>(std::lround(start.seen_at / step));
    const auto at = [&](const std::vector<double>& values) { return seen < values.size() ? values[seen] : NAN; };
    double change = at(track.energy) - start.energy;
    if (std::abs(change) < 5e-7) change = 0;  // rather than -0.000000
    return fmt::format("| {} | {} | {} | {:g} | {:.6f} | {:.6f} | {:+.6f}{} |\n", method.name, method.integrator,
                       method.knows_restitution() ? fmt::format("{:g}", restitution) : "-", step, track.contact,
                       at(track.impulse), change, track.failure.empty() ? "" : " (stopped: " + track.failure + ")");
}

/// All impacts of a run by events, beside what an independent computation found.
std::string impact_rows(const Start& start, double restitution, const std::vector<ContactEvent>& known) {
    Simulation simulation(example("contact/double-pendulum-wall.yaml",
                                  {{"theta2", start.second_angle}, {"e", fmt::format("{}", restitution)}}),
                          options("semi-recursive", "higher-order", "relative"));
    std::vector<ContactEvent> found;
    while (found.size() < known.size() && simulation.time() < 3)
        for (const ContactEvent& event : simulation.step(2.5e-4).events)
            if (event.kind == ContactEvent::Kind::impact) found.push_back(event);
    std::string rows;
    for (std::size_t i = 0; i < std::min(found.size(), known.size()); ++i)
        rows += fmt::format("| {} | {:g} | {} | {:.9f} | {:.9f} | {:.8f} | {:.8f} |\n", start.name, restitution,
                            found[i].stop == "tip_wall" ? "tip" : "elbow", known[i].t, found[i].t, known[i].impulse,
                            found[i].impulse);
    return rows;
}

std::string all_impacts() {
    const auto impact = [](double t, double impulse) {
        return ContactEvent{ContactEvent::Kind::impact, t, "", impulse, 0};
    };
    return "| start [deg] | restitution | end | instant, known [s] | found [s] | impulse, known [N s] | found [N s] |\n"
           "|---|---|---|---|---|---|---|\n" +
           impact_rows(first_start, 1,
                       {impact(0.655423130, 4.13172356), impact(0.707131474, 7.11263046),
                        impact(1.794213055, 5.48894754), impact(2.121091255, 3.60776710)}) +
           impact_rows(
               first_start, 0.5,
               {impact(0.655423130, 3.09879267), impact(0.712592320, 4.67996500), impact(1.970515565, 1.80425218)}) +
           impact_rows(second_start, 1, {impact(0.512418174, 5.91886068)}) +
           impact_rows(second_start, 0.5, {impact(0.512418174, 4.43914551)});
}

void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

const Method by_events{"events", ContactTreatment::events, "higher-order"};
const Method by_time_stepping{"time-stepping", ContactTreatment::events, "moreau-jean"};
const Method by_multipliers{"multipliers", ContactTreatment::multipliers, "higher-order"};
const Method by_augmented_lagrangian{"augmented Lagrangian", ContactTreatment::augmented_lagrangian, "higher-order"};
const Method by_impulses{"projected impulses", ContactTreatment::augmented_lagrangian, "higher-order", 0,
                         StopAction::impulse};
const Method by_penalty{"penalty 1e5 N/m", ContactTreatment::penalty, "higher-order", 1e5};

struct StartReport {
    std::string table;
    Plot energy, force;
};

/// All methods from one start: the table, and plots of the runs with the longest step. `from` and `to` are the times
/// that the plot of forces shows.
StartReport compare_methods(const Start& start, double from, double to) {
    StartReport report;
    report.table = table_head;
    report.energy = {fmt::format("Energy, start at {} degrees, step 1 ms", start.name), "t [s]", "energy [J]", {}};
    report.force = {fmt::format("Force on the {}, start at {} degrees, mean over steps of 1 ms", start.end, start.name),
                    "t [s]",
                    "force [N]",
                    {}};
    const auto add = [&](const Method& method, double restitution) {
        for (const double step : {1e-3, 2.5e-4, 6.25e-5}) {
            const Track track = follow(method, step, start, restitution);
            report.table += table_row(method, step, start, restitution, track);
            // The multipliers' curve is that of the augmented Lagrangian.
            if (step != 1e-3 || method.treatment == ContactTreatment::multipliers) continue;
            const std::string label =
                method.knows_restitution() ? fmt::format("{}, e = {:g}", method.name, restitution) : method.name;
            report.energy.series.push_back({label, track.t, track.energy});
            report.force.series.push_back(force_around(label, track, from, to));
        }
    };
    for (const double restitution : {1.0, 0.5}) {
        add(by_events, restitution);
        add(by_time_stepping, restitution);
        add(by_impulses, restitution);
    }
    for (const Method& method : {by_multipliers, by_augmented_lagrangian, by_penalty}) add(method, 1);
    return report;
}

/// By projected impulses with restitution 0, against half the impulse of restitution 1: with the energy lost by that.
std::string plastic_rows() {
    std::string table =
        "| start [deg] | scheme | step [s] | impulse [N s] | exact [N s] | energy lost [J] | exact [J] |\n"
        "|---|---|---|---|---|---|---|\n";
    for (const Start& start : {first_start, second_start})
        for (const char* integrator : {"higher-order", "trapezoidal"})
            for (const double step : {1e-3, 2.5e-4, 6.25e-5}) {
                Method method = by_impulses;
                method.integrator = integrator;
                const Track track = follow(method, step, start, 0);
                const auto seen =
                    std::min(track.energy.size() - 1, static_cast<std::size_t>(std::ceil(start.contact / step) + 1));
                // With restitution e the loss is in proportion to 1 - e^2.
                table += fmt::format("| {} | {} | {:g} | {:.6f} | {:.6f} | {:.6f} | {:.6f} |\n", start.name, integrator,
                                     step, track.impulse[seen], 0.5 * start.elastic_impulse,
                                     start.energy - track.energy[seen], (start.energy - start.damped_energy) / 0.75);
            }
    return table;
}

int run_study(const std::string& root) {
    const std::string folder = root + "/docs/studies/";
    StartReport first = compare_methods(first_start, 0.65, 0.67);
    StartReport second = compare_methods(second_start, 0.507, 0.53);
    std::string schemes_table = table_head;
    const auto add_scheme = [&](const Method& method, double step) {
        schemes_table += table_row(method, step, first_start, 1, follow(method, step, first_start, 1));
    };
    for (const char* integrator : {"linear-acceleration", "trapezoidal", "newmark"})
        for (const double step : {1e-3, 6.25e-5})
            add_scheme({"augmented Lagrangian", ContactTreatment::augmented_lagrangian, integrator}, step);
    for (const double step : {1e-3, 2.5e-4, 6.25e-5})
        add_scheme({"penalty 1e5 N/m", ContactTreatment::penalty, "explicit-euler", 1e5}, step);
    Plot euler{"Penalty 1e5 N/m, start at (60, 0) degrees", "t [s]", "energy [J]", {}};
    const auto add_penalty = [&](const char* integrator, double step) {
        const Track track = follow({"", ContactTreatment::penalty, integrator, 1e5}, step, second_start, 1);
        euler.series.push_back({fmt::format("{}, {:g} ms", integrator, 1e3 * step), track.t, track.energy});
    };
    add_penalty("higher-order", 1e-3);
    for (const double step : {1e-3, 2.5e-4, 6.25e-5}) add_penalty("explicit-euler", step);
    Plot schemes{"Augmented Lagrangian, start at (60, 0) degrees, step 1 ms", "t [s]", "energy [J]", {}};
    for (const char* integrator : {"linear-acceleration", "higher-order", "trapezoidal"}) {
        const Track track = follow({"", ContactTreatment::augmented_lagrangian, integrator}, 1e-3, second_start, 1);
        schemes.series.push_back({integrator, track.t, track.energy});
    }
    const std::string long_table = follow_long(folder + "stops-long.svg");
    const std::string map = map_convergence(folder + "stops-map.svg");
    write(folder + "stops-gains.svg", render_svg(first.energy));
    first.energy.y_range = {-18, -4};
    second.energy.y_range = {-18, -8};
    first.force.y_range = second.force.y_range = {0, 6000};
    write(folder + "stops-energy.svg", render_svg(first.energy));
    write(folder + "stops-force.svg", render_svg(first.force));
    write(folder + "stops-second-energy.svg", render_svg(second.energy));
    write(folder + "stops-second-force.svg", render_svg(second.force));
    write(folder + "stops-schemes.svg", render_svg(schemes));
    write(folder + "stops-euler.svg", render_svg(euler));
    write(folder + "stops.md",
          fmt::format(R"(# Stops: events against projected multipliers

Made by `bench/stops`; do not edit.

The test problem of Glowinski and Nasser: a double pendulum swings against a wall. Their method treats the wall at the ends of steps, by an
augmented Lagrangian with projected multipliers, by multipliers alone, or by a penalty alone
([equations](../../src/limber/contact/stops/projected_multipliers.hpp)). Ours finds the instant of contact within the step ([theory](../theory/stops.md)).

Their figures and ours. The paper prints no data for its double pendulum, and of its curves we have the captions only, so what can be compared is the kind of motion, not numbers:

| figure of the paper | shows | here |
|---|---|---|
| 2, 3 | energy and force, start (60, 90) deg, multipliers, high-order scheme | [energy](stops-energy.svg), [force](stops-force.svg): "multipliers" |
| 4, 5 | the same by the augmented Lagrangian | the same curves: both have the same solution |
| 6, 7 | the same by a penalty | the same pictures: "penalty" |
| 8 | energy, start (60, 0) deg, augmented Lagrangian, high-order scheme and linear acceleration | [schemes](stops-schemes.svg) |
| 9 | energy, start (60, 0) deg, penalty, explicit Euler | [euler](stops-euler.svg), `--integrator explicit-euler` |
| "choice of r and rho": "the variables controlling the stability" | no figure | [map](stops-map.svg) |

The multipliers of a gap that closes may be read in two ways, `--option stop-action=`:

- `force`, the literal one: equations (14)-(43) as they stand. The force at the end of the step belongs to the scheme's acceleration, which is carried on into the next step.
- `impulse`: positions by the same iteration; then velocities are those without the multipliers, and get what Moreau's implicit impact gives them, with the stop's restitution; accelerations are those of the motion thereafter
  ("the acceleration may be updated from the solution of equation (14) after convergence"). [Equations](../../src/limber/contact/stops/projected_impulses.hpp).

Equality rows beside inequality rows (their G1 and G2), dry friction by multipliers projected onto |tau| <= mu lambda, and any coordinates are tested on closed forms in `tests/contact/projected_multipliers.cpp`;
examples: [a parallelogram](../../examples/contact/parallelogram-wall.yaml), [a pendulum on a collar](../../examples/contact/pendulum-on-collar.yaml).

## All impacts, by events

With steps of 0.25 ms, beside an independent computation:

{}
## First impact from (60, 90) degrees: the tip

Impulse of the tip and energy at {:g} s. Independent computation: contact at {:.9f} s; with restitution 1 an impulse of {:.8f} N s and no change of energy, with 0.5 an impulse of
{:.8f} N s and {:+.8f} J.

{}
What an impact does is left to the scheme in the literal reading: it depends on where within the step contact falls, and on the scheme, not on a
restitution. It does not converge to one as the step falls. A penalty that the step resolves is nearly elastic. With events, restitution is a
datum, and impulse and energy are right at every step, to what the scheme leaves of the motion before; with time-stepping it is a datum too, and they converge to first order.

Multipliers and augmented Lagrangian agree, as they must: both iterate until the gap of what pushes is zero at the end of the step, and there the penalty r g+
of the augmented Lagrangian is zero, too. What is left are the same equations; the last digits differ by what the iterations leave. The penalty changes how many iterations
it takes, not where they end. Their curve is shown once.

Energy, and force at the first impact. Augmented Lagrangian leaves the picture at the top; what the spring of a penalty holds is not in the sum, hence its dips:

![energy](stops-energy.svg)

![force](stops-force.svg)

The same energies in full:

![gains](stops-gains.svg)

Other schemes:

{}
## Ten seconds of impacts

Forces gain energy at the first impact and leave the finite numbers. Impulses do not: each step is finite and takes energy at every contact (restitution below 1). What they gain at most in a step is the scheme's own error
in free flight, as the events beside them show.

{}
![energy over ten seconds](stops-long.svg)

Without restitution they tend to the plastic impact, with restitution e to Newton's, in proportion to the step. Half of the impulse of restitution 1 is exact:

{}
## Convergence over r, rho and the step

Iterations in a step in which something pushes, of this pendulum from the first impact until 0.75 s, one update of the multipliers for each iteration of Newton's method (40), (41). Both parameters have a natural unit,
rho* = 1 / (beta h^2 J S^-1 J^T), here about m/h^2: with h four times as small the map moves by a factor of 16.

![iterations over r, rho and the step](stops-map.svg)

{}
Grey to the left of the coloured cells is slowness (about rho*/rho iterations are needed), grey to the right is divergence: without r beyond about 2 rho*, with r beyond rho = r, since a penalty damps only while
a gap is violated, g+ in (8). On the diagonal rho = r a larger r is faster, as long as it is not so large that rounding, or the curvature of the wall's row in long steps, keeps Newton's method from ending: with 4 ms this
begins at 1e8 N/m. By default r = rho = 10 rho*, without r rho = rho*, so neither has to be chosen; a rho that is automatic is halved after every 200 updates in vain.

## First impact from (60, 0) degrees: the elbow

Impulse of the elbow and energy at {:g} s. Independent computation: contact at {:.9f} s; with restitution 1 an impulse of {:.8f} N s and no change of energy, with 0.5 an impulse of
{:.8f} N s and {:+.8f} J.

{}
![energy](stops-second-energy.svg)

![force](stops-second-force.svg)

The two schemes of the paper, and the trapezoidal rule, from this start:

![schemes](stops-schemes.svg)

A penalty by the explicit Euler method (their figure 9), from the same start. It feeds energy into the stiff wall in every contact, and into the pendulum
on the way; what it gains falls in proportion to the step only, once the step is short.

![euler](stops-euler.svg)
)",
                      all_impacts(), first_start.seen_at, first_start.contact, first_start.elastic_impulse,
                      first_start.damped_impulse, first_start.damped_energy - first_start.energy, first.table,
                      schemes_table, long_table, plastic_rows(), map, second_start.seen_at, second_start.contact,
                      second_start.elastic_impulse, second_start.damped_impulse,
                      second_start.damped_energy - second_start.energy, second.table));
    return 0;
}

}  // namespace
}  // namespace limber::bench

int main(int count, char** arguments) {
    if (count < 2) return 1;
    return limber::bench::run_study(arguments[1]);
}
