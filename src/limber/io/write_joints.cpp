// Joints and drivers.

#include "limber/io/element_writer.hpp"

namespace limber {
void ElementWriter::add_place(MappingWriter& map, const Joint& joint) const {
    const Marker& marker = model_.markers.get(joint.a);
    const auto& turn = marker.placement.orientation.values;
    if (marker.place == Marker::Kind::world)
        map.add("at", marker.base.is_null() ? vector(marker.placement.position) : YAML::Node(marker_name(marker.base)));
    if (turn.empty()) return;
    if (model_.planar) {
        map.add("axis", vector({turn[3], turn[4], turn[5]}));
        return;
    }
    map.add("axis", vector({turn[0], turn[1], turn[2]}));
    if (turn.size() == 6) map.add("x", vector({turn[3], turn[4], turn[5]}));
}

YAML::Node ElementWriter::write(const Joint& joint, bool places_itself) const {
    const JointFormat& format = joint_format(joint.type);
    // Where a joint makes its markers, the ones it names say on which body, and at which point if 'at' does not.
    const auto named = [&](MarkerHandle handle) {
        if (!places_itself) return handle;
        const Marker& marker = model_.markers.get(handle);
        if (marker.place == Marker::Kind::turned) return marker.base;
        return model_.marker(model_.bodies.get(marker.body).name);
    };
    MappingWriter map;
    switch (format.kind) {
        case FieldKind::two_markers: map.add(format.name, two_markers(named(joint.a), named(joint.b))); break;
        case FieldKind::two_coordinates: {
            YAML::Node list(YAML::NodeType::Sequence);
            for (const ScalarTerm& term : joint.terms) list.push_back(term.scalar);
            map.add(format.name, list);
            break;
        }
        default: {
            MappingWriter terms;
            for (const ScalarTerm& term : joint.terms) terms.add(term.scalar, term.coefficient);
            map.add(format.name, terms.take());
        }
    }
    if (places_itself) add_place(map, joint);
    for (const FieldFormat& option : format.options) {
        const std::string key = option.name;
        if (key == "cut" && joint.is_cut) map.add(key, YAML::Node(*joint.is_cut ? "true" : "false"));
        if (key == "disabled" && joint.is_disabled) map.add(key, YAML::Node("true"));
        if (key == "closing" && !joint.closing.empty()) map.add(key, number_list(joint.closing));
        if (key == "length") map.add_given(key, joint.length);
        if (key == "pitch") map.add(key, joint.pitch);
        if (key == "radius") map.add(key, joint.radius);
        if (key == "ratio") map.add(key, joint.ratio);
        if (key == "pressure-angle") map.add_unless_zero(key, joint.pressure_angle);
        if (key == "at" && joint.mesh) map.add(key, vector(*joint.mesh));
        if (key == "offset" || key == "equals") map.add_given(key, joint.offset);
        if (key == "curve") map.add(key, YAML::Node(model_.curves.get(joint.curve).name));
    }
    return map.take();
}

void ElementWriter::add_time_law(MappingWriter& map, const TimeLaw& law, const char* key) const {
    if (law.table) {
        add_rows(map, "table", *law.table);
    } else {
        map.add(key, law.expression);
    }
}

YAML::Node ElementWriter::write(const Driver& driver) const {
    MappingWriter map;
    if (const auto* coordinate = std::get_if<std::string>(&driver.target)) {
        map.add("coordinate", YAML::Node(*coordinate));
    } else {
        const auto& component = std::get<MarkerComponent>(driver.target);
        map.add("marker", YAML::Node(marker_name(component.marker)));
        map.add("component", YAML::Node(std::string(1, "xyz"[component.axis])));
        if (!component.reference.is_null()) map.add("relative-to", YAML::Node(marker_name(component.reference)));
    }
    add_time_law(map, driver.law, "follows");
    return map.take();
}

}  // namespace limber
