// limber equilibrium: where a model comes to rest, with all sensors there.

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "common.hpp"
#include "interrupt.hpp"

namespace limber::app {
namespace {

struct EquilibriumArguments {
    ModelArguments model;
    std::string summary = "text";
};

int find(const EquilibriumArguments& arguments) {
    end_on_interrupt();
    const ModelFile file = arguments.model.read();
    const Model& model = file.model;
    SimulationOptions options;
    options.coordinates = arguments.model.coordinates.empty() ? "relative" : arguments.model.coordinates;
    options.from_equilibrium = true;
    std::unique_ptr<Simulation> simulation;
    try {
        simulation = std::make_unique<Simulation>(model, options);
    } catch (const ModelError& error) {
        throw ModelError(file.locate(error.what()));
    }
    const EquilibriumReport& report = simulation->equilibrium();
    Observer& observer = simulation->observer();
    // Sensors at rest, whatever velocities the model starts with.
    State state = simulation->state();
    state.v.setZero();
    std::vector<double> values;
    observer.observe(state, 0, values);
    if (arguments.summary == "json") {
        nlohmann::ordered_json json;
        json["iterations"] = report.iterations;
        json["residual"] = report.residual;
        json["sensors"] = nlohmann::ordered_json::object();
        for (std::size_t i = 0; i < values.size(); ++i) json["sensors"][observer.columns()[i]] = values[i];
        fmt::print("{}\n", json.dump(2));
        return ok;
    }
    fmt::print("{}\n", model.title.empty() ? arguments.model.path : model.title);
    fmt::print("  static equilibrium after {} iterations; accelerations of {:.2g} are left\n", report.iterations,
               report.residual);
    if (values.empty()) return ok;
    std::vector<std::vector<std::string>> rows{{"sensor", "value"}};
    for (std::size_t i = 0; i < values.size(); ++i)
        rows.push_back({observer.columns()[i], fmt::format("{:.6g}", values[i])});
    fmt::print("\n{}", format_table(rows));
    return ok;
}

}  // namespace

void add_equilibrium_command(CLI::App& app, int& exit_code) {
    auto arguments = std::make_shared<EquilibriumArguments>();
    CLI::App* command = app.add_subcommand("equilibrium", "Find static equilibrium and show the sensors there");
    arguments->model.add_to(*command, false);
    command->add_option("--summary", arguments->summary, "text (default), or json: one JSON object and nothing else")
        ->type_name("FORM")
        ->check(CLI::IsMember({"text", "json"}));
    command->footer("Example:\n  limber equilibrium examples/iltis/ramp-and-stairs.yaml");
    command->callback([arguments, &exit_code] { exit_code = find(*arguments); });
}

}  // namespace limber::app
