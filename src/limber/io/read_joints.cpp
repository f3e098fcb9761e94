// Joints and drivers.

#include <fmt/format.h>

#include <algorithm>

#include "limber/io/marker_origin.hpp"
#include "limber/io/model_reader.hpp"

namespace limber {

// With 'at', 'axis' or 'x' the joint gets markers of its own on both bodies; otherwise it uses the markers given.
MarkerHandle ModelReader::placed_marker(MarkerHandle given, const std::string& name, const YamlNode& node) {
    const auto at = node.child("at");
    const auto axis = node.child("axis");
    const auto x = node.child("x");
    Placement placement;
    if (model_.planar) {
        if (axis && x) x->fail("in the plane 'axis' is the direction of x: give one of them");
        if (const auto& direction = axis ? axis : x) {
            const Number3 d = direction->vector(true);
            placement.orientation = {Orientation::Kind::axes, {0.0, 0.0, 1.0, d[0], d[1], 0.0}};
        }
    } else if (axis) {
        const Number3 z = axis->vector(false);
        placement.orientation = {Orientation::Kind::axes, {z[0], z[1], z[2]}};
        if (x) {
            const Number3 d = x->vector(false);
            placement.orientation.values.insert(placement.orientation.values.end(), d.begin(), d.end());
        }
    } else if (x) {
        x->fail("'x' goes with 'axis'");
    }
    Marker marker;
    marker.body = std::as_const(model_).markers.get(given).body;
    marker.name = std::as_const(model_).bodies.get(marker.body).name + "." + name;
    const auto is_taken = [&] {
        const MarkerHandle other = model_.markers.find(marker.name);
        return !other.is_null() &&
               std::find(reread_markers_.begin(), reread_markers_.end(), other) == reread_markers_.end();
    };
    if (is_taken()) marker.name += "_joint";
    if (is_taken()) node.fail(fmt::format("marker '{}' exists already", marker.name));
    if (at) {
        marker.place = Marker::Kind::world;
        if (at->is_scalar()) {
            marker.base = this->marker(*at);
        } else {
            placement.position = at->vector(model_.planar);
        }
    } else {
        marker.place = Marker::Kind::turned;
        marker.base = given;
    }
    marker.placement = std::move(placement);
    return store_marker(std::move(marker), node);
}

void ModelReader::place_joint(Joint& joint, const YamlNode& node) {
    if (!node.child("at") && !node.child("axis") && !node.child("x")) return;
    joint.a = placed_marker(joint.a, joint.name, node);
    joint.b = placed_marker(joint.b, joint.name, node);
}

std::vector<ScalarTerm> ModelReader::read_terms(const YamlNode& node, bool free) const {
    std::vector<ScalarTerm> terms;
    for (const auto& [scalar, value] : node.entries("{coordinate: coefficient}"))
        terms.push_back({scalar, value.number({}, free)});
    if (terms.empty()) node.fail("expected at least one {coordinate: coefficient}");
    return terms;
}

void ModelReader::read_joint(const std::string& name, const YamlNode& node) {
    const JointFormat& format = find_type(node, joint_formats(), "joint");
    const YamlNode main = *node.child(format.name);
    Joint joint;
    joint.name = name;
    joint.type = format.type;
    reread_markers_.clear();
    if (is_replacing_) {
        const Joint& old = std::as_const(model_).joints.get(model_.joints.find(name));
        if (has_own_markers(model_, old)) reread_markers_ = {old.a, old.b};
    }
    switch (format.kind) {
        case FieldKind::two_markers:
            std::tie(joint.a, joint.b) = two_markers(main);
            place_joint(joint, node);
            break;
        case FieldKind::two_coordinates: {
            const auto list = main.items("two joint coordinates [first, second]");
            if (list.size() != 2) main.fail(fmt::format("expected two joint coordinates, found {}", list.size()));
            for (const YamlNode& item : list) joint.terms.push_back({item.text("a joint coordinate"), Number(1.0)});
            break;
        }
        default: joint.terms = read_terms(main, joint.type == JointType::velocity); break;
    }
    if (const auto child = node.child("length")) joint.length = child->number();
    if (const auto child = node.child("pitch")) joint.pitch = child->number();
    if (const auto child = node.child("radius")) joint.radius = child->number();
    if (const auto child = node.child("ratio")) joint.ratio = child->number();
    if (const auto child = node.child("pressure-angle")) joint.pressure_angle = child->number();
    if (format.kind == FieldKind::two_coordinates)
        if (const auto child = node.child("at")) joint.mesh = child->vector(model_.planar);
    if (const auto child = node.child("offset")) joint.offset = child->number();
    if (const auto child = node.child("equals")) joint.offset = child->number({}, true);
    if (const auto child = node.child("cut")) joint.is_cut = child->truth();
    if (const auto child = node.child("disabled")) joint.is_disabled = child->truth();
    if (const auto child = node.child("closing")) joint.closing = child->numbers();
    if (const auto child = node.child("curve")) {
        const std::string curve = child->text("the name of a curve");
        joint.curve = model_.curves.find(curve);
        if (joint.curve.is_null())
            child->fail(fmt::format("there is no curve '{}'{}", curve, did_you_mean(curve, model_.curves.names())));
    }
    add(model_.joints, std::move(joint), node);
}

std::optional<TableDefinition> ModelReader::read_inline_table(const YamlNode& node) const {
    const auto rows = node.child("table");
    if (!rows) {
        if (const auto interpolation = node.child("interpolation"))
            interpolation->fail("'interpolation' goes with 'table'");
        return std::nullopt;
    }
    return read_rows(*rows, node.child("interpolation"));
}

TimeLaw ModelReader::read_time_law(const YamlNode& node, const char* key) const {
    TimeLaw law;
    law.table = read_inline_table(node);
    const auto expression = node.child(key);
    if (law.table && expression) expression->fail(fmt::format("give '{}' or 'table', not both", key));
    if (!law.table && !expression) node.fail(fmt::format("'{}' (an expression of t) or 'table' is missing", key));
    if (expression) law.expression = expression->number({"t"});
    return law;
}

void ModelReader::read_driver(const std::string& name, const YamlNode& node) {
    node.check_keys(field_names(driver_fields()));
    Driver driver;
    driver.name = name;
    const auto coordinate = node.child("coordinate");
    const auto on = node.child("marker");
    if (!coordinate == !on) node.fail("expected either 'coordinate' or 'marker' with 'component'");
    if (coordinate) {
        driver.target = coordinate->text("a joint coordinate");
        for (const char* key : {"component", "relative-to"})
            if (const auto child = node.child(key)) child->fail(fmt::format("'{}' goes with 'marker'", key));
    } else {
        MarkerComponent component;
        component.marker = marker(*on);
        const auto axis = node.child("component");
        if (!axis) node.fail("'component' is missing: x, y or z");
        component.axis = model_.planar ? axis->choice({"x", "y"}) : axis->choice({"x", "y", "z"});
        if (const auto reference = node.child("relative-to")) component.reference = marker(*reference);
        driver.target = component;
    }
    driver.law = read_time_law(node, "follows");
    add(model_.drivers, std::move(driver), node);
}

}  // namespace limber
