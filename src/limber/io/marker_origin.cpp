#include "limber/io/marker_origin.hpp"

#include <algorithm>

namespace limber {
namespace {

bool same_numbers(const Number* a, const Number* b, std::size_t count) {
    return std::equal(a, a + count, b, [](const Number& x, const Number& y) { return x.text() == y.text(); });
}

bool same_placement(const Placement& a, const Placement& b) {
    const auto& turn_a = a.orientation.values;
    const auto& turn_b = b.orientation.values;
    return same_numbers(a.position.data(), b.position.data(), 3) && a.orientation.kind == b.orientation.kind &&
           turn_a.size() == turn_b.size() && same_numbers(turn_a.data(), turn_b.data(), turn_a.size());
}

bool is_named_after(const Model& model, const Marker& marker, const std::string& joint) {
    const std::string name = model.bodies.get(marker.body).name + "." + joint;
    return marker.name == name || marker.name == name + "_joint";
}

}  // namespace

bool comes_with_body(const Model& model, const Marker& marker) {
    switch (marker.place) {
        case Marker::Kind::centre_of_mass:
        case Marker::Kind::rod_start:
        case Marker::Kind::rod_end: return true;
        default: return marker.name == model.bodies.get(marker.body).name + ".origin";
    }
}

bool has_own_markers(const Model& model, const Joint& joint) {
    const ElementEnds ends = ends_of(joint);
    const Marker* a = model.markers.find(ends.a);
    const Marker* b = model.markers.find(ends.b);
    if (a == nullptr || b == nullptr || ends.a == ends.b || !ends.can_be_placed) return false;
    const Orientation::Kind turn = a->placement.orientation.kind;
    const bool can_be_said =
        (a->place == Marker::Kind::turned && turn == Orientation::Kind::axes) ||
        (a->place == Marker::Kind::world && (turn == Orientation::Kind::axes || turn == Orientation::Kind::none));
    return can_be_said && a->place == b->place && (a->place == Marker::Kind::turned || a->base == b->base) &&
           same_placement(a->placement, b->placement) && is_named_after(model, *a, joint.name) &&
           is_named_after(model, *b, joint.name);
}

bool owns_markers(const Model& model, const Joint& joint) {
    const ElementEnds ends = ends_of(joint);
    const Marker* a = model.markers.find(ends.a);
    const Marker* b = model.markers.find(ends.b);
    return (a != nullptr && b != nullptr && a->is_joints_own && b->is_joints_own) || has_own_markers(model, joint);
}

JointHandle find_maker(const Model& model, MarkerHandle handle) {
    const Marker& marker = model.markers.get(handle);
    if (marker.place != Marker::Kind::turned && marker.place != Marker::Kind::world && !marker.is_joints_own) return {};
    const std::string own = marker.name.substr(marker.name.find('.') + 1);
    const std::string suffix = "_joint";
    const bool has_suffix = own.size() > suffix.size() && own.ends_with(suffix);
    for (const std::string& name : {own, has_suffix ? own.substr(0, own.size() - suffix.size()) : own}) {
        const JointHandle joint = model.joints.find(name);
        const Joint* candidate = model.joints.find(joint);
        if (candidate != nullptr && (candidate->ends().first == handle || candidate->ends().second == handle) &&
            owns_markers(model, *candidate))
            return joint;
    }
    return {};
}

}  // namespace limber
