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

void ElementWriter::add_solids(MappingWriter& map, const std::vector<Solid>& solids) const {
    if (solids.size() == 1) return add_type(map, solids[0]);
    if (solids.empty()) return;
    YAML::Node list(YAML::NodeType::Sequence);
    for (const Solid& solid : solids) {
        MappingWriter item;
        add_type(item, solid);
        list.push_back(item.take());
    }
    map.add("solids", list);
}

YAML::Node ElementWriter::inertia(const InertiaEntries& inertia) const {
    const auto& entries = inertia.entries;
    if (model_.planar) return YAML::Node(entries[2].text());
    const bool is_diagonal = is_zero({entries[3], entries[4], entries[5]});
    return number_list({entries.begin(), is_diagonal ? entries.begin() + 3 : entries.end()});
}

YAML::Node ElementWriter::write(const Body& body) const {
    return described(body);
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
