// Forces, stops, roads and sensors.

#include <algorithm>

#include "limber/io/field_writer.hpp"

namespace limber {

void ElementWriter::add_law(MappingWriter& map, const ScalarLaw& law) const {
    switch (law.kind) {
        case ScalarLaw::Kind::linear:
            // A law must say something: a stiffness of zero, if nothing else.
            if (!is_zero(law.stiffness) || (is_zero(law.damping) && is_zero(law.preload)))
                map.add("stiffness", law.stiffness);
            break;
        case ScalarLaw::Kind::polynomial: map.add("polynomial", number_list(law.coefficients)); break;
        case ScalarLaw::Kind::table: add_rows(map, "table", law.table.value()); break;
        case ScalarLaw::Kind::expression: map.add("law", law.expression); break;
    }
    map.add_unless_zero("damping", law.damping);
    map.add_unless_zero("preload", law.preload);
}

template <class Types>
YAML::Node ElementWriter::write_typed(const TypedElement<Types>& element) const {
    FieldWriter writer(*this, element.note().name);
    std::visit([&](const auto& type) { type.visit(type, writer); }, element.type);
    return writer.take();
}

YAML::Node ElementWriter::write(const Force& force) const {
    return write_typed(force);
}

YAML::Node ElementWriter::write(const Stop& stop) const {
    return write_typed(stop);
}

YAML::Node ElementWriter::road_piece(const RoadPiece& piece) const {
    MappingWriter map;
    if (piece.kind == RoadPiece::Kind::table) {
        add_rows(map, "table", piece.table.value());
        return map.take();
    }
    if (piece.kind == RoadPiece::Kind::height) {
        map.add("height", piece.height);
        return map.take();
    }
    const char* name = piece.kind == RoadPiece::Kind::bump     ? "bump"
                       : piece.kind == RoadPiece::Kind::ramp   ? "ramp"
                       : piece.kind == RoadPiece::Kind::stairs ? "stairs"
                                                               : "random";
    const auto& formats = road_formats();
    const auto format =
        std::find_if(formats.begin(), formats.end(), [&](const TypeFormat& f) { return std::string(f.name) == name; });
    MappingWriter fields;
    for (const FieldFormat& field : format->options) {
        if (field.kind == FieldKind::text) {
            const std::string roughness = piece.numbers.at("roughness").text();
            for (int index = 0; index < road_class_count; ++index)
                if (road_class_roughness(index).text() == roughness)
                    fields.add(field.name, YAML::Node(std::string(1, static_cast<char>('A' + index))));
            continue;
        }
        const auto it = piece.numbers.find(field.name);
        if (it != piece.numbers.end()) fields.add(field.name, it->second);
    }
    map.add(name, fields.take());
    return map.take();
}

YAML::Node ElementWriter::write(const RoadDefinition& road) const {
    if (road.pieces.size() == 1) return road_piece(road.pieces[0]);
    YAML::Node list(YAML::NodeType::Sequence);
    for (const RoadPiece& piece : road.pieces) list.push_back(road_piece(piece));
    return list;
}

YAML::Node ElementWriter::write(const EventRule& event) const {
    MappingWriter map;
    map.add(event_formats()[static_cast<std::size_t>(event.direction)].name, event.condition);
    YAML::Node edits(YAML::NodeType::Sequence);
    for (const std::string& edit : event.edits) edits.push_back(edit);
    map.add("do", edits);
    if (event.once) map.add("once", YAML::Node("true"));
    return map.take();
}

YAML::Node ElementWriter::write(const Sensor& sensor) const {
    using Q = Sensor::Quantity;
    MappingWriter map;
    const auto of_marker = [&](const char* key) {
        map.add(key, YAML::Node(marker_name(sensor.marker)));
        if (!sensor.reference.is_null()) map.add("relative-to", YAML::Node(marker_name(sensor.reference)));
        if (!sensor.axes.is_null()) map.add("axes", YAML::Node(marker_name(sensor.axes)));
    };
    const auto text = [&](const char* key, const std::string& value) { map.add(key, YAML::Node(value)); };
    switch (sensor.quantity) {
        case Q::position: of_marker("position"); break;
        case Q::velocity: of_marker("velocity"); break;
        case Q::acceleration: of_marker("acceleration"); break;
        case Q::angular_velocity: of_marker("angular-velocity"); break;
        case Q::angular_acceleration: of_marker("angular-acceleration"); break;
        case Q::coordinate: text("coordinate", sensor.scalar); break;
        case Q::rate: text("rate", sensor.scalar); break;
        case Q::second_rate: text("acceleration", sensor.scalar); break;
        case Q::reaction:
            text("reaction", sensor.joint.is_null() ? sensor.driver : model_.joints.get(sensor.joint).name);
            if (sensor.in_marker_axes) text("axes", "marker");
            if (!sensor.axes.is_null()) text("axes", marker_name(sensor.axes));
            break;
        case Q::contact: text("contact", model_.contacts.get(sensor.contact).name); break;
        case Q::force: text("force", model_.forces.get(sensor.force).name); break;
        case Q::gap: text("gap", model_.stops.get(sensor.stop).name); break;
        case Q::contact_force: text("contact-force", model_.stops.get(sensor.stop).name); break;
        case Q::impulse: text("impulse", model_.stops.get(sensor.stop).name); break;
        case Q::impact_loss: text("energy", "impacts"); break;
        case Q::kinetic_energy: text("energy", "kinetic"); break;
        case Q::potential_energy: text("energy", "potential"); break;
        case Q::work: text("energy", "work"); break;
        case Q::total_energy: text("energy", "total"); break;
        case Q::position_error: text("error", "position"); break;
        case Q::velocity_error: text("error", "velocity"); break;
        case Q::acceleration_error: text("error", "acceleration"); break;
        case Q::relative_error: text("error", "relative"); break;
        case Q::complementarity_error: text("error", "complementarity"); break;
        case Q::expression: map.add("expression", sensor.expression); break;
    }
    return map.take();
}

}  // namespace limber
