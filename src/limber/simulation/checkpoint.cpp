#include "limber/simulation/checkpoint.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "limber/io/files.hpp"
#include "limber/model/error.hpp"
#include "limber/simulation/fingerprint.hpp"
#include "limber/simulation/option_table.hpp"
#include "limber/simulation/saved_fields.hpp"

namespace limber {
namespace {

using saved::encode;
using saved::encode_fields;
using CheckpointJson = saved::Json;
using Place = SavedPlace;

// Version 1 had neither contacts nor most options, and no events.
constexpr int version = 4;
constexpr const char* version_key = "limber_checkpoint";
constexpr const char* sum_key = "sum";
constexpr const char* interval_name = "checkpoint";

// ---------------------------------------------------------------- writing

CheckpointJson encode_summary(const RunSummary& s) {
    CheckpointJson sensors = CheckpointJson::array();
    for (const SensorSummary& sensor : s.sensors)
        sensors.push_back({sensor.name, encode(sensor.final), encode(sensor.min), encode(sensor.max)});
    CheckpointJson events = CheckpointJson::array();
    for (const ContactEvent& event : s.events)
        events.push_back({{"kind", static_cast<int>(event.kind)},
                          {"t", encode(event.t)},
                          {"stop", event.stop},
                          {"impulse", encode(event.impulse)},
                          {"energy_lost", encode(event.energy_lost)}});
    CheckpointJson warnings = CheckpointJson::array();
    for (const Warning& warning : s.warnings) warnings.push_back({warning.kind, warning.text, warning.elements});
    return {{"steps", s.steps},
            {"divided_steps", s.divided_steps},
            {"iterations", s.iterations},
            {"wall_time", encode(s.wall_time)},
            {"metering_time", encode(s.metering_time)},
            {"energy_drift", encode(s.energy_drift)},
            {"exchanged_energy", encode(s.exchanged_energy)},
            {"contact_loss", encode(s.contact_loss)},
            {"work", encode(s.work)},
            {"warnings", warnings},
            {"errors", encode(std::vector{s.errors.position, s.errors.velocity, s.errors.acceleration,
                                          s.errors.complementarity})},
            {"sensors", sensors},
            {"events", events}};
}

// Of everything else in the file.
std::string sum_of(const CheckpointJson& json) {
    Fingerprint fingerprint;
    fingerprint.add(json.dump());
    return fmt::format("{:016x}", fingerprint.value());
}

// ---------------------------------------------------------------- reading

constexpr long max_saved_steps = std::numeric_limits<long>::max() / 2;

ContactEvent read_event(const Place& place) {
    ContactEvent event;
    event.kind =
        static_cast<ContactEvent::Kind>(place.at("kind").integer(0, static_cast<long>(ContactEvent::Kind::slipped)));
    event.t = place.at("t").finite();
    event.stop = place.at("stop").text();
    event.impulse = place.at("impulse").finite();
    event.energy_lost = place.at("energy_lost").finite();
    return event;
}

Warning read_warning(const Place& place) {
    place.require_length(3);
    Warning warning{place.at(0UL).text(), place.at(1).text(), {}};
    const Place elements = place.at(2);
    for (std::size_t i = 0; i < elements.length(); ++i) warning.elements.push_back(elements.at(i).text());
    return warning;
}

RunSummary read_summary(const Place& place) {
    RunSummary s;
    s.steps = place.at("steps").integer(0, max_saved_steps);
    s.divided_steps = place.at("divided_steps").integer(0, max_saved_steps);
    s.iterations = place.at("iterations").integer(0, max_saved_steps);
    s.wall_time = place.at("wall_time").finite(0);
    s.metering_time = place.at("metering_time").finite(0);
    s.energy_drift = place.at("energy_drift").finite(0);
    s.exchanged_energy = place.at("exchanged_energy").finite(0);
    s.contact_loss = place.at("contact_loss").finite();
    s.work = place.at("work").finite(0);
    const Place warnings = place.at("warnings");
    for (std::size_t i = 0; i < warnings.length(); ++i) s.warnings.push_back(read_warning(warnings.at(i)));
    const Place errors = place.at("errors");
    errors.require_length(4);
    s.errors = {errors.at(0UL).finite(0), errors.at(1).finite(0), errors.at(2).finite(0), errors.at(3).finite(0)};
    const Place sensors = place.at("sensors");
    for (std::size_t i = 0; i < sensors.length(); ++i) {
        const Place sensor = sensors.at(i);
        sensor.require_length(4);
        s.sensors.push_back(
            {sensor.at(0UL).text(), sensor.at(1).number(), sensor.at(2).number(), sensor.at(3).number()});
    }
    const Place events = place.at("events");
    for (std::size_t i = 0; i < events.length(); ++i) s.events.push_back(read_event(events.at(i)));
    return s;
}

// As many rows as were recorded, one after the other, not later than the state.
void read_table(const Place& place, RunCheckpoint& c) {
    ResultTable& table = c.so_far.table;
    const Place columns = place.at("columns");
    for (std::size_t i = 0; i < columns.length(); ++i) table.columns.push_back(columns.at(i).text());
    if (table.columns.empty() || table.columns.front() != "t") columns.refuse("names of columns, the first one 't'");
    const Place values = place.at("values");
    const auto rows = static_cast<std::size_t>(c.recorded) + 1;
    if (values.length() % table.columns.size() != 0 || values.length() / table.columns.size() != rows)
        values.refuse(fmt::format("{} rows of {} numbers", rows, table.columns.size()));
    table.values.reserve(values.length());
    values.each_number([&](double x) { table.values.push_back(x); });
    for (std::size_t row = 0; row < rows; ++row) {
        const double t = table.at(row, 0);
        const bool is_next = row == 0 ? std::isfinite(t) : t > table.at(row - 1, 0);
        if (!is_next || t > c.state.t + 1e-9 * (1 + std::abs(c.state.t)))
            values.at(row * table.columns.size()).refuse("times that grow, up to that of the state");
    }
    const auto& sensors = c.so_far.summary.sensors;
    for (std::size_t i = 0; i < sensors.size(); ++i)
        if (i + 1 >= table.columns.size() || sensors[i].name != table.columns[i + 1])
            place.at("summary").at("sensors").refuse("one for each column after 't'");
}

CheckpointJson parse_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw ModelError(fmt::format("cannot read the checkpoint '{}': {}", path, std::strerror(errno)));
    const CheckpointJson json = CheckpointJson::parse(file, nullptr, false);
    if (!json.is_object() || !json.contains(version_key))
        throw ModelError(fmt::format("'{}' is not a whole checkpoint: expected one JSON object with '{}'{}", path,
                                     version_key, json.is_discarded() ? ", found no JSON" : ""));
    if (json.at(version_key) != version)
        throw ModelError(fmt::format(
            "'{}' is a checkpoint of version {}, and this program reads version {}: start the run from its beginning",
            path, json.at(version_key).dump(), version));
    return json;
}

RunIdentity read_identity(const Place& place) {
    RunIdentity identity;
    identity.model = place.at("model").text();
    const Place settings = place.at("settings");
    for (std::size_t i = 0; i < settings.length(); ++i) {
        settings.at(i).require_length(2);
        identity.settings.emplace_back(settings.at(i).at(0UL).text(), settings.at(i).at(1).text());
    }
    return identity;
}

void refuse_other_run(const RunIdentity& found, const RunIdentity& expected) {
    if (found.model != expected.model) throw ModelError("belongs to another run: the model has changed");
    for (std::size_t i = 0; i < std::max(found.settings.size(), expected.settings.size()); ++i) {
        if (i >= found.settings.size() || i >= expected.settings.size() ||
            found.settings[i].first != expected.settings[i].first)
            throw ModelError("belongs to another run: it has other settings");
        if (found.settings[i].second != expected.settings[i].second)
            throw ModelError(fmt::format("belongs to another run: {} was '{}' there and is '{}' now",
                                         found.settings[i].first, found.settings[i].second,
                                         expected.settings[i].second));
    }
}

}  // namespace

