// The reference of the model file format as Markdown, made from the tables the reader itself uses.

#include <fmt/format.h>

#include <iterator>

#include "limber/io/field_formats.hpp"
#include "limber/model/expression.hpp"

namespace limber {
namespace {

const char* describe(FieldKind kind) {
    switch (kind) {
        case FieldKind::number: return "number";
        case FieldKind::vector: return "vector";
        case FieldKind::numbers: return "list of numbers";
        case FieldKind::text: return "text";
        case FieldKind::marker: return "marker";
        case FieldKind::two_markers: return "[marker, marker]";
        case FieldKind::coordinate: return "coordinate";
        case FieldKind::two_coordinates: return "[coordinate, coordinate]";
        case FieldKind::coordinate_map: return "{coordinate: number, ...}";
        case FieldKind::joint_map: return "{joint: number, ...}";
        case FieldKind::reference: return "name";
        case FieldKind::table: return "[[x, y], ...]";
        case FieldKind::object: return "mapping";
        case FieldKind::truth: return "true or false";
        case FieldKind::place: return "vector or marker";
        case FieldKind::names: return "name or names";
        case FieldKind::two_bodies: return "[body or bodies, body or bodies]";
        case FieldKind::points: return "list of vectors";
        case FieldKind::edits: return "list of edits";
    }
    return "";
}

class MarkdownWriter {
public:
    template <class... Arguments>
    void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
        text_ += '\n';
    }
    void fields(const std::vector<FieldFormat>& fields) {
        line("| key | value | meaning |");
        line("|---|---|---|");
        for (const FieldFormat& field : fields)
            line("| `{}` | {} | {}{} |", field.name, describe(field.kind), field.meaning,
                 field.is_required ? " (required)" : "");
        line("");
    }
    void types(const std::vector<TypeFormat>& formats) {
        for (const TypeFormat& format : formats) {
            line("### {}\n", format.name);
            line("`{}: {}`{}: {}.\n", format.name, describe(format.kind),
                 format.is_spatial_only ? " (spatial models only)" : "", format.meaning);
            if (!format.options.empty()) fields(format.options);
        }
    }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
};

}  // namespace

std::string make_markdown_reference() {
    MarkdownWriter out;
    out.line("# Model file: all keys\n");
    out.line(
        "Made by `limber list reference` from the tables the reader itself uses; `tools/update-docs` refreshes it.");
    out.line("[model-file.md](model-file.md) explains the ideas and shows examples.\n");
    out.line("- **number**: a number, or an expression of parameters (of `t` too, where the meaning says so).");
    out.line("- **vector**: `[x, y, z]`, in planar models `[x, y]`.");
    out.line(
        "- **marker**: `body.marker`, or `body` for the body's own frame; `ground` is the body that does not move.");
    out.line("- **coordinate**: `joint.coordinate`, or the component of a position sensor (`tip.x`).\n");
    out.line("## Top level\n");
    out.fields(top_level_fields());
    out.line("## bodies\n");
    out.fields(body_fields());
    out.line("### Solids\n");
    out.line("A solid without `mass` and `density` is a picture only.\n");
    for (const TypeFormat& solid : solid_formats()) {
        out.line("#### {}\n", solid.name);
        out.line("{}.\n", solid.meaning);
        out.fields(solid.options);
    }
    out.line("### beam\n");
    out.fields(beam_fields());
    for (const TypeFormat& section : section_formats()) {
        out.line("#### {} (section)\n", section.name);
        out.line("{}.\n", section.meaning);
        out.fields(section.options);
    }
    out.line("#### material (of a beam)\n");
    out.fields(beam_material_fields());
    out.line("#### arc (of a beam)\n");
    out.fields(beam_arc_fields());
    out.line("### Shapes\n");
    out.line("Of the list `shapes`, and of `ground` too.\n");
    for (const TypeFormat& shape : shape_formats()) {
        out.line("#### {} (shape)\n", shape.name);
        out.line("{}{}.\n", shape.meaning, shape.is_spatial_only ? " (spatial models only)" : "");
        out.fields(shape.options);
    }
    out.line("### Markers\n");
    out.fields(marker_fields());
    out.line("## joints\n");
    out.line("| joint | coordinates in space | coordinates in the plane |");
    out.line("|---|---|---|");
    for (std::size_t i = 0; i < joint_formats().size(); ++i) {
        const TypeFormat& joint = joint_formats()[i];
        const auto names = [&](bool planar) {
            if (planar && joint.is_spatial_only) return std::string("(not in the plane)");
            const auto list = coordinate_names(make_alternative<JointType>(i), planar);
            return list.empty() ? std::string("-") : fmt::format("{}", fmt::join(list, ", "));
        };
        out.line("| {} | {} | {} |", joint.name, names(false), names(true));
    }
    out.line("");
    out.types(joint_formats());
    out.line("## drivers\n");
    out.fields(driver_fields());
    out.line("## stops\n");
    out.types(stop_formats());
    out.line("## forces\n");
    out.types(force_formats());
    out.line("## contacts\n");
    out.types(contact_formats());
    out.line("## sensors\n");
    out.types(sensor_formats());
    out.line("## events\n");
    out.types(event_formats());
    out.line("## tables\n");
    out.fields(table_fields());
    out.line("## curves\n");
    out.fields(curve_fields());
    out.line("## roads\n");
    out.types(road_formats());
    out.line("### lateral (of a tyre)\n");
    out.fields(lateral_fields());
    out.line("### longitudinal (of a tyre)\n");
    out.fields(longitudinal_fields());
    out.line("## initial\n");
    out.fields(initial_fields());
    out.line("## simulation\n");
    out.fields(simulation_fields());
    out.line("## gravity (where it is a mapping)\n");
    out.fields(orbit_fields());
    out.line("## solve\n");
    out.fields(solve_fields());
    out.line("## components\n");
    out.fields(component_fields());
    out.line("## modular\n");
    out.fields(modular_fields());
    out.line("## Names in expressions\n");
    out.line("`{}`", fmt::join(Expression::builtin_names(), "`, `"));
    return out.take();
}

}  // namespace limber
