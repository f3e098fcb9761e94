#include "run_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common.hpp"
#include "limber/modular/gluing.hpp"
#include "limber/simulation/start_conditions.hpp"

namespace limber::app {
namespace {

nlohmann::ordered_json json_number(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json describe_lock(const LockReport& lock) {
    nlohmann::ordered_json json{{"t", lock.time},
                                {"held", lock.driver},
                                {"value", lock.value},
                                {"joints", lock.joints},
                                {"text", lock.describe()}};
    json["lost"] = nlohmann::ordered_json::array();
    const auto list = [](const Vec3& v) { return std::vector<double>(v.begin(), v.end()); };
    for (const LockReport::Motion& motion : lock.lost)
        json["lost"].push_back({{"body", motion.body},
                                {"velocity", list(motion.velocity)},
                                {"angular_velocity", list(motion.angular_velocity)}});
    return json;
}

}  // namespace

std::string json_summary(const RunSummary& s, const SimulationOptions& options, double step) {
    nlohmann::ordered_json json;
    json["formulation"] = options.formulation;
    json["integrator"] = options.integrator;
    json["coordinates"] = options.coordinates;
    if (options.modular.is_on()) {
        json["division"] = options.modular.division;
        json["gluing"] = gluing_names()[static_cast<std::size_t>(options.modular.gluing)];
    }
    json["step"] = step;
    json["steps"] = s.steps;
    json["time"] = s.reached;
    json["ended"] = !s.ok ? "failed" : s.is_stopped ? "interrupted" : "done";
    json["wall_time_s"] = s.wall_time;
    json["metering_time_s"] = s.metering_time;
    json["real_time_factor"] = json_number(s.real_time_factor);
    json["iterations"] = s.iterations;
    json["energy_drift"] = json_number(s.energy_drift);
    json["exchanged_energy"] = json_number(s.exchanged_energy);
    json["work"] = json_number(s.work);
    json["constraint_error"] = {{"position", json_number(s.errors.position)},
                                {"velocity", json_number(s.errors.velocity)},
                                {"acceleration", json_number(s.errors.acceleration)},
                                {"complementarity", json_number(s.errors.complementarity)}};
    json["contact_loss"] = json_number(s.contact_loss);
    json["contact_events"] = nlohmann::ordered_json::array();
    for (const ContactEvent& event : s.events)
        json["contact_events"].push_back({{"t", event.t},
                                          {"stop", event.stop},
                                          {"kind", contact_event_name(event.kind)},
                                          {"impulse", event.impulse},
                                          {"energy_lost", event.energy_lost}});
    json["sensors"] = nlohmann::ordered_json::object();
    for (const SensorSummary& sensor : s.sensors)
        json["sensors"][sensor.name] = {
            {"final", json_number(sensor.final)}, {"min", json_number(sensor.min)}, {"max", json_number(sensor.max)}};
    json["warnings"] = list_warnings(s.warnings);
    if (!s.ok) json["failure"] = s.failure;
    if (s.lock) json["lock"] = describe_lock(*s.lock);
    return json.dump(2);
}

namespace {

// What contacts have taken and missed, how often stops were hit, and the first events.
void print_contacts(const RunSummary& s) {
    constexpr std::size_t max_lines = 12;
    if (s.contact_loss != 0 || s.errors.complementarity != 0)
        fmt::print("  contacts: {:.6g} J lost, complementarity to {:.2g} m\n", s.contact_loss,
                   s.errors.complementarity);
    if (s.events.empty()) return;
    const auto impacts = std::count_if(s.events.begin(), s.events.end(), [](const ContactEvent& event) {
        return event.kind == ContactEvent::Kind::impact;
    });
    fmt::print("  stops: {} impacts\n\n", impacts);
    std::vector<std::vector<std::string>> rows{{"t", "stop", "what", "impulse", "energy lost"}};
    for (std::size_t i = 0; i < std::min(max_lines, s.events.size()); ++i) {
        const ContactEvent& event = s.events[i];
        const bool is_impact = event.kind == ContactEvent::Kind::impact;
        rows.push_back({fmt::format("{:.9g}", event.t), event.stop, contact_event_name(event.kind),
                        is_impact ? fmt::format("{:.6g}", event.impulse) : "",
                        is_impact ? fmt::format("{:.6g}", event.energy_lost) : ""});
    }
    fmt::print("{}", format_table(rows));
    if (s.events.size() > max_lines) fmt::print("and {} more\n", s.events.size() - max_lines);
}

}  // namespace

void print_summary(const Simulation& simulation, const RunSummary& s, double step, double until) {
    const SimulationOptions& o = simulation.options();
    fmt::print("{}\n", simulation.model().title.empty() ? "Untitled model" : simulation.model().title);
    fmt::print("  {}, {}, step {:g} s; {} {} coordinates, {} constraint equations\n\n", o.formulation, o.integrator,
               step, simulation.system().size(), simulation.system().coordinates_name(), simulation.system().rows());
    for (const std::string& line : describe_start_conditions(simulation.model())) fmt::print("  found {}\n", line);
    fmt::print("  {} steps to t = {:g} s in {:.3g} s: {:.3g} times real time, {:.2f} iterations per step{}\n", s.steps,
               s.reached, s.wall_time, s.real_time_factor,
               s.steps > 0 ? static_cast<double>(s.iterations) / static_cast<double>(s.steps) : 0.0,
               s.divided_steps > 0 ? fmt::format(", {} steps had to be divided", s.divided_steps) : "");
    if (!s.ok || s.is_stopped)
        fmt::print("  {} at t = {:.9g} s of {:g} s: results and the numbers below end there\n",
                   s.ok ? "interrupted" : "failed", s.reached, until);
    if (s.lock) fmt::print("  {}\n", s.lock->describe());
    if (o.modular.is_on())
        fmt::print("  {} components, {} gluing\n", simulation.components().size(),
                   gluing_names()[static_cast<std::size_t>(o.modular.gluing)]);
    fmt::print("  largest constraint error: position {:.2g}, velocity {:.2g}, acceleration {:.2g}\n", s.errors.position,
               s.errors.velocity, s.errors.acceleration);
    fmt::print("  energy drift: {:.3g} J{}\n", s.energy_drift,
               s.exchanged_energy > 1e-3 * s.energy_drift
                   ? fmt::format(" ({:.2g} of the {:.3g} J exchanged)", s.energy_drift / s.exchanged_energy,
                                 s.exchanged_energy)
                   : "");
    print_contacts(s);
    if (s.sensors.empty()) return;
    std::vector<std::vector<std::string>> rows{{"sensor", "final", "min", "max"}};
    for (const SensorSummary& sensor : s.sensors)
        rows.push_back({sensor.name, fmt::format("{:.6g}", sensor.final), fmt::format("{:.6g}", sensor.min),
                        fmt::format("{:.6g}", sensor.max)});
    fmt::print("\n{}", format_table(rows));
}

}  // namespace limber::app
