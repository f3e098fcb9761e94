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

YAML::Node ElementWriter::write(const Force& force) const {
    return write_type(force.type);
}

YAML::Node ElementWriter::write(const Stop& stop) const {
    return write_type(stop.type);
}

YAML::Node ElementWriter::write(const Sensor& sensor) const {
    return write_type(sensor.type);
}

YAML::Node ElementWriter::write(const RoadDefinition& road) const {
    if (road.pieces.size() == 1) return write_type(road.pieces[0]);
    YAML::Node list(YAML::NodeType::Sequence);
    for (const RoadPiece& piece : road.pieces) list.push_back(write_type(piece));
    return list;
}

YAML::Node ElementWriter::write(const EventRule& event) const {
    return write_type(event.type);
}

}  // namespace limber
