#include "common.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "limber/model/evaluation.hpp"

namespace limber::app {

void ModelArguments::add_to(CLI::App& command, bool with_simulation) {
    command.add_option("model", path, "Model file (YAML)")->required()->type_name("MODEL");
    command.add_option("--set", set, "Value of a parameter of the model, in place of the one in the file")
        ->type_name("NAME=VALUE")
        ->take_all();
    command
        .add_option("--coordinates", coordinates,
                    "natural, reference-point or relative (default: what suits the formulation)")
        ->type_name("SET");
    if (with_simulation)
        command.add_option("--option", options, "Setting of formulation or integrator; see 'limber list options'")
            ->type_name("NAME=VALUE")
            ->take_all();
}

std::pair<std::string, std::string> split_assignment(const std::string& text, const char* what) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw ModelError(fmt::format("{}: expected NAME=VALUE, found '{}'", what, text));
    return {text.substr(0, equals), text.substr(equals + 1)};
}

ModelFile ModelArguments::read() const {
    ParameterOverrides overrides;
    for (const std::string& assignment : set) overrides.push_back(split_assignment(assignment, "--set"));
    return read_model_file(path, overrides);
}

double positive_number(const std::string& given, double fallback, const char* name) {
    double value = fallback;
    if (!given.empty()) {
        try {
            value = Expression::parse(given).bind({}).constant();
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("{}: {}", name, error.what()));
        }
    }
    if (!(value > 0) || !std::isfinite(value))
        throw ModelError(fmt::format("{}: expected a positive number, found '{}'", name,
                                     given.empty() ? fmt::format("{}", value) : given));
    return value;
}

SimulationOptions ModelArguments::simulation_options(const Model& model, const std::string& formulation,
                                                     const std::string& integrator) const {
    SimulationOptions result = simulation_options_of(model);
    if (!formulation.empty()) result.formulation = formulation;
    if (!integrator.empty()) result.integrator = integrator;
    if (!coordinates.empty()) result.coordinates = coordinates;
    for (const std::string& option : options) apply_option(option, result);
    return result;
}

std::vector<std::string> ModelArguments::option_names() const {
    std::vector<std::string> names;
    names.reserve(options.size());
    for (const std::string& option : options) names.push_back(split_assignment(option, "--option").first);
    return names;
}

void refuse_idle_options(const std::vector<std::string>& names, const SimulationOptions& options, const Model& model) {
    for (const std::string& name : names)
        if (const std::string reason = explain_no_effect(name, options, model); !reason.empty())
            throw ModelError(reason);
}

void print_warnings(const std::vector<Warning>& warnings) {
    if (warnings.empty()) return;
    fmt::print("\nWarnings\n");
    for (const Warning& warning : warnings) fmt::print("  {}: {}\n", warning.kind, warning.text);
}

nlohmann::ordered_json list_warnings(const std::vector<Warning>& warnings) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Warning& warning : warnings)
        list.push_back({{"kind", warning.kind}, {"text", warning.text}, {"elements", warning.elements}});
    return list;
}

void apply_option(const std::string& assignment, SimulationOptions& options) {
    const auto [name, value] = split_assignment(assignment, "--option");
    set_option(options, name, value);
}

// ---------------------------------------------------------------- terminal

ProgressBar::ProgressBar(double start, double end, bool is_enabled)
    : start_(start), end_(end), is_enabled_(is_enabled && isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
    if (is_enabled_) fmt::print(stderr, "\r\033[K");
}

void ProgressBar::show(double at, const std::string& note) const {
    if (!is_enabled_) return;
    constexpr int width = 40;
    const double part = end_ > start_ ? std::clamp((at - start_) / (end_ - start_), 0.0, 1.0) : 1.0;
    const int filled = static_cast<int>(part * width);
    std::string bar;
    for (int i = 0; i < width; ++i) bar += i < filled ? "█" : "░";
    fmt::print(stderr, "\r\033[K{} {:3.0f} %  {}", bar, 100 * part, note);
    std::fflush(stderr);
}

std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::string& indent) {
    std::vector<std::size_t> width;
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i >= width.size()) width.push_back(0);
            width[i] = std::max(width[i], row[i].size());
        }
    std::string text;
    for (const auto& row : rows) {
        std::string line = indent;
        for (std::size_t i = 0; i < row.size(); ++i) {
            // Words to the left, numbers to the right.
            const bool is_number = !row[i].empty() && (row[i][0] == '-' || (row[i][0] >= '0' && row[i][0] <= '9'));
            const bool number_column = rows.size() > 1 && i < rows[1].size() && !rows[1][i].empty() &&
                                       (rows[1][i][0] == '-' || (rows[1][i][0] >= '0' && rows[1][i][0] <= '9'));
            if (i > 0) line += "  ";
            line += is_number || (number_column && &row == &rows.front()) ? fmt::format("{:>{}}", row[i], width[i])
                                                                          : fmt::format("{:<{}}", row[i], width[i]);
        }
        while (!line.empty() && line.back() == ' ') line.pop_back();
        text += line + "\n";
    }
    return text;
}

std::shared_ptr<Exchange>& process_exchange() {
    static std::shared_ptr<Exchange> exchange;
    return exchange;
}

}  // namespace limber::app
