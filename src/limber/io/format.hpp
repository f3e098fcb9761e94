#pragma once
// The model file format as data: which keys exist, what they hold, what they mean. The reader checks keys against
// these tables, and the JSON Schema, the reference in the manual and `limber list` are made from them, so they
// cannot disagree.

#include <string>
#include <vector>

#include "limber/model/model.hpp"

namespace limber {

enum class FieldKind {
    number,   ///< a number or an expression
    vector,   ///< two or three numbers
    numbers,  ///< a list of numbers
    text,
    marker,       ///< "body.marker" or "body"
    two_markers,  ///< [first, second]
    coordinate,   ///< "joint.coordinate"
    two_coordinates,
    coordinate_map,  ///< {coordinate: number}
    joint_map,       ///< {joint: number}
    reference,       ///< the name of another element
    table,           ///< [[x, y], ...]
    object,          ///< a mapping described elsewhere
    truth,
    place,       ///< a vector, or the name of a marker
    names,       ///< a name or a list of names
    two_bodies,  ///< [first, second], each a body, a group, a list of them, or all
    points,      ///< a list of vectors
    edits        ///< a list of edits of the running mechanism
};

struct FieldFormat {
    const char* name;
    FieldKind kind;
    const char* meaning;
    bool is_required = false;
};

/// An element type that is recognised by its key: {revolute: [a, b], ...}.
struct TypeFormat {
    const char* name;
    FieldKind kind;  ///< what the key itself holds
    const char* meaning;
    bool is_spatial_only;
    std::vector<FieldFormat> options;
};

struct JointFormat : TypeFormat {
    JointType type;
};
struct ForceFormat : TypeFormat {
    ForceType type;
};

struct StopFormat : TypeFormat {
    StopType type;
};

const std::vector<JointFormat>& joint_formats();
const std::vector<ForceFormat>& force_formats();
struct ContactFormat : TypeFormat {
    ContactRule::Law law;
};
struct ShapeFormat : TypeFormat {
    ContactShape::Kind shape;
};

const std::vector<ContactFormat>& contact_formats();
const ContactFormat& contact_format(ContactRule::Law law);
const std::vector<ShapeFormat>& shape_formats();
const JointFormat& joint_format(JointType type);
const ForceFormat& force_format(ForceType type);
const std::vector<StopFormat>& stop_formats();
const StopFormat& stop_format(StopType type);
const std::vector<TypeFormat>& sensor_formats();
const std::vector<TypeFormat>& solid_formats();
const std::vector<FieldFormat>& body_fields();
const std::vector<FieldFormat>& placement_fields();
const std::vector<FieldFormat>& marker_fields();
const std::vector<FieldFormat>& driver_fields();
const std::vector<FieldFormat>& curve_fields();
const std::vector<TypeFormat>& road_formats();
const std::vector<FieldFormat>& lateral_fields();
/// Numbers of the laws of friction that are not Coulomb's.
const std::vector<FieldFormat>& compliant_friction_fields();
/// In the order of FrictionKind.
const std::vector<std::string>& friction_kind_names();
const std::vector<FieldFormat>& table_fields();
const std::vector<FieldFormat>& initial_fields();
const std::vector<FieldFormat>& simulation_fields();
const std::vector<FieldFormat>& component_fields();
const std::vector<FieldFormat>& modular_fields();
const std::vector<TypeFormat>& event_formats();
const std::vector<FieldFormat>& top_level_fields();

/// Names in expressions that no parameter can have.
const std::vector<std::string>& reserved_names();

/// Where the file does not say.
Number3 default_gravity(bool planar);

/// Roughness of the classes A, B, ... of ISO 8608.
constexpr int road_class_count = 8;
Number road_class_roughness(int index);

std::vector<std::string> field_names(const std::vector<FieldFormat>& fields);

/// The format as a JSON Schema (draft 2020-12), for editors.
std::string make_json_schema();

/// The format as a page of the manual: docs/model-reference.md.
std::string make_markdown_reference();

}  // namespace limber