RunIdentity identify_run(const Model& model, const SimulationOptions& options, const RunOptions& run) {
    RunIdentity identity;
    identity.model = fmt::format("{:016x}", fingerprint_of(model));
    for (const auto& row : simulation_option_rows())
        if (row.changes_results) identity.settings.emplace_back(row.name, print(row.get(options)));
    identity.settings.emplace_back("step", fmt::format("{}", run.step));
    identity.settings.emplace_back("every", fmt::format("{}", run.every));
    // Solvers forget their past at each.
    identity.settings.emplace_back(interval_name, fmt::format("{}", run.checkpoint_every));
    return identity;
}

void write_checkpoint(const std::string& path, const RunIdentity& identity, const RunCheckpoint& c) {
    CheckpointJson json{{version_key, version},
                        {"run", {{"model", identity.model}, {"settings", CheckpointJson::array()}}},
                        {"state", encode(c.state)},
                        {"work", encode(c.work)},
                        {"start", encode(c.start)},
                        {"energy", encode_fields(c.energy)},
                        {"turn", encode_fields(c.turn)},
                        {"longest_step", encode(c.longest_step)},
                        {"interval", encode(c.interval)},
                        {"recorded", c.recorded},
                        {"columns", c.so_far.table.columns},
                        {"values", encode(c.so_far.table.values)},
                        {"summary", encode_summary(c.so_far.summary)}};
    for (const auto& [name, value] : identity.settings) json["run"]["settings"].push_back({name, value});
    json[sum_key] = sum_of(json);
    write_file(path, json.dump());
}

RunCheckpoint read_checkpoint(const std::string& path, const RunIdentity& identity) {
    CheckpointJson json = parse_file(path);
    RunCheckpoint c;
    try {
        const Place file(json, "");
        refuse_other_run(read_identity(file.at("run")), identity);
        file.at("state").read_fields(c.state);
        c.work = file.at("work").finite();
        c.start = file.at("start").finite();
        if (c.start > c.state.t) file.at("start").refuse("a time before that of the state");
        file.at("energy").read_fields(c.energy);
        file.at("turn").read_fields(c.turn);
        c.longest_step = file.at("longest_step").finite(0);
        c.interval = file.at("interval").finite(0);
        c.recorded = file.at("recorded").integer(0, max_saved_steps);
        c.so_far.summary = read_summary(file.at("summary"));
        read_table(file, c);
        // All is in its range; is it also what was written?
        const std::string sum = file.at(sum_key).text();
        json.erase(sum_key);
        if (sum != sum_of(json)) throw ModelError("is damaged: its numbers do not add up to its check sum");
    } catch (const ModelError& error) {
        throw ModelError(fmt::format("the checkpoint '{}': {}", path, error.what()));
    }
    return c;
}

double read_checkpoint_interval(const std::string& path) {
    const CheckpointJson json = parse_file(path);
    try {
        return Place(json, "").at("interval").finite(0);
    } catch (const ModelError& error) {
        throw ModelError(fmt::format("the checkpoint '{}': {}", path, error.what()));
    }
}

}  // namespace limber
