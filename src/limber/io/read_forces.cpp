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

RoadPiece ModelReader::read_road_piece(const YamlNode& node) const {
    const TypeFormat& format = find_type(node, road_formats(), "piece of a road");
    const YamlNode main = node.required(format.name);
    const std::string kind = format.name;
    RoadPiece piece;
    if (kind == "table") {
        piece.kind = RoadPiece::Kind::table;
        piece.table = read_rows(main, node.child("interpolation"));
        return piece;
    }
    if (kind == "height") {
        piece.kind = RoadPiece::Kind::height;
        piece.height = main.number({"x"});
        return piece;
    }
    piece.kind = kind == "bump"     ? RoadPiece::Kind::bump
                 : kind == "ramp"   ? RoadPiece::Kind::ramp
                 : kind == "stairs" ? RoadPiece::Kind::stairs
                                    : RoadPiece::Kind::random;
    main.check_keys(field_names(format.options));
    for (const FieldFormat& field : format.options) {
        const auto child = main.child(field.name);
        if (!child) {
            if (field.is_required) main.fail(fmt::format("'{}' is missing: {}", field.name, field.meaning));
            continue;
        }
        if (field.kind == FieldKind::text) {
            piece.numbers["roughness"] = road_class_roughness(child->choice({"A", "B", "C", "D", "E", "F", "G", "H"}));
        } else {
            piece.numbers[field.name] = child->number();
        }
    }
    return piece;
}

void ModelReader::read_road(const std::string& name, const YamlNode& node) {
    RoadDefinition road;
    road.name = name;
    if (node.is_sequence()) {
        for (const YamlNode& item : node.items("a list of pieces")) road.pieces.push_back(read_road_piece(item));
    } else {
        road.pieces.push_back(read_road_piece(node));
    }
    add(model_.roads, std::move(road), node);
}

void ModelReader::read_force(const std::string& name, const YamlNode& node) {
    const TypeFormat& format = find_type(node, force_formats(), "force");
    Force force(name, make_alternative<ForceType>(static_cast<std::size_t>(&format - force_formats().data())));
    FieldReader reader(*this, node, format.name);
    std::visit([&](auto& type) { type.visit(type, reader); }, force.type);
    add(model_.forces, std::move(force), node);
}

void ModelReader::read_stop(const std::string& name, const YamlNode& node) {
    const TypeFormat& format = find_type(node, stop_formats(), "stop");
    Stop stop(name, make_alternative<StopType>(static_cast<std::size_t>(&format - stop_formats().data())));
    FieldReader reader(*this, node, format.name);
    std::visit([&](auto& type) { type.visit(type, reader); }, stop.type);
    if (const auto* limit = stop.as<Limit>(); limit != nullptr && !limit->minimum && !limit->maximum)
        node.fail("expected 'min', 'max' or both");
    add(model_.stops, std::move(stop), node);
}

// What is asked for is mostly the motion in space, in the body's own axes.
void ModelReader::refuse_motion_in_itself(const Sensor& sensor, const std::string& kind, const YamlNode& node) const {
    const auto body = std::as_const(model_).markers.get(sensor.marker).body;
    if (sensor.quantity == Sensor::Quantity::position ||
        std::as_const(model_).markers.get(sensor.reference).body != body)
        return;
    const std::string& name = std::as_const(model_).bodies.get(body).name;
    node.fail(fmt::format(
        "both are on body '{}', which does not move relative to itself: the {} would be zero; for components in the "
        "body's axes write 'axes: {}' in place of 'relative-to'",
        name, kind, node.text("a marker")));
}

