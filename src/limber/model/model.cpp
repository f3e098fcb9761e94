#include "limber/model/model.hpp"

#include <fmt/format.h>

#include <utility>

namespace limber {

Number3 default_gravity(bool planar) {
    return planar ? Number3{0.0, -9.81, 0.0} : Number3{0.0, 0.0, -9.81};
}

Model Model::in_plane() {
    Model model;
    model.planar = true;
    model.gravity = default_gravity(true);
    return model;
}

Model::Model() : gravity(default_gravity(false)) {
    Body ground;
    ground.name = "ground";
    add_body(std::move(ground));
}

BodyHandle Model::ground() const {
    return bodies.find("ground");
}

BodyHandle Model::add_body(Body body) {
    const bool is_beam = body.beam.has_value();
    const bool has_ends = body.rod() != nullptr || is_beam;
    const BodyHandle handle = bodies.add(std::move(body));
    add_marker(handle, "origin");
    if (!is_beam) add_marker(handle, "com", {}, Marker::Kind::centre_of_mass);
    if (has_ends) {
        add_marker(handle, "from", {}, Marker::Kind::rod_start);
        add_marker(handle, "to", {}, Marker::Kind::rod_end);
    }
    return handle;
}

MarkerHandle Model::add_marker(BodyHandle body, const std::string& name, Placement placement, Marker::Kind place) {
    Marker marker;
    marker.name = std::as_const(bodies).get(body).name + "." + name;
    marker.body = body;
    marker.place = place;
    marker.placement = std::move(placement);
    return markers.add(std::move(marker));
}

Marker Model::make_joint_marker(MarkerHandle given, const std::string& joint, const JointPlace& place) const {
    Marker marker;
    marker.body = markers.get(given).body;
    marker.name = bodies.get(marker.body).name + "." + joint;
    marker.place = place.at || !place.at_marker.is_null() ? Marker::Kind::world : Marker::Kind::turned;
    marker.base = marker.place == Marker::Kind::turned ? given : place.at_marker;
    if (place.at) marker.placement.position = *place.at;
    if (place.x && (planar || !place.axis))
        throw ModelError(fmt::format(
            "joint '{}': {}", joint,
            planar ? "in the plane 'axis' is the direction of x, and 'x' has no meaning" : "'x' goes with 'axis'"));
    if (!place.axis) return marker;
    const Number3& axis = *place.axis;
    Orientation& turn = marker.placement.orientation;
    turn.kind = Orientation::Kind::axes;
    if (planar) {
        turn.values = {0.0, 0.0, 1.0, axis[0], axis[1], 0.0};
    } else {
        turn.values.assign(axis.begin(), axis.end());
        if (place.x) turn.values.insert(turn.values.end(), place.x->begin(), place.x->end());
    }
    return marker;
}

JointHandle Model::add(Joint joint, const JointPlace& place) {
    MarkerPair* between = joint.between();
    if (between == nullptr)
        throw ModelError(
            fmt::format("joint '{}': a {} is between coordinates and has no place", joint.name, joint.note().name));
    for (MarkerHandle* end : {&between->first, &between->second}) {
        Marker marker = make_joint_marker(*end, joint.name, place);
        if (!markers.find(marker.name).is_null()) marker.name += "_joint";
        *end = markers.add(std::move(marker));
    }
    return joints.add(std::move(joint));
}

MarkerHandle Model::marker(const std::string& name) const {
    const bool names_body = name.find('.') == std::string::npos;
    const MarkerHandle handle = markers.find(names_body ? name + ".origin" : name);
    if (!handle.is_null()) return handle;
    if (names_body) throw ModelError(fmt::format("there is no body '{}'{}", name, did_you_mean(name, bodies.names())));
    throw ModelError(fmt::format("there is no marker '{}'{}", name, did_you_mean(name, markers.names())));
}

}  // namespace limber
