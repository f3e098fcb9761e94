// The test problem of Glowinski and Nasser: a double pendulum against a wall, by events, time-stepping, augmented Lagrangian, multipliers and
// penalty. Writes docs/studies/stops.md and its plots, after figures 2 to 9 of the paper. No data are printed there; ours are those of
// examples/contact/double-pendulum-wall.yaml.

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <string_view>

#include "limber/integration/explicit_stepper.hpp"
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
    /// Then the balls are elastic.
    bool is_explicit() const { return std::string_view(integrator) == "explicit-euler"; }
};

/// v' = v + h a(q, v),  q' = q + h v: for comparison only, since it feeds energy into all that swings.
class ExplicitEuler final : public ExplicitStepper {
public:
    explicit ExplicitEuler(const std::shared_ptr<const System>& system)
        : ExplicitStepper(make_acceleration_solver("augmented-lagrangian", system), false, false) {}

private:
    bool advance(const State& state, double h, int& /*evaluations*/) override {
        VecX v = state.v;
        system().move(state.q, h, v, q_);
        v_ = state.v + h * state.a;
        return true;
    }
};

struct Track {
    std::vector<double> t, energy, impulse;
    double contact = NAN;  // instant at which the tip first pushes
    std::string failure;
};

Track follow(const Method& method, double step, const char* second_angle, double restitution) {
    const bool has_balls = method.is_time_stepping() || method.is_explicit();
    SimulationOptions o =
        options("semi-recursive", method.is_explicit() ? "higher-order" : method.integrator, "relative");
    o.contact_options.treatment = method.treatment;
    o.contact_options.stiffness = method.stiffness;
    Model model = example(has_balls ? "contact/double-pendulum-rigid.yaml" : "contact/double-pendulum-wall.yaml",
                          {{"theta2", second_angle}, {"e", fmt::format("{}", restitution)}});
    for (const auto handle : model.contacts.handles()) {
        if (!method.is_explicit()) break;
        ContactRule& rule = model.contacts.get(handle);
        rule.law = ContactRule::Law::linear;
        rule.numbers = {{"stiffness", Number(method.stiffness)}};
    }
    Simulation simulation(model, o);
    ExplicitEuler euler(simulation.shared_system());
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
        track.impulse.push_back(has_balls ? before + step * sense(simulation, "tip_wall.normal")
                                          : sense(simulation, "tip_impulse"));
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
    for (const double step : {1e-3, 2.5e-4, 6.25e-5})
        add_row({"penalty 1e5 N/m", ContactTreatment::penalty, "explicit-euler", 1e5}, step);
    Plot euler{"Penalty 1e5 N/m, start at (60, 0) degrees", "t [s]", "energy [J]", {}};
    const auto add_penalty = [&](const char* integrator, double step) {
        const Track track = follow({"", ContactTreatment::penalty, integrator, 1e5}, step, "0", 1);
        euler.series.push_back({fmt::format("{}, {:g} ms", integrator, 1e3 * step), track.t, track.energy});
    };
    add_penalty("higher-order", 1e-3);
    for (const double step : {1e-3, 2.5e-4, 6.25e-5}) add_penalty("explicit-euler", step);
    Plot schemes{"Augmented Lagrangian, start at (60, 0) degrees, step 1 ms", "t [s]", "energy [J]", {}};
    for (const char* integrator : {"linear-acceleration", "higher-order", "trapezoidal"}) {
        const Track track = follow({"", ContactTreatment::augmented_lagrangian, integrator}, 1e-3, "0", 1);
        schemes.series.push_back({integrator, track.t, track.energy});
    }
    write(folder + "stops-energy.svg", render_svg(energy));
    write(folder + "stops-force.svg", render_svg(force));
    write(folder + "stops-schemes.svg", render_svg(schemes));
    write(folder + "stops-euler.svg", render_svg(euler));
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

A penalty by the explicit Euler method (their figure 9), from the same start. It feeds energy into the stiff wall in every contact, and into the pendulum
on the way; what it gains falls in proportion to the step only, once the step is short.

![euler](stops-euler.svg)
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
