// limber equilibrium: where a model comes to rest, with all sensors there; or its equilibria over a load.

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "common.hpp"
#include "interrupt.hpp"
#include "limber/io/results.hpp"
#include "limber/simulation/equilibrium_path.hpp"
#include "output_files.hpp"

namespace limber::app {
namespace {

struct EquilibriumArguments {
    ModelArguments model;
    std::string summary = "text";
    bool is_nearest = false;
    std::string path, output;
};

// Iterations are not known in advance: a line that counts them.
StaticProgress show_progress() {
    auto bar = std::make_shared<ProgressBar>(0, 1, true);
    return [bar](int iterations, double unbalance) {
        if (iterations % 10 == 0)
            bar->show(0, fmt::format("{} iterations, accelerations of {:.2g} left", iterations, unbalance));
    };
}

SimulationOptions options_of(const EquilibriumArguments& arguments) {
    SimulationOptions options;
    options.coordinates = arguments.model.coordinates.empty() ? "relative" : arguments.model.coordinates;
    options.from_equilibrium = true;
    return options;
}

std::string describe_stability(const EquilibriumReport& report) {
    if (report.unstable > 0)
        return fmt::format("UNSTABLE: {} {} when disturbed, the fastest by exp({:.4g} t); body '{}' moves most in it",
                           report.unstable, report.unstable == 1 ? "direction grows" : "directions grow", report.growth,
                           report.unstable_body);
    if (report.unstable < 0)
        return "whether it is stable is not known: the forces met beside it are not those that its stiffness promises "
               "(contact, friction, or a singular position of the joints)";
    if (report.neutral > 0)
        return fmt::format("stable but for {} {} that nothing pulls back", report.neutral,
                           report.neutral == 1 ? "direction" : "directions");
    return "stable";
}

const char* stability_word(const EquilibriumReport& report) {
    return report.unstable > 0   ? "unstable"
           : report.unstable < 0 ? "unknown"
           : report.neutral > 0  ? "neutral"
                                 : "stable";
}

int find(const EquilibriumArguments& arguments, const ModelFile& file) {
    const Model& model = file.model;
    EquilibriumRequest request;
    request.is_nearest = arguments.is_nearest;
    request.progress = show_progress();
    std::unique_ptr<Simulation> simulation;
    try {
        simulation = std::make_unique<Simulation>(model, options_of(arguments), request);
    } catch (const ModelError& error) {
        throw ModelError(file.locate(error.what()));
    }
    request.progress = {};
    const EquilibriumReport& report = simulation->equilibrium();
    Observer& observer = simulation->observer();
    // Sensors at rest, whatever velocities the model starts with.
    State state = simulation->state();
    state.v.setZero();
    std::vector<double> values;
    observer.observe(state, 0, values);
    if (arguments.summary == "json") {
        nlohmann::ordered_json json;
        json["method"] = equilibrium_method_name(report.method);
        json["iterations"] = report.iterations;
        json["residual"] = report.residual;
        json["stability"] = stability_word(report);
        if (report.unstable >= 0) json["unstable_directions"] = report.unstable;
        json["neutral_directions"] = report.neutral;
        json["growth"] = report.growth;
        if (report.unstable > 0) json["unstable_body"] = report.unstable_body;
        json["sensors"] = nlohmann::ordered_json::object();
        for (std::size_t i = 0; i < values.size(); ++i) json["sensors"][observer.columns()[i]] = values[i];
        fmt::print("{}\n", json.dump(2));
        return ok;
    }
    fmt::print("{}\n", model.title.empty() ? arguments.model.path : model.title);
    fmt::print("  static equilibrium after {} iterations ({}); accelerations of {:.2g} are left\n  {}\n",
               report.iterations, equilibrium_method_name(report.method), report.residual, describe_stability(report));
    if (values.empty()) return ok;
    std::vector<std::vector<std::string>> rows{{"sensor", "value"}};
    for (std::size_t i = 0; i < values.size(); ++i)
        rows.push_back({observer.columns()[i], fmt::format("{:.6g}", values[i])});
    fmt::print("\n{}", format_table(rows));
    return ok;
}

// ---------------------------------------------------------------- over a load

struct LoadRange {
    std::string name;
    double from = 0, to = 1;
};

LoadRange parse_range(const std::string& text) {
    LoadRange range;
    std::string ends;
    std::tie(range.name, ends) = split_assignment(text, "--path");
    const auto colon = ends.find(':');
    const auto number = [&](const std::string& word) {
        std::size_t read = 0;
        double value = 0;
        try {
            value = std::stod(word, &read);
        } catch (const std::exception&) {
            read = 0;
        }
        if (read == 0 || read != word.size() || !std::isfinite(value))
            throw ModelError(fmt::format("--path: expected NAME=FROM:TO with two numbers, found '{}'", text));
        return value;
    };
    if (colon == std::string::npos) number("");
    range.from = number(ends.substr(0, colon));
    range.to = number(ends.substr(colon + 1));
    if (range.from == range.to) throw ModelError(fmt::format("--path: '{}' goes nowhere", text));
    return range;
}

ResultTable table_of(const EquilibriumPath& path, const LoadRange& range) {
    ResultTable table;
    table.columns = {range.name, "unstable", "limit"};
    table.columns.insert(table.columns.end(), path.columns.begin(), path.columns.end());
    for (const EquilibriumPathPoint& point : path.points) {
        table.values.insert(table.values.end(),
                            {point.value, static_cast<double>(point.unstable), point.is_limit ? 1.0 : 0.0});
        table.values.insert(table.values.end(), point.sensors.begin(), point.sensors.end());
    }
    return table;
}

void print_path(const EquilibriumPath& path, const LoadRange& range) {
    std::vector<std::vector<std::string>> rows{{range.name, "", "stability"}};
    rows.front().insert(rows.front().end(), path.columns.begin(), path.columns.end());
    for (std::size_t i = 0; i < path.points.size(); ++i) {
        const EquilibriumPathPoint& point = path.points[i];
        const bool is_end = i == 0 || i + 1 == path.points.size();
        if (!is_end && !point.is_limit) continue;
        rows.push_back({fmt::format("{:.8g}", point.value),
                        point.is_limit ? "limit point"
                        : i == 0       ? "start"
                                       : "end",
                        point.is_limit        ? "critical"
                        : point.unstable == 0 ? "stable"
                                              : fmt::format("{} unstable", point.unstable)});
        for (const double value : point.sensors) rows.back().push_back(fmt::format("{:.6g}", value));
    }
    fmt::print("\n{}", format_table(rows));
}

int follow(const EquilibriumArguments& arguments, const ModelFile& file) {
    const LoadRange range = parse_range(arguments.path);
    OutputFiles files;
    if (!arguments.output.empty()) {
        results_format(arguments.output);  // throws
        files.try_out(arguments.output);
    }
    const auto model_at = [&](double value) {
        ModelArguments with_load = arguments.model;
        with_load.set.push_back(fmt::format("{}={:.17g}", range.name, value));
        return with_load.read().model;
    };
    EquilibriumPath path;
    try {
        path = follow_equilibria(model_at, range.from, range.to, options_of(arguments), show_progress());
    } catch (const ModelError& error) {
        throw ModelError(file.locate(error.what()));
    }
    const std::string title = file.model.title.empty() ? arguments.model.path : file.model.title;
    if (!arguments.output.empty())
        files.write(arguments.output, encode_results(table_of(path, range), results_format(arguments.output), title));
    if (arguments.summary == "json") {
        nlohmann::ordered_json json;
        json["ended"] = path.has_arrived ? "done" : "failed";
        if (!path.has_arrived) json["failure"] = path.reason;
        json["iterations"] = path.iterations;
        json["points"] = nlohmann::ordered_json::array();
        for (const EquilibriumPathPoint& point : path.points) {
            nlohmann::ordered_json entry{
                {range.name, point.value}, {"unstable_directions", point.unstable}, {"limit", point.is_limit}};
            entry["sensors"] = nlohmann::ordered_json::object();
            for (std::size_t i = 0; i < point.sensors.size(); ++i) entry["sensors"][path.columns[i]] = point.sensors[i];
            json["points"].push_back(std::move(entry));
        }
        fmt::print("{}\n", json.dump(2));
    } else {
        fmt::print("{}\n  {} equilibria over {} in {} iterations\n", title, path.points.size(), range.name,
                   path.iterations);
        print_path(path, range);
        if (!arguments.output.empty()) fmt::print("\n  results: {}\n", arguments.output);
    }
    if (!path.has_arrived) fmt::print(stderr, "error: {}\n", path.reason);
    return path.has_arrived ? files.is_any_missing() ? bad_input : ok : solver_failed;
}

int run_command(const EquilibriumArguments& arguments) {
    end_on_interrupt();
    if (arguments.path.empty() && !arguments.output.empty())
        throw ModelError("--output does nothing without --path; the sensors of one equilibrium are printed");
    if (!arguments.path.empty() && arguments.is_nearest)
        throw ModelError("--nearest does nothing with --path, which begins at a stable equilibrium and follows it");
    const ModelFile file = arguments.model.read();
    return arguments.path.empty() ? find(arguments, file) : follow(arguments, file);
}

}  // namespace

void add_equilibrium_command(CLI::App& app, int& exit_code) {
    auto arguments = std::make_shared<EquilibriumArguments>();
    CLI::App* command = app.add_subcommand("equilibrium", "Find static equilibrium and show the sensors there");
    arguments->model.add_to(*command, false);
    command->add_flag("--nearest", arguments->is_nearest,
                      "The equilibrium to which the model goes when it is let go bit by bit, stable or not (default: "
                      "downhill to a stable one)");
    command
        ->add_option("--path", arguments->path,
                     "Follow the equilibria while a parameter, a load, goes from one value to another: P=0:10")
        ->type_name("NAME=FROM:TO");
    command->add_option("--output", arguments->output, "With --path: write all points to a .csv or .h5 file")
        ->type_name("FILE");
    command->add_option("--summary", arguments->summary, "text (default), or json: one JSON object and nothing else")
        ->type_name("FORM")
        ->check(CLI::IsMember({"text", "json"}));
    command->footer(
        "Examples:\n"
        "  limber equilibrium examples/iltis/ramp-and-stairs.yaml\n"
        "  limber equilibrium examples/statics/truss.yaml --path P=0:60 --output truss.csv");
    command->callback([arguments, &exit_code] { exit_code = run_command(*arguments); });
}

}  // namespace limber::app
