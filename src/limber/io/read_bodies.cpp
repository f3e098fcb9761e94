// Bodies: pose, solids, mass, markers.

#include <fmt/format.h>

#include <algorithm>

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

std::vector<Solid> ModelReader::read_solids(const YamlNode& body) const {
    std::vector<Solid> solids;
    for (const TypeFormat& format : solid_formats())
        if (const auto child = body.child(format.name)) solids.push_back(read_solid(format, *child));
    if (const auto list = body.child("solids"))
        for (const YamlNode& item : list->items("a list of solids")) {
            const TypeFormat& format = find_shape(item, solid_formats());
            solids.push_back(read_solid(format, item.required(format.name)));
        }
    return solids;
}

Solid ModelReader::read_solid(const TypeFormat& format, const YamlNode& node) const {
    check_fields(node, format.options);
    Solid solid = read_fields<Solid>(node, format, solid_formats());
    const SolidMass& mass = mass_of(solid);
    if (mass.mass && mass.density) node.required("density").fail("give 'mass' or 'density', not both");
    const auto* rod = std::get_if<RodSolid>(&solid);
    if (rod != nullptr && rod->end_masses && (mass.mass || mass.density))
        node.required("end-masses").fail("give 'mass', 'density' or 'end-masses', not two of them");
    if (std::holds_alternative<PointSolid>(solid) && mass.density) node.fail("a point has a mass, not a density");
    return solid;
}

InertiaEntries ModelReader::read_inertia(const YamlNode& node) const {
    InertiaEntries inertia;
    const std::vector<Number> values = node.is_scalar() ? std::vector<Number>{node.number()} : node.numbers();
    if (model_.planar) {
        if (values.size() != 1) node.fail(fmt::format("expected one number, found {}", values.size()));
        inertia.entries[2] = values[0];
        return inertia;
    }
    if (values.size() != 3 && values.size() != 6)
        node.fail(fmt::format("expected [xx, yy, zz] or [xx, yy, zz, xy, xz, yz], found {} number(s)", values.size()));
    std::copy(values.begin(), values.end(), inertia.entries.begin());
    return inertia;
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

// A mass is given once, and a rod says where its body is.
void ModelReader::check_masses(const YamlNode& node, const Body& body) {
    const auto is_rod = [](const Solid& solid) { return std::holds_alternative<RodSolid>(solid); };
    if (std::count_if(body.solids.begin(), body.solids.end(), is_rod) > 1) node.fail("a body can have one rod");
    if (body.rod() != nullptr && (node.child("at") || body.placement.orientation.kind != Orientation::Kind::none))
        node.fail("a rod fixes the pose of its body by 'from' and 'to'; 'at' and an orientation cannot be given too");
    const auto mass = node.child("mass");
    if (!mass && !node.child("com") && !node.child("inertia")) return;
    if (std::any_of(body.solids.begin(), body.solids.end(), gives_mass))
        (mass ? *mass : node).fail("the mass is given by a solid already");
}

void ModelReader::check_beam(const YamlNode& node, const Body& body) {
    if (!body.beam) return;
    for (const char* key : {"at", "angle", "turn", "xyz", "quaternion", "z", "x", "shapes"})
        if (const auto child = node.child(key))
            child->fail(fmt::format("a beam says itself where it is and what it is: '{}' cannot be given too", key));
    if (!body.solids.empty() || node.child("mass") || node.child("com") || node.child("inertia"))
        node.fail("a beam has its mass from its section: solids and 'mass' cannot be given too");
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
    check_fields(node, body_fields());
    FieldReader reader(*this, node, "");
    Body::visit(body, reader);
    check_beam(node, body);
    check_masses(node, body);
    file_.places[fmt::format("body '{}'", name)] = node.location();
    if (is_replacing_) {
        model_.bodies.replace(model_.bodies.find(name), std::move(body));
        return;
    }
    const BodyHandle handle = model_.add_body(std::move(body));
    if (const auto markers = node.child("markers")) read_body_markers(handle, *markers);
}

}  // namespace limber
