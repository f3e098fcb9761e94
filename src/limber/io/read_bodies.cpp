// Bodies: pose, solids, mass, markers.

#include <fmt/format.h>

#include "limber/io/field_reader.hpp"

namespace limber {

Orientation ModelReader::read_orientation(const YamlNode& node) const {
    Orientation orientation;
    const char* used = nullptr;
    const auto use = [&](const char* key, Orientation::Kind kind, std::size_t count, bool is_vector) {
        const auto child = node.child(key);
        if (!child) return;
        if (used != nullptr) child->fail(fmt::format("the orientation is given by '{}' already", used));
        used = key;
        orientation.kind = kind;
        if (is_vector) {
            const Number3 v = child->vector(model_.planar);
            orientation.values.assign(v.begin(), v.end());
        } else if (count == 1) {
            orientation.values = {child->number()};
        } else {
            orientation.values = child->numbers();
            if (orientation.values.size() != count)
                child->fail(fmt::format("expected {} numbers, found {}", count, orientation.values.size()));
        }
    };
    use("angle", Orientation::Kind::angle, 1, false);
    use("turn", Orientation::Kind::axis_angle, 4, false);
    use("xyz", Orientation::Kind::xyz, 3, false);
    use("quaternion", Orientation::Kind::quaternion, 4, false);
    if (model_.planar) {
        // In the plane the direction of x says it all.
        if (const auto x = node.child("x")) {
            const Number3 v = x->vector(true);
            orientation.kind = Orientation::Kind::axes;
            orientation.values = {0.0, 0.0, 1.0, v[0], v[1], 0.0};
        }
        if (const auto z = node.child("z"))
            z->fail("in a planar model z is the normal of the plane; give 'angle' or 'x'");
        return orientation;
    }
    use("z", Orientation::Kind::axes, 3, true);
    if (const auto x = node.child("x")) {
        if (orientation.kind != Orientation::Kind::axes) x->fail("'x' goes with 'z'");
        const Number3 v = x->vector(false);
        orientation.values.insert(orientation.values.end(), v.begin(), v.end());
    }
    return orientation;
}

Placement ModelReader::read_placement(const YamlNode& node) const {
    Placement placement;
    if (const auto at = node.child("at")) placement.position = at->vector(model_.planar);
    placement.orientation = read_orientation(node);
    return placement;
}

Number3 ModelReader::read_angular(const YamlNode& node, const std::vector<std::string>& also, bool free) const {
    if (!model_.planar) return node.vector(false, also, free);
    return {0.0, 0.0, node.number(also, free)};
}

Solid ModelReader::read_solid(const TypeFormat& format, const YamlNode& node, Body& body) const {
    check_fields(node, format.options);
    Solid solid;
    solid.kind = static_cast<Solid::Kind>(&format - solid_formats().data());
    if (const auto child = node.child("mass")) solid.mass = child->number();
    if (const auto child = node.child("density")) {
        if (solid.mass) child->fail("give 'mass' or 'density', not both");
        solid.density = child->number();
    }
    if (const auto child = node.child("color")) solid.color = child->text("a color");
    if (solid.kind == Solid::Kind::rod) {
        if (body.ends) node.fail("a body can have one rod");
        body.ends = {node.required("from").vector(model_.planar), node.required("to").vector(model_.planar)};
    } else {
        solid.placement = read_placement(node);
    }
    for (const FieldFormat& field : size_fields(solid.kind)) {
        const auto child = node.child(field.name);
        solid.size.push_back(child ? child->number() : Number(0.0));
    }
    if (const auto child = node.child("size")) {
        solid.size = child->numbers();
        const std::size_t count = model_.planar ? 2 : 3;
        if (solid.size.size() != count)
            child->fail(fmt::format("expected {} lengths, found {}", count, solid.size.size()));
    }
    if (const auto child = node.child("end-masses")) {
        const auto masses = child->numbers();
        if (masses.size() != 2) child->fail(fmt::format("expected two masses, found {}", masses.size()));
        if (solid.mass || solid.density) child->fail("give 'mass', 'density' or 'end-masses', not two of them");
        solid.end_masses = {masses[0], masses[1]};
    }
    if (solid.kind == Solid::Kind::point && solid.density) node.fail("a point has a mass, not a density");
    return solid;
}

void ModelReader::read_general_mass(const YamlNode& node, Body& body) const {
    const auto mass = node.child("mass");
    const auto com = node.child("com");
    const auto inertia = node.child("inertia");
    if (!mass && !inertia && !com) return;
    for (const Solid& solid : body.solids)
        if (solid.mass || solid.density || solid.end_masses)
            (mass ? *mass : node).fail("the mass is given by a solid already");
    Solid solid;
    solid.visible = false;
    if (mass) solid.mass = mass->number();
    if (com) solid.placement.position = com->vector(model_.planar);
    if (inertia) {
        std::vector<Number> values = inertia->is_scalar() ? std::vector<Number>{inertia->number()} : inertia->numbers();
        if (model_.planar) {
            if (values.size() != 1) inertia->fail(fmt::format("expected one number, found {}", values.size()));
            solid.inertia[2] = values[0];
        } else {
            if (values.size() != 3 && values.size() != 6)
                inertia->fail(fmt::format("expected [xx, yy, zz] or [xx, yy, zz, xy, xz, yz], found {} number(s)",
                                          values.size()));
            for (std::size_t i = 0; i < values.size(); ++i) solid.inertia[i] = values[i];
        }
    }
    body.solids.push_back(std::move(solid));
}

void ModelReader::read_body_markers(BodyHandle body, const YamlNode& node) {
    for (const auto& [name, entry] : node.entries("{name: [x, y, z]}")) read_marker(body, name, entry);
}

void ModelReader::read_marker(BodyHandle body, const std::string& name, const YamlNode& node) {
    node.check_name(name);
    Marker marker;
    marker.name = std::as_const(model_).bodies.get(body).name + "." + name;
    marker.body = body;
    if (node.is_sequence()) {
        marker.placement.position = node.vector(model_.planar);
    } else {
        node.check_keys(field_names(marker_fields()));
        marker.placement = read_placement(node);
        const auto frame = node.child("frame");
        if (frame && frame->choice({"body", "world"}) == 1) marker.place = Marker::Kind::world;
        if (const auto on = node.child("on")) {
            if (frame || node.child("at"))
                on->fail("'on' says where the marker is: 'at' and 'frame' cannot be given too");
            marker.place = Marker::Kind::turned;
            marker.base = this->marker(*on);
            if (std::as_const(model_).markers.get(marker.base).body != body)
                on->fail("expected another marker of the same body");
        }
    }
    if (!is_replacing_ && !model_.markers.find(marker.name).is_null())
        node.fail(fmt::format("marker '{}' exists already", marker.name));
    store_marker(std::move(marker), node);
}

void ModelReader::read_marker_entry(const std::string& name, const YamlNode& node) {
    const auto dot = name.find('.');
    const BodyHandle body = model_.bodies.find(name.substr(0, dot));
    if (dot == std::string::npos || body.is_null())
        node.fail(fmt::format("'{}' cannot be a marker: expected body.marker{}", name,
                              did_you_mean(name.substr(0, dot), model_.bodies.names())));
    read_marker(body, name.substr(dot + 1), node);
}

// Adds a marker, or puts it in the place of the one of its name.
MarkerHandle ModelReader::store_marker(Marker marker, const YamlNode& node) {
    const MarkerHandle existing = model_.markers.find(marker.name);
    const Model& model = model_;
    for (MarkerHandle base = marker.base; !base.is_null(); base = model.markers.get(base).base)
        if (base == existing) node.fail(fmt::format("marker '{}' would be based on itself", marker.name));
    file_.places[fmt::format("marker '{}'", marker.name)] = node.location();
    if (existing.is_null()) return model_.markers.add(std::move(marker));
    model_.markers.replace(existing, std::move(marker));
    return existing;
}

// A body of an included file may be given further markers, and nothing else.
void ModelReader::read_more_markers(BodyHandle body, const YamlNode& node) {
    const std::string& name = std::as_const(model_).bodies.get(body).name;
    const auto markers = node.child("markers");
    if (body.index >= earlier_bodies_ || !markers) node.fail(fmt::format("body '{}' exists already", name));
    for (const auto& [key, child] : node.entries("a mapping"))
        if (key != "markers")
            child.fail(
                fmt::format("body '{}' exists already, in an included file: only 'markers' can be added to it", name));
    read_body_markers(body, *markers);
}

void ModelReader::read_body(const std::string& name, const YamlNode& node) {
    node.check_name(name);
    if (name == "ground") {
        node.check_keys({"markers", "shapes"});
        if (const auto shapes = node.child("shapes")) {
            Body ground = std::as_const(model_).bodies.get(model_.ground());
            std::vector<ContactShape> list = read_shapes(*shapes);
            // Those of an included file stay.
            if (!is_replacing_ && ground.shapes)
                list.insert(list.begin(), ground.shapes->begin(), ground.shapes->end());
            ground.shapes = std::move(list);
            model_.bodies.replace(model_.ground(), std::move(ground));
        }
        if (const auto markers = node.child("markers")) read_body_markers(model_.ground(), *markers);
        return;
    }
    const BodyHandle existing = model_.bodies.find(name);
    if (!is_replacing_ && !existing.is_null()) return read_more_markers(existing, node);
    if (!is_replacing_ && model_.bodies.size() >= limits_.bodies)
        node.fail(fmt::format("the model has more than {} bodies, which are too many here", limits_.bodies));
    Body body;
    body.name = name;
    if (!node.is_null()) {
        node.check_keys(field_names(body_fields()));
        for (const TypeFormat& format : solid_formats())
            if (const auto child = node.child(format.name)) body.solids.push_back(read_solid(format, *child, body));
        if (const auto list = node.child("solids"))
            for (const YamlNode& item : list->items("a list of solids")) {
                const TypeFormat& format = find_shape(item, solid_formats());
                body.solids.push_back(read_solid(format, item.required(format.name), body));
            }
        read_general_mass(node, body);
        if (const auto child = node.child("beam")) {
            FieldReader(*this, *child, "").read_object(body.beam.emplace());
            for (const char* key : {"at", "angle", "turn", "xyz", "quaternion", "z", "x", "shapes"})
                if (node.child(key))
                    node.child(key)->fail(
                        fmt::format("a beam says itself where it is and what it is: '{}' cannot be given too", key));
            if (!body.solids.empty())
                node.fail("a beam has its mass from its section: solids and 'mass' cannot be given too");
        }
        body.placement = read_placement(node);
        if (body.ends && (node.child("at") || body.placement.orientation.kind != Orientation::Kind::none))
            node.fail(
                "a rod fixes the pose of its body by 'from' and 'to'; 'at' and an orientation cannot be given too");
        if (const auto child = node.child("shapes")) body.shapes = read_shapes(*child);
        if (const auto child = node.child("group")) body.groups = read_groups(*child);
        if (const auto child = node.child("velocity")) body.velocity = child->vector(model_.planar);
        if (const auto child = node.child("angular-velocity")) body.angular_velocity = read_angular(*child);
    }
    file_.places[fmt::format("body '{}'", name)] = node.location();
    if (is_replacing_) {
        model_.bodies.replace(model_.bodies.find(name), std::move(body));
        return;
    }
    const BodyHandle handle = model_.add_body(std::move(body));
    if (const auto markers = node.child("markers")) read_body_markers(handle, *markers);
}

}  // namespace limber
