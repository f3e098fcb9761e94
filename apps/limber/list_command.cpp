// limber list: what there is to choose from.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "common.hpp"
#include "limber/io/edit_text.hpp"
#include "limber/io/format.hpp"
#include "limber/model/error.hpp"

namespace limber::app {
namespace {

void print_types(const std::vector<TypeFormat>& formats) {
    for (const TypeFormat& format : formats) {
        fmt::print("{}{}\n    {}\n", format.name, format.is_spatial_only ? "  (spatial models)" : "", format.meaning);
        for (const FieldFormat& field : format.options)
            fmt::print("      {:<16} {}{}\n", field.name, field.meaning, field.is_required ? " (required)" : "");
    }
}

struct Topic {
    const char* name;
    const char* meaning;
    std::function<void()> print;
};

const std::vector<Topic>& topics() {
    static const std::vector<Topic> list{
        {"formulations", "how the motion can be computed",
         [] {
             for (const auto& f : formulations()) fmt::print("{:<22} {}\n", f.name, f.description);
         }},
        {"integrators", "schemes that advance in time",
         [] {
             for (const auto& i : integrators()) fmt::print("{:<22} {}\n", i.name, i.description);
         }},
        {"coordinates", "sets of coordinates",
         [] {
             for (const auto& name : coordinate_kind_names()) fmt::print("{}\n", name);
         }},
        {"options", "settings of formulations and integrators, for --option NAME=VALUE",
         [] { fmt::print("{}", describe_options()); }},
        {"edits", "changes of a running mechanism, for 'limber play' and events",
         [] { fmt::print("{}", describe_edits()); }},
        {"joints", "joint types with their keys", [] { print_types(joint_formats()); }},
        {"forces", "force types with their keys", [] { print_types(force_formats()); }},
        {"stops", "types of one-sided constraints with their keys", [] { print_types(stop_formats()); }},
        {"contacts", "laws of contact between bodies with their keys", [] { print_types(contact_formats()); }},
        {"shapes", "shapes by which bodies touch, with their keys", [] { print_types(shape_formats()); }},
        {"sensors", "sensor types with their keys", [] { print_types(sensor_formats()); }},
        {"events", "rules by which a mechanism changes itself", [] { print_types(event_formats()); }},
        {"schema", "JSON Schema of model files, for editors", [] { fmt::print("{}\n", make_json_schema()); }},
        {"reference", "all keys of model files, as Markdown", [] { fmt::print("{}", make_markdown_reference()); }},
    };
    return list;
}

}  // namespace

void add_list_command(CLI::App& app, int& exit_code) {
    auto what = std::make_shared<std::string>();
    std::vector<std::string> names;
    std::string help = "one of";
    for (const Topic& topic : topics()) {
        names.emplace_back(topic.name);
        help += fmt::format("\n{:<14} {}", topic.name, topic.meaning);
    }
    CLI::App* command = app.add_subcommand("list", "What there is: formulations, integrators, joints, forces, ...");
    command->add_option("what", *what, help)->required()->type_name("WHAT")->check([names](const std::string& given) {
        if (std::find(names.begin(), names.end(), given) != names.end()) return std::string();
        return fmt::format("there is no list of '{}'{}; known: {}", given, did_you_mean(given, names),
                           fmt::join(names, ", "));
    });
    command->footer("Example:\n  limber list joints");
    command->callback([what, &exit_code] {
        for (const Topic& topic : topics())
            if (*what == topic.name) topic.print();
        exit_code = ok;
    });
}

}  // namespace limber::app
