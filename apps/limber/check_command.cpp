// limber check: what a model is, what is free to move, what is redundant, what looks wrong.

#include <fmt/format.h>

#include <memory>

#include "common.hpp"
#include "interrupt.hpp"
#include "limber/simulation/model_sizes.hpp"

namespace limber::app {
namespace {

std::string count(std::size_t number, const char* one, const char* many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
}

struct CheckArguments {
    ModelArguments model;
    std::string summary = "text";
};

std::string json_summary(const Simulation& simulation, const MobilityReport& mobility,
                         const std::vector<Warning>& warnings) {
    const Model& model = simulation.model();
    const System& system = simulation.system();
    nlohmann::ordered_json json;
    json["title"] = model.title;
    json["planar"] = model.planar;
    json["bodies"] = mobility.bodies;
    json["joints"] = model.joints.size();
    json["drivers"] = model.drivers.size();
    json["forces"] = model.forces.size();
    json["sensors"] = model.sensors.size();
    json["freedoms"] = mobility.freedoms;
    json["counted_freedoms"] = mobility.counted_freedoms;
    json["redundant"] = mobility.redundant;
    json["redundant_elements"] = mobility.redundant_elements;
    json["coordinates"] = {
        {"kind", system.coordinates_name()}, {"unknowns", system.size()}, {"equations", system.rows()}};
    const ModelSizes sizes = count_model_sizes(model);
    json["sizes"] = {{"chain", {{"coordinates", sizes.chain_coordinates}, {"unknowns", sizes.chain_unknowns}}},
                     {"bodies", {{"coordinates", sizes.body_coordinates}, {"unknowns", sizes.body_unknowns}}},
                     {"particles",
                      {{"points", sizes.particles},
                       {"coordinates", sizes.particle_coordinates},
                       {"unknowns", sizes.particle_unknowns}}}};
    json["warnings"] = list_warnings(warnings);
    return json.dump(2);
}

int check_model(const CheckArguments& given) {
    const ModelArguments& arguments = given.model;
    end_on_interrupt();
    const ModelFile file = arguments.read();
    const Model& model = file.model;
    // As a run would start, but undivided.
    SimulationOptions options = arguments.simulation_options(model, "", "");
    options.modular = {};
    // Other coordinates than those of the file's formulation can be looked at, too.
    const std::string& own = find_formulation(options.formulation).coordinates;
    if (!arguments.coordinates.empty() && !own.empty() && own != arguments.coordinates)
        options.formulation = SimulationOptions{}.formulation;
    std::unique_ptr<Simulation> simulation;
    try {
        simulation = std::make_unique<Simulation>(model, options);
    } catch (const ModelError& error) {
        throw ModelError(file.locate(error.what()));
    }
    const MobilityReport mobility = simulation->compute_mobility();
    const std::vector<Warning> warnings = find_warnings(*simulation, simulation->observer(), &mobility);
    if (given.summary == "json") {
        fmt::print("{}\n", json_summary(*simulation, mobility, warnings));
        return ok;
    }
    const System& system = simulation->system();
    fmt::print("{}\n", model.title.empty() ? arguments.path : model.title);
    const auto bodies = static_cast<std::size_t>(mobility.bodies);
    fmt::print("  {} model: {}, {}, {}, {}, {}\n", model.planar ? "planar" : "spatial", count(bodies, "body", "bodies"),
               count(model.joints.size(), "joint", "joints"), count(model.drivers.size(), "driver", "drivers"),
               count(model.forces.size(), "force", "forces"), count(model.sensors.size(), "sensor", "sensors"));
    fmt::print("\nMobility\n");
    fmt::print("  {} ({} by counting equations)\n",
               count(static_cast<std::size_t>(mobility.freedoms), "degree of freedom", "degrees of freedom"),
               mobility.counted_freedoms);
    if (mobility.freedoms == 0 && model.drivers.size() > 0) fmt::print("  the drivers prescribe the whole motion\n");
    if (mobility.redundant == 0) {
        fmt::print("  no redundant constraints: all joint reactions are unique\n");
    } else {
        fmt::print("  {} of {}; the reactions of these joints are not unique (the smallest are reported):\n",
                   count(static_cast<std::size_t>(mobility.redundant), "redundant constraint equation",
                         "redundant constraint equations"),
                   mobility.rows);
        for (const std::string& name : mobility.redundant_elements) fmt::print("    {}\n", name);
    }
    fmt::print("\nCoordinates ({})\n", system.coordinates_name());
    fmt::print("  {} unknowns, {} constraint equations{}\n", system.size(), system.rows(),
               system.rows() > system.holonomic_rows()
                   ? fmt::format(", {} of them on velocities", system.rows() - system.holonomic_rows())
                   : "");
    const auto& notes = system.coordinate_notes();
    constexpr std::size_t most = 12;
    for (std::size_t i = 0; i < std::min(most, notes.size()); ++i) fmt::print("  {}\n", notes[i]);
    if (notes.size() > most) fmt::print("  ... and {} more\n", notes.size() - most);
    const ModelSizes sizes = count_model_sizes(model);
    fmt::print("\nSizes: coordinates, and unknowns with reactions or multipliers (without drivers)\n");
    fmt::print("  as a chain of joints {} / {}, as bodies {} / {}, as {} particles {} / {}\n", sizes.chain_coordinates,
               sizes.chain_unknowns, sizes.body_coordinates, sizes.body_unknowns, sizes.particles,
               sizes.particle_coordinates, sizes.particle_unknowns);
    // Redundant joints are above.
    std::vector<Warning> others = warnings;
    std::erase_if(others, [](const Warning& warning) { return warning.kind == "redundant"; });
    print_warnings(others);
    return ok;
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
    auto arguments = std::make_shared<CheckArguments>();
    CLI::App* command =
        app.add_subcommand("check", "Degrees of freedom, redundancy, coordinates and warnings of a model");
    arguments->model.add_to(*command, false);
    command->add_option("--summary", arguments->summary, "text (default), or json: one JSON object and nothing else")
        ->type_name("FORM")
        ->check(CLI::IsMember({"text", "json"}));
    command->footer("Example:\n  limber check examples/loops/bricard.yaml");
    command->callback([arguments, &exit_code] { exit_code = check_model(*arguments); });
}

}  // namespace limber::app
