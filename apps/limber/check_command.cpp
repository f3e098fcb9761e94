// limber check: what a model is, what is free to move, what is redundant, what looks wrong.

#include <fmt/format.h>

#include <memory>

#include "common.hpp"

namespace limber::app {
namespace {

std::string count(std::size_t number, const char* one, const char* many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
}

// Things that are legal but deserve a look.
std::vector<std::string> find_warnings(const Model& model, const Simulation& simulation,
                                       const MobilityReport& mobility) {
    std::vector<std::string> warnings = simulation.notes();
    const AssemblyReport& assembly = simulation.assembly();
    const double scale = simulation.system().length_scale();
    if (assembly.largest_move > 1e-6 * scale)
        warnings.push_back(
            fmt::format("the start had to be assembled: a body moved by {:.3g} m", assembly.largest_move));
    if (simulation.velocity_start().energy_lost > 1e-9)
        warnings.push_back(fmt::format("the velocities at the start were not consistent: {:.3g} J taken out",
                                       simulation.velocity_start().energy_lost));
    if (mobility.singular_start)
        warnings.emplace_back("the mechanism starts at a dead point: more can move there than elsewhere");
    if (mobility.freedoms == 0 && mobility.bodies > 0 && model.drivers.size() == 0)
        warnings.emplace_back("nothing can move");
    std::vector<bool> is_used(model.bodies.slot_count(), false);
    const auto note_bodies = [&](const auto& table) {
        for (const auto handle : table.handles())
            for (const MarkerHandle marker : {table.get(handle).a, table.get(handle).b})
                if (!marker.is_null()) is_used[model.markers.get(marker).body.index] = true;
    };
    note_bodies(model.joints);
    note_bodies(model.forces);
    note_bodies(model.stops);
    for (const auto handle : model.bodies.handles())
        if (handle != model.ground() && !is_used[handle.index])
            warnings.push_back(fmt::format("nothing is attached to body '{}'", model.bodies.get(handle).name));
    return warnings;
}

int check_model(const ModelArguments& arguments) {
    const ModelFile file = arguments.read();
    const Model& model = file.model;
    SimulationOptions options;
    if (!arguments.coordinates.empty()) options.coordinates = arguments.coordinates;
    options.from_equilibrium = model.simulation.from_equilibrium;
    if (!model.simulation.integrator.empty()) options.integrator = model.simulation.integrator;
    std::unique_ptr<Simulation> simulation;
    try {
        simulation = std::make_unique<Simulation>(model, options);
    } catch (const ModelError& error) {
        throw ModelError(file.locate(error.what()));
    }
    const MobilityReport mobility = simulation->compute_mobility();
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
    const std::vector<std::string> warnings = find_warnings(model, *simulation, mobility);
    if (!warnings.empty()) fmt::print("\nWarnings\n");
    for (const std::string& warning : warnings) fmt::print("  {}\n", warning);
    return ok;
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
    auto arguments = std::make_shared<ModelArguments>();
    CLI::App* command =
        app.add_subcommand("check", "Degrees of freedom, redundancy, coordinates and warnings of a model");
    arguments->add_to(*command, false);
    command->footer("Example:\n  limber check examples/loops/bricard.yaml");
    command->callback([arguments, &exit_code] { exit_code = check_model(*arguments); });
}

}  // namespace limber::app
