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

YAML::Node ElementWriter::write(const Sensor& sensor) const {
    return write_typed(sensor);
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

}  // namespace limber
