#include "checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "limber/io/results.hpp"
#include "limber/model/error.hpp"

namespace limber::app {
namespace {

using Json = nlohmann::json;

// JSON has no infinities; a number that is not finite is kept as its name.
Json number(double value) {
    if (std::isfinite(value)) return value;
    return std::isnan(value) ? "nan" : (value > 0 ? "inf" : "-inf");
}

double number(const Json& json) {
    return json.is_string() ? std::stod(json.get<std::string>()) : json.get<double>();
}

template <class Range>
Json list(const Range& range) {
    Json json = Json::array();
    for (const double value : range) json.push_back(number(value));
    return json;
}

std::vector<double> list(const Json& json) {
    std::vector<double> values;
    for (const Json& value : json) values.push_back(number(value));
    return values;
}

VecX vector(const Json& json) {
    const std::vector<double> values = list(json);
    return Eigen::Map<const VecX>(values.data(), static_cast<Eigen::Index>(values.size()));
}

Json write_state(const State& s) {
    return {{"t", s.t},
            {"q", list(s.q)},
            {"v", list(s.v)},
            {"a", list(s.a)},
            {"lambda", list(s.lambda)},
            {"scheme_a", list(s.scheme_a)},
            {"previous_a", list(s.previous_a)},
            {"previous_step", s.previous_step},
            {"memory", list(s.memory)}};
}

State read_state(const Json& json) {
    State s;
    s.t = json.at("t");
    s.q = vector(json.at("q"));
    s.v = vector(json.at("v"));
    s.a = vector(json.at("a"));
    s.lambda = vector(json.at("lambda"));
    s.scheme_a = vector(json.at("scheme_a"));
    s.previous_a = vector(json.at("previous_a"));
    s.previous_step = json.at("previous_step");
    s.memory = list(json.at("memory"));
    return s;
}

Json write_summary(const RunSummary& s) {
    Json sensors = Json::array();
    for (const SensorSummary& sensor : s.sensors)
        sensors.push_back({sensor.name, number(sensor.final), number(sensor.min), number(sensor.max)});
    Json warnings = Json::array();
    for (const Warning& warning : s.warnings) warnings.push_back({warning.kind, warning.text, warning.elements});
    return {{"steps", s.steps},
            {"divided_steps", s.divided_steps},
            {"iterations", s.iterations},
            {"wall_time", s.wall_time},
            {"energy_drift", number(s.energy_drift)},
            {"exchanged_energy", number(s.exchanged_energy)},
            {"contact_loss", number(s.contact_loss)},
            {"work", number(s.work)},
            {"warnings", warnings},
            {"errors",
             list(std::vector{s.errors.position, s.errors.velocity, s.errors.acceleration, s.errors.complementarity})},
            {"sensors", sensors}};
}

RunSummary read_summary(const Json& json) {
    RunSummary s;
    s.steps = json.at("steps");
    s.divided_steps = json.at("divided_steps");
    s.iterations = json.at("iterations");
    s.wall_time = json.at("wall_time");
    s.energy_drift = number(json.at("energy_drift"));
    s.exchanged_energy = number(json.at("exchanged_energy"));
    const std::vector<double> errors = list(json.at("errors"));
    s.errors = {errors.at(0), errors.at(1), errors.at(2), errors.at(3)};
    s.contact_loss = number(json.at("contact_loss"));
    s.work = number(json.at("work"));
    for (const Json& warning : json.at("warnings"))
        s.warnings.push_back({warning.at(0), warning.at(1), warning.at(2).get<std::vector<std::string>>()});
    for (const Json& sensor : json.at("sensors"))
        s.sensors.push_back({sensor.at(0), number(sensor.at(1)), number(sensor.at(2)), number(sensor.at(3))});
    return s;
}

Json write_energy(const EnergyRecord& e) {
    return list(std::vector{e.start, e.available, e.weight, e.least_kinetic, e.most_kinetic, e.least_work, e.most_work,
                            e.contact_loss, e.drift});
}

EnergyRecord read_energy(const Json& json) {
    const std::vector<double> e = list(json);
    return {e.at(0), e.at(1), e.at(2), e.at(3), e.at(4), e.at(5), e.at(6), e.at(7), e.at(8)};
}

void flush_to_disk(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || ::fsync(file) != 0)
        throw ModelError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
    ::close(file);
}

}  // namespace

void write_checkpoint(const std::string& path, const std::string& identity, const RunCheckpoint& c) {
    const Json json{{"limber_checkpoint", 1},
                    {"run", identity},
                    {"state", write_state(c.state)},
                    {"work", c.work},
                    {"start", c.start},
                    {"energy", write_energy(c.energy)},
                    {"turn", {{"body", c.turn.body}, {"angle", c.turn.angle}, {"step", c.turn.step}}},
                    {"recorded", c.recorded},
                    {"columns", c.so_far.table.columns},
                    {"values", list(c.so_far.table.values)},
                    {"summary", write_summary(c.so_far.summary)}};
    const std::string fresh = path + ".new";
    write_text_file(fresh, json.dump());
    flush_to_disk(fresh);
    std::filesystem::rename(fresh, path);
}

RunCheckpoint read_checkpoint(const std::string& path, const std::string& identity) {
    std::ifstream file(path);
    if (!file) throw ModelError(fmt::format("cannot read the checkpoint '{}': {}", path, std::strerror(errno)));
    RunCheckpoint c;
    std::string run;
    try {
        const Json json = Json::parse(file);
        run = json.at("run");
        c.state = read_state(json.at("state"));
        c.work = json.at("work");
        c.start = json.at("start");
        c.energy = read_energy(json.at("energy"));
        c.turn = {json.at("turn").at("body"), json.at("turn").at("angle"), json.at("turn").at("step")};
        c.recorded = json.at("recorded");
        c.so_far.table.columns = json.at("columns").get<std::vector<std::string>>();
        c.so_far.table.values = list(json.at("values"));
        c.so_far.summary = read_summary(json.at("summary"));
    } catch (const std::exception& error) {
        throw ModelError(fmt::format("'{}' is not a whole checkpoint: {}", path, error.what()));
    }
    if (run != identity)
        throw ModelError(fmt::format(
            "the checkpoint '{}' belongs to another run: the model, the step or a setting has changed", path));
    return c;
}

}  // namespace limber::app
