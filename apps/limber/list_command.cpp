// limber list: what there is to choose from.

#include <fmt/format.h>

#include <memory>

#include "common.hpp"
#include "limber/io/format.hpp"

namespace limber::app {
namespace {

template <class Format>
void print_types(const std::vector<Format>& formats) {
    for (const Format& format : formats) {
        fmt::print("{}{}\n    {}\n", format.name, format.is_spatial_only ? "  (spatial models)" : "", format.meaning);
        for (const FieldFormat& field : format.options)
            fmt::print("      {:<16} {}{}\n", field.name, field.meaning, field.is_required ? " (required)" : "");
    }
}

void list(const std::string& what) {
    if (what == "formulations") {
        for (const auto& f : formulations()) fmt::print("{:<22} {}\n", f.name, f.description);
    } else if (what == "integrators") {
        for (const auto& i : integrators()) fmt::print("{:<22} {}\n", i.name, i.description);
    } else if (what == "coordinates") {
        for (const auto& name : coordinate_kind_names()) fmt::print("{}\n", name);
    } else if (what == "joints") {
        print_types(joint_formats());
    } else if (what == "forces") {
        print_types(force_formats());
    } else if (what == "sensors") {
        print_types(sensor_formats());
    } else {
        fmt::print("{}\n", make_json_schema());
    }
}

}  // namespace

void add_list_command(CLI::App& app, int& exit_code) {
    auto what = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand(
        "list", "What there is: formulations, integrators, coordinates, joints, forces, sensors, schema");
    command
        ->add_option("what", *what,
                     "formulations, integrators, coordinates, joints, forces, sensors, or schema (JSON Schema of "
                     "model files)")
        ->required()
        ->type_name("WHAT")
        ->check(CLI::IsMember({"formulations", "integrators", "coordinates", "joints", "forces", "sensors", "schema"}));
    command->callback([what, &exit_code] {
        list(*what);
        exit_code = ok;
    });
}

}  // namespace limber::app
