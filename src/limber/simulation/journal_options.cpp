#include "limber/simulation/journal_options.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "limber/model/error.hpp"
#include "limber/simulation/option_table.hpp"

namespace limber {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t largest_whole_number = 1'000'000'000'000'000'000;

[[noreturn]] void refuse(const char* key, const std::string& expected, const Json& found) {
    const std::string text = found.dump(-1, ' ', false, Json::error_handler_t::replace);
    throw ModelError(fmt::format("'{}': expected {}, found {}", key, expected, text.substr(0, 40)));
}

const Json& member(const Json& json, const char* key) {
    const auto it = json.is_object() ? json.find(key) : json.end();
    if (it == json.end()) throw ModelError(fmt::format("'{}' is missing", key));
    return *it;
}

Json encode(const OptionValue& value) {
    return std::visit([](const auto& v) { return Json(v); }, value);
}

// Of the kind that is kept there now.
OptionValue decode(const Json& json, const char* key, const OptionValue& now) {
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_string()) return json.get<std::string>();
    if (json.is_number()) {
        if (std::holds_alternative<double>(now)) return json.get<double>();
        if (json.is_number_unsigned() && json.get<std::uint64_t>() > largest_whole_number)
            refuse(key, "a smaller number", json);
        if (json.is_number_integer()) return json.get<long>();
        return json.get<double>();
    }
    if (!json.is_array() || !std::holds_alternative<JointNumbers>(now)) refuse(key, "a number or a word", json);
    JointNumbers joints;
    for (const Json& item : json) {
        if (!item.is_array() || item.size() != 2 || !item[0].is_string() || !item[1].is_number())
            refuse(key, "pairs of a joint and a number", item);
        joints.emplace_back(item[0], item[1]);
    }
    return joints;
}

template <class Options>
void write_rows(const std::vector<OptionRow<Options>>& rows, const Options& options, Json& json) {
    for (const auto& row : rows) json[row.name] = encode(row.get(options));
}

template <class Options>
void read_rows(const std::vector<OptionRow<Options>>& rows, const Json& json, Options& options) {
    for (const auto& row : rows) row.set(options, decode(member(json, row.name), row.name, row.get(options)));
}

}  // namespace

long read_whole_number(const Json& json, const char* key, long least, long most) {
    const Json& found = member(json, key);
    const std::string expected = fmt::format("a whole number from {} to {}", least, most);
    if (!found.is_number_integer()) refuse(key, expected, found);
    // Of the unsigned ones the largest do not fit.
    if (found.is_number_unsigned() && found.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
        refuse(key, expected, found);
    const auto value = found.get<std::int64_t>();
    if (value < least || value > most) refuse(key, expected, found);
    return value;
}

double read_number(const Json& json, const char* key, double least, double most) {
    const Json& found = member(json, key);
    const double value = found.is_number() ? found.get<double>() : std::nan("");
    if (!(value >= least && value <= most)) refuse(key, fmt::format("a number from {:g} to {:g}", least, most), found);
    return value;
}

Json write_options(const RecordedOptions& options) {
    Json json = Json::object();
    write_rows(simulation_option_rows(), options.simulation, json);
    write_rows(session_option_rows(), options.session, json);
    return json;
}

RecordedOptions read_options(const Json& json) {
    if (!json.is_object()) refuse("options", "settings by name", json);
    RecordedOptions options;
    read_rows(simulation_option_rows(), json, options.simulation);
    read_rows(session_option_rows(), json, options.session);
    return options;
}

}  // namespace limber