void ModelReader::read_sensor(const std::string& name, const YamlNode& node) {
    using Q = Sensor::Quantity;
    const TypeFormat& format = find_type(node, sensor_formats(), "sensor");
    const YamlNode main = node.required(format.name);
    const std::string kind = format.name;
    // Sensors are variables of expressions and columns of results, as time is; x and v mean something in laws only.
    if (name == "t" || name == "pi" || name == "not")
        node.fail(fmt::format("'{}' has a meaning of its own in expressions{}: give the sensor another name", name,
                              name == "t" ? ", time, and is the first column of results" : ""));
    Sensor sensor;
    sensor.name = name;
    if (kind == "coordinate" || kind == "rate") {
        sensor.quantity = kind == "rate" ? Q::rate : Q::coordinate;
        sensor.scalar = main.text("a joint coordinate");
    } else if (kind == "acceleration" && model_.markers.find(main.text("a marker")).is_null() &&
               model_.bodies.find(main.text("a marker")).is_null() &&
               !model_.joints.find(main.text("a marker").substr(0, main.text("a marker").rfind('.'))).is_null()) {
        sensor.quantity = Q::second_rate;
        sensor.scalar = main.text("a joint coordinate");
        for (const char* key : {"relative-to", "axes"})
            if (const auto child = node.child(key))
                child->fail(fmt::format("a joint coordinate is one number: '{}' would have no effect", key));
    } else if (format.kind == FieldKind::marker) {
        sensor.quantity = kind == "position"           ? Q::position
                          : kind == "velocity"         ? Q::velocity
                          : kind == "acceleration"     ? Q::acceleration
                          : kind == "angular-velocity" ? Q::angular_velocity
                                                       : Q::angular_acceleration;
        sensor.marker = marker(main);
        if (const auto child = node.child("axes")) {
            sensor.axes = marker(*child);
            if (model_.planar && kind.starts_with("angular"))
                child->fail("in the plane there is one component: 'axes' would have no effect");
        }
        if (const auto child = node.child("relative-to")) {
            sensor.reference = marker(*child);
            refuse_motion_in_itself(sensor, kind, *child);
        }
    } else if (kind == "reaction") {
        sensor.quantity = Q::reaction;
        const std::string element = main.text("a joint or a driver");
        sensor.joint = model_.joints.find(element);
        if (sensor.joint.is_null()) {
            if (model_.drivers.find(element).is_null()) {
                std::vector<std::string> names = model_.joints.names();
                for (const auto& driver : model_.drivers.names()) names.push_back(driver);
                main.fail(fmt::format("there is no joint or driver '{}'{}", element, did_you_mean(element, names)));
            }
            sensor.driver = element;
        }
        if (const auto child = node.child("axes")) {
            const std::string axes = child->text("world, marker, or the name of a marker or body");
            sensor.in_marker_axes = axes == "marker";
            if (axes != "world" && axes != "marker") sensor.axes = marker(*child);
        }
    } else if (kind == "contact") {
        sensor.quantity = Q::contact;
        const std::string rule = main.text("a contact");
        sensor.contact = model_.contacts.find(rule);
        if (sensor.contact.is_null())
            main.fail(fmt::format("there is no contact '{}'{}", rule, did_you_mean(rule, model_.contacts.names())));
    } else if (kind == "force") {
        sensor.quantity = Q::force;
        const std::string element = main.text("a force");
        sensor.force = model_.forces.find(element);
        if (sensor.force.is_null())
            main.fail(fmt::format("there is no force '{}'{}", element, did_you_mean(element, model_.forces.names())));
    } else if (kind == "energy") {
        constexpr Q energies[] = {Q::kinetic_energy, Q::potential_energy, Q::work, Q::total_energy, Q::impact_loss};
        sensor.quantity = energies[main.choice({"kinetic", "potential", "work", "total", "impacts"})];
    } else if (kind == "gap" || kind == "contact-force" || kind == "impulse") {
        sensor.quantity = kind == "gap" ? Q::gap : kind == "impulse" ? Q::impulse : Q::contact_force;
        const std::string element = main.text("a stop");
        sensor.stop = model_.stops.find(element);
        if (sensor.stop.is_null())
            main.fail(fmt::format("there is no stop '{}'{}", element, did_you_mean(element, model_.stops.names())));
    } else if (kind == "error") {
        constexpr Q errors[] = {Q::position_error, Q::velocity_error, Q::acceleration_error, Q::relative_error,
                                Q::complementarity_error};
        sensor.quantity = errors[main.choice({"position", "velocity", "acceleration", "relative", "complementarity"})];
    } else {
        sensor.quantity = Q::expression;
        sensor.expression = main.number({}, true);
    }
    add(model_.sensors, std::move(sensor), node);
}

void ModelReader::read_event(const std::string& name, const YamlNode& node) {
    const TypeFormat& format = find_type(node, event_formats(), "event");
    EventRule event;
    event.name = name;
    event.direction = static_cast<EventRule::Direction>(&format - event_formats().data());
    event.condition = node.required(format.name).number({}, true);
    for (const YamlNode& item : node.required("do").items("a list of edits")) {
        try {
            const Edit edit = parse_edit(item.edit_text());
            if (std::holds_alternative<UndoEdit>(edit) || std::holds_alternative<RedoEdit>(edit) ||
                std::holds_alternative<GoToTime>(edit))
                item.fail("an event cannot undo, redo or go to another time");
            event.edits.push_back(format_edit(edit));
        } catch (const ModelError& error) {
            item.fail(error.what());
        }
    }
    if (event.edits.empty()) node.required("do").fail("expected at least one edit");
    if (const auto child = node.child("once")) event.once = child->truth();
    add(model_.events, std::move(event), node);
}

}  // namespace limber
