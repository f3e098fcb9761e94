// Bodies, solids, markers.

#include <algorithm>
#include <functional>
#include <set>

#include "limber/io/field_writer.hpp"

namespace limber {

void ElementWriter::add_orientation(MappingWriter& map, const Orientation& orientation) const {
    const auto& values = orientation.values;
    const auto direction = [&](std::size_t first) {
        return vector({values[first], values[first + 1], values[first + 2]});
    };
    switch (orientation.kind) {
        case Orientation::Kind::none: break;
        case Orientation::Kind::angle: map.add("angle", values[0]); break;
        case Orientation::Kind::axis_angle: map.add("turn", number_list(values)); break;
        case Orientation::Kind::xyz: map.add("xyz", number_list(values)); break;
        case Orientation::Kind::quaternion: map.add("quaternion", number_list(values)); break;
        case Orientation::Kind::axes:
            if (!model_.planar) map.add("z", direction(0));
            if (values.size() == 6) map.add("x", direction(3));
            break;
    }
}

void ElementWriter::add_placement(MappingWriter& map, const Placement& placement) const {
    if (!is_zero(placement.position)) map.add("at", vector(placement.position));
    add_orientation(map, placement.orientation);
}

YAML::Node ElementWriter::angular(const Number3& numbers) const {
    return model_.planar ? YAML::Node(numbers[2].text()) : vector(numbers);
}

void ElementWriter::add_solid(MappingWriter& map, const Solid& solid, const Body& body) const {
    if (solid.kind == Solid::Kind::general)
        throw ModelError("body '" + body.name + "': a file has room for mass properties after all solids only");
    MappingWriter fields;
    if (solid.kind == Solid::Kind::rod) {
        fields.add("from", vector(body.ends.value()[0]));
        fields.add("to", vector(body.ends.value()[1]));
    }
    if (solid.kind == Solid::Kind::box) fields.add("size", number_list(solid.size));
    std::size_t i = 0;
    for (const FieldFormat& field : size_fields(solid.kind)) {
        const Number& size = solid.size.at(i++);
        if (field.is_required || !is_zero(size)) fields.add(field.name, size);
    }
    if (solid.end_masses) fields.add("end-masses", number_list({(*solid.end_masses)[0], (*solid.end_masses)[1]}));
    fields.add_given("mass", solid.mass);
    fields.add_given("density", solid.density);
    add_placement(fields, solid.placement);
    fields.add_unless_empty("color", solid.color);
    map.add(solid_formats()[static_cast<std::size_t>(solid.kind)].name, fields.take());
}

void ElementWriter::add_general_mass(MappingWriter& map, const Solid& solid) const {
    map.add_given("mass", solid.mass);
    if (!is_zero(solid.placement.position)) map.add("com", vector(solid.placement.position));
    const auto& inertia = solid.inertia;
    if (model_.planar) {
        map.add_unless_zero("inertia", inertia[2]);
        return;
    }
    if (std::all_of(inertia.begin(), inertia.end(), [](const Number& n) { return is_zero(n); })) return;
    const bool is_diagonal = is_zero({inertia[3], inertia[4], inertia[5]});
    map.add("inertia", number_list({inertia.begin(), is_diagonal ? inertia.begin() + 3 : inertia.end()}));
}

YAML::Node ElementWriter::write(const Body& body) const {
    const bool has_rod = std::any_of(body.solids.begin(), body.solids.end(),
                                     [](const Solid& solid) { return solid.kind == Solid::Kind::rod; });
    if (body.ends.has_value() != has_rod)
        throw ModelError("body '" + body.name + "': a file gives the two ends of a body by its rod, and only by it");
    MappingWriter map;
    const bool has_general = !body.solids.empty() && body.solids.back().kind == Solid::Kind::general;
    const std::size_t shapes = body.solids.size() - (has_general ? 1 : 0);
    if (shapes == 1) {
        add_solid(map, body.solids[0], body);
    } else if (shapes > 1) {
        YAML::Node list(YAML::NodeType::Sequence);
        for (std::size_t i = 0; i < shapes; ++i) {
            MappingWriter item;
            add_solid(item, body.solids[i], body);
            list.push_back(item.take());
        }
        map.add("solids", list);
    }
    if (body.beam) map.add("beam", described(*body.beam));
    if (has_general) add_general_mass(map, body.solids.back());
    add_placement(map, body.placement);
    if (body.shapes) map.add("shapes", write_shapes(*body.shapes));
    if (!body.groups.empty()) map.add("group", one_or_list(body.groups));
    if (!is_zero(body.velocity)) map.add("velocity", vector(body.velocity));
    if (!is_zero(body.angular_velocity)) map.add("angular-velocity", angular(body.angular_velocity));
    return map.take();
}

YAML::Node ElementWriter::write(const Marker& marker) const {
    const Placement& placement = marker.placement;
    if (marker.place == Marker::Kind::body && placement.orientation.kind == Orientation::Kind::none)
        return vector(placement.position);
    MappingWriter map;
    if (marker.place == Marker::Kind::turned) map.add("on", YAML::Node(marker_name(marker.base)));
    if (marker.place == Marker::Kind::world) map.add("frame", YAML::Node("world"));
    add_placement(map, placement);
    return map.take();
}

YAML::Node ElementWriter::markers(const std::vector<MarkerHandle>& handles) const {
    MappingWriter map;
    std::set<std::uint32_t> missing;
    for (const MarkerHandle handle : handles) missing.insert(handle.index);
    const std::function<void(MarkerHandle)> write_after_base = [&](MarkerHandle handle) {
        if (missing.erase(handle.index) == 0) return;
        const Marker& marker = model_.markers.get(handle);
        if (!marker.base.is_null()) write_after_base(marker.base);
        map.add(marker.name.substr(marker.name.find('.') + 1), write(marker));
    };
    for (const MarkerHandle handle : handles) write_after_base(handle);
    return map.take();
}

std::string ElementWriter::marker_name(MarkerHandle handle) const {
    const Marker& marker = model_.markers.get(handle);
    const std::string& body = model_.bodies.get(marker.body).name;
    return marker.name == body + ".origin" ? body : marker.name;
}

YAML::Node ElementWriter::two_markers(MarkerHandle a, MarkerHandle b) const {
    YAML::Node list(YAML::NodeType::Sequence);
    list.push_back(marker_name(a));
    list.push_back(marker_name(b));
    return list;
}

}  // namespace limber
