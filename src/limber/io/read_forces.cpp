// Forces, stops, sensors and events.

#include <fmt/format.h>

#include <tuple>
#include <variant>

#include "limber/io/edit_text.hpp"
#include "limber/io/field_reader.hpp"
#include "limber/io/model_reader.hpp"

namespace limber {

ScalarLaw ModelReader::read_law(const YamlNode& node) const {
    ScalarLaw law;
    const auto expression = node.child("law");
    const auto polynomial = node.child("polynomial");
    const auto stiffness = node.child("stiffness");
    const auto table = node.child("table");
    const int given = (expression ? 1 : 0) + (polynomial ? 1 : 0) + (stiffness ? 1 : 0) + (table ? 1 : 0);
    if (given > 1) node.fail("give one of 'stiffness', 'polynomial', 'table' and 'law'");
    if (stiffness) law.stiffness = stiffness->number({"t"});
    if (polynomial) {
        law.kind = ScalarLaw::Kind::polynomial;
        law.coefficients = polynomial->numbers();
        if (law.coefficients.empty()) polynomial->fail("expected at least one coefficient");
    }
    law.table = read_inline_table(node);
    if (law.table) law.kind = ScalarLaw::Kind::table;
    if (expression) {
        law.kind = ScalarLaw::Kind::expression;
        law.expression = expression->number({}, true);
    }
    if (const auto child = node.child("damping")) law.damping = child->number({"t"});
    if (const auto child = node.child("preload")) law.preload = child->number({"t"});
    if (given == 0 && !node.child("damping") && !node.child("preload"))
        node.fail("expected 'stiffness', 'polynomial', 'table', 'law', 'damping' or 'preload'");
    return law;
}

void ModelReader::read_road(const std::string& name, const YamlNode& node) {
    RoadDefinition road{.name = name};
    for (const YamlNode& item : node.is_sequence() ? node.items("a list of pieces") : std::vector<YamlNode>{node})
        road.pieces.push_back(read_type<RoadPiece>(item, road_formats(), "piece of a road"));
    add(model_.roads, std::move(road), node);
}

void ModelReader::read_force(const std::string& name, const YamlNode& node) {
    add(model_.forces, read_typed<Force>(name, node, force_formats()), node);
}

void ModelReader::read_stop(const std::string& name, const YamlNode& node) {
    Stop stop = read_typed<Stop>(name, node, stop_formats());
    if (const auto* limit = stop.as<Limit>(); limit != nullptr && !limit->minimum && !limit->maximum)
        node.fail("expected 'min', 'max' or both");
    add(model_.stops, std::move(stop), node);
}

// Of what shows the motion of a marker, what would have no effect, or would be zero.
void ModelReader::check_view(const Sensor& sensor, const YamlNode& node) const {
    const std::string kind = sensor.note().name;
    const auto relative = node.child("relative-to");
    const auto axes = node.child("axes");
    for (const char* key : {"relative-to", "axes"})
        if (const auto child = node.child(key); child && sensor.coordinate() != nullptr)
            child->fail(fmt::format("a joint coordinate is one number: '{}' would have no effect", key));
    if (axes && model_.planar && kind.starts_with("angular"))
        axes->fail("in the plane there is one component: 'axes' would have no effect");
    if (!relative || sensor.as<Position>() != nullptr || sensor.as<OrientationSensor>() != nullptr) return;
    const auto body_of = [&](MarkerHandle handle) { return std::as_const(model_).markers.get(handle).body; };
    const BodyHandle body = body_of(ends_of(sensor).b);
    if (body_of(marker(*relative)) != body) return;
    // What is asked for is mostly the motion in space, in the body's own axes.
    relative->fail(fmt::format(
        "both are on body '{}', which does not move relative to itself: the {} would be zero; for components in the "
        "body's axes write 'axes: {}' in place of 'relative-to'",
        std::as_const(model_).bodies.get(body).name, kind, relative->text("a marker")));
}

void ModelReader::read_sensor(const std::string& name, const YamlNode& node) {
    Sensor sensor = read_typed<Sensor>(name, node, sensor_formats());
    // Sensors are variables of expressions and columns of results, as time is; x and v mean something in laws only.
    if (name == "t" || name == "pi" || name == "not")
        node.fail(fmt::format("'{}' has a meaning of its own in expressions{}: give the sensor another name", name,
                              name == "t" ? ", time, and is the first column of results" : ""));
    check_view(sensor, node);
    add(model_.sensors, std::move(sensor), node);
}

void ModelReader::read_event(const std::string& name, const YamlNode& node) {
    add(model_.events, read_typed<EventRule>(name, node, event_formats()), node);
}

EditLines ModelReader::read_edits(const YamlNode& node) {
    EditLines edits;
    for (const YamlNode& item : node.items("a list of edits")) {
        try {
            const Edit edit = parse_edit(item.edit_text());
            if (std::holds_alternative<UndoEdit>(edit) || std::holds_alternative<RedoEdit>(edit) ||
                std::holds_alternative<GoToTime>(edit))
                item.fail("an event cannot undo, redo or go to another time");
            edits.lines.push_back(format_edit(edit));
        } catch (const ModelError& error) {
            item.fail(error.what());
        }
    }
    if (edits.lines.empty()) node.fail("expected at least one edit");
    return edits;
}

}  // namespace limber
