// Joints and drivers.

#include <fmt/format.h>

#include <algorithm>

#include "limber/io/field_reader.hpp"
#include "limber/io/marker_origin.hpp"

namespace limber {

JointPlace ModelReader::read_joint_place(const YamlNode& node) const {
    JointPlace place;
    if (const auto at = node.child("at")) {
        if (at->is_scalar()) {
            place.at_marker = marker(*at);
        } else {
            place.at = at->vector(model_.planar);
        }
    }
    const auto axis = node.child("axis");
    const auto x = node.child("x");
    if (axis) place.axis = axis->vector(model_.planar);
    if (!x) return place;
    if (axis && model_.planar) x->fail("in the plane 'axis' is the direction of x: give one of them");
    if (!axis && !model_.planar) x->fail("'x' goes with 'axis'");
    (model_.planar ? place.axis : place.x) = x->vector(model_.planar);
    return place;
}

// With 'at', 'axis' or 'x' the joint gets markers of its own on both bodies; otherwise it uses the markers given.
void ModelReader::place_joint(Joint& joint, const YamlNode& node) {
    MarkerPair* between = joint.between();
    if (between == nullptr || (!node.child("at") && !node.child("axis") && !node.child("x"))) return;
    const JointPlace place = read_joint_place(node);
    for (MarkerHandle* end : {&between->first, &between->second}) {
        Marker marker = model_.make_joint_marker(*end, joint.name, place);
        const auto is_taken = [&] {
            const MarkerHandle other = model_.markers.find(marker.name);
            return !other.is_null() &&
                   std::find(reread_markers_.begin(), reread_markers_.end(), other) == reread_markers_.end();
        };
        if (is_taken()) marker.name += "_joint";
        if (is_taken()) node.fail(fmt::format("marker '{}' exists already", marker.name));
        *end = store_marker(std::move(marker), node);
    }
}

void ModelReader::read_joint(const std::string& name, const YamlNode& node) {
    Joint joint = read_typed<Joint>(name, node, joint_formats());
    reread_markers_.clear();
    if (is_replacing_) {
        const Joint& old = std::as_const(model_).joints.get(model_.joints.find(name));
        if (has_own_markers(model_, old)) reread_markers_ = {old.between()->first, old.between()->second};
    }
    place_joint(joint, node);
    if (const auto child = node.child("cut")) joint.is_cut = child->truth();
    if (const auto child = node.child("disabled")) joint.is_disabled = child->truth();
    if (const auto child = node.child("closing")) joint.closing = child->numbers();
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
    const bool has_marker = node.child("marker").has_value();
    if (has_marker == node.child("coordinate").has_value())
        node.fail("expected either 'coordinate' or 'marker' with 'component'");
    for (const char* key : {"component", "relative-to"})
        if (const auto child = node.child(key); child && !has_marker)
            child->fail(fmt::format("'{}' goes with 'marker'", key));
    if (has_marker && !node.child("component")) node.fail("'component' is missing: x, y or z");
    Driver driver{.name = name};
    FieldReader reader(*this, node, "");
    Driver::visit(driver, reader);
    add(model_.drivers, std::move(driver), node);
}

}  // namespace limber
