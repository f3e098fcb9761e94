#pragma once
// The model file format as data: which keys exist, what they hold, what they mean. The reader checks keys against
// these tables, and the JSON Schema, the reference in the manual and `limber list` are made from them, so they
// cannot disagree.

#include <string>
#include <vector>

#include "limber/model/model.hpp"

namespace limber {

/// In the order of JointType, ForceType, StopType, SensorType, RoadPiece, ContactType, ContactShape, Solid, EventType,
/// SectionType.
const std::vector<TypeFormat>& joint_formats();
const std::vector<TypeFormat>& force_formats();
const std::vector<TypeFormat>& stop_formats();
const std::vector<TypeFormat>& sensor_formats();
const std::vector<TypeFormat>& road_formats();
const std::vector<TypeFormat>& contact_formats();
const std::vector<TypeFormat>& shape_formats();
const std::vector<TypeFormat>& solid_formats();
const std::vector<TypeFormat>& event_formats();
const std::vector<TypeFormat>& section_formats();
const std::vector<FieldFormat>& body_fields();
const std::vector<FieldFormat>& placement_fields();
const std::vector<FieldFormat>& marker_fields();
const std::vector<FieldFormat>& driver_fields();
const std::vector<FieldFormat>& curve_fields();
/// Of gravity, where it is a mapping.
const std::vector<FieldFormat>& orbit_fields();
const std::vector<FieldFormat>& lateral_fields();
const std::vector<FieldFormat>& beam_fields();
const std::vector<FieldFormat>& beam_material_fields();
const std::vector<FieldFormat>& beam_arc_fields();
const std::vector<FieldFormat>& longitudinal_fields();
const std::vector<FieldFormat>& table_fields();
const std::vector<FieldFormat>& initial_fields();
const std::vector<FieldFormat>& simulation_fields();
const std::vector<FieldFormat>& component_fields();
const std::vector<FieldFormat>& solve_fields();
const std::vector<FieldFormat>& modular_fields();
const std::vector<FieldFormat>& top_level_fields();

/// Names in expressions that no parameter can have.
const std::vector<std::string>& reserved_names();

std::vector<std::string> field_names(const std::vector<FieldFormat>& fields);

/// The format as a JSON Schema (draft 2020-12), for editors.
std::string make_json_schema();

/// The format as a page of the manual: docs/model-reference.md.
std::string make_markdown_reference();

}  // namespace limber
