#include "limber/io/format.hpp"

#include <algorithm>

#include "limber/io/field_formats.hpp"

namespace limber {
namespace {

using K = FieldKind;

const std::vector<FieldFormat> joint_place{
    {"at", K::place,
     "place of the joint, world axes at the reference configuration, or where another marker is (default: where its "
     "own markers are)"},
    {"axis", K::vector, "direction of the joint's axis: z of both markers (plane: x)"},
    {"x", K::vector, "direction of x of both markers, if it matters"},
    {"cut", K::truth, "in relative coordinates: true closes a loop with this joint, false keeps it in the tree"},
};

// Of joints of all types.
const std::vector<FieldFormat> joint_condition{
    {"disabled", K::truth, "true: the joint is there but does nothing"},
    {"closing", K::numbers,
     "[since, frequency, gap, rate, ...]: not closed yet, each equation is led to zero as a critically damped "
     "oscillator goes"},
};

}  // namespace

const std::vector<TypeFormat>& joint_formats() {
    static const std::vector<TypeFormat> list = [] {
        std::vector<TypeFormat> all = describe_alternatives<JointType>();
        for (TypeFormat& format : all)
            format.options.insert(format.options.end(), joint_condition.begin(), joint_condition.end());
        return all;
    }();
    return list;
}

void FormatCollector::placed(const MarkerPair& between) {
    main(between);
    format_.options.insert(format_.options.end(), joint_place.begin(), joint_place.end());
}

void FormatCollector::law(const ScalarLaw&) {
    const std::vector<FieldFormat> fields{
        {"stiffness", K::number, "force per elongation (may depend on t)"},
        {"damping", K::number, "force per rate of elongation (may depend on t)"},
        {"preload", K::number, "constant part of the force (may depend on t)"},
        {"polynomial", K::numbers, "coefficients of x, x^2, x^3, ... in place of stiffness"},
        {"table", K::table, "force over elongation, in place of stiffness"},
        {"interpolation", K::text, "of the table: cubic (default) or linear"},
        {"law", K::number, "force as an expression of x (elongation), v (its rate), t, parameters and scalars"},
    };
    format_.options.insert(format_.options.end(), fields.begin(), fields.end());
}

void FormatCollector::time_law(const TimeLaw&, const FieldNote& note, const char* table_meaning) {
    const std::vector<FieldFormat> fields{
        {note.name, K::number, note.meaning, note.is_required},
        {"table", K::table, table_meaning},
        {"interpolation", K::text, "of the table: cubic (default) or linear"},
    };
    format_.options.insert(format_.options.end(), fields.begin(), fields.end());
}

void FormatCollector::placement(const Placement&) {
    const std::vector<FieldFormat>& fields = placement_fields();
    format_.options.insert(format_.options.end(), fields.begin(), fields.end());
}

void FormatCollector::solids(const std::vector<Solid>&) {
    for (const TypeFormat& solid : solid_formats()) format_.options.push_back({solid.name, K::object, solid.meaning});
    format_.options.push_back({"solids", K::object, "a list of several of the above"});
}

const std::vector<TypeFormat>& force_formats() {
    static const std::vector<TypeFormat> list = describe_alternatives<ForceType>();
    return list;
}

const std::vector<TypeFormat>& stop_formats() {
    static const std::vector<TypeFormat> list = describe_alternatives<StopType>();
    return list;
}

const std::vector<FieldFormat>& orbit_fields() {
    static const std::vector<FieldFormat> list{
        {"orbit", K::number,
         "rate of a circular orbit [rad/s]: the world is the frame that goes along, x away from the centre of "
         "attraction, y along the flight, z normal to the orbit; bodies feel the gradient of gravity there, torques "
         "too, and the turning of the frame",
         true},
    };
    return list;
}

const std::vector<FieldFormat>& lateral_fields() {
    static const std::vector<FieldFormat> list = describe_fields<LateralTyre>();
    return list;
}

const std::vector<TypeFormat>& section_formats() {
    static const std::vector<TypeFormat> list = describe_alternatives<SectionType>();
    return list;
}

const std::vector<FieldFormat>& beam_fields() {
    static const std::vector<FieldFormat> list = describe_fields<Beam>();
    return list;
}

const std::vector<FieldFormat>& beam_material_fields() {
    static const std::vector<FieldFormat> list = describe_fields<BeamMaterial>();
    return list;
}

const std::vector<FieldFormat>& beam_arc_fields() {
    static const std::vector<FieldFormat> list = describe_fields<BeamArc>();
    return list;
}

const std::vector<FieldFormat>& longitudinal_fields() {
    static const std::vector<FieldFormat> list = describe_fields<LongitudinalTyre>();
    return list;
}

const std::vector<TypeFormat>& road_formats() {
    static const std::vector<TypeFormat> list = describe_alternatives<RoadPiece>();
    return list;
}

const std::vector<TypeFormat>& sensor_formats() {
    static const std::vector<TypeFormat> list = describe_alternatives<SensorType>();
    return list;
}

const std::vector<FieldFormat>& placement_fields() {
    static const std::vector<FieldFormat> list{
        {"at", K::vector, "position"},
        {"angle", K::number, "turn about z"},
        {"turn", K::numbers, "[x, y, z, angle]: turn by an angle about an axis"},
        {"xyz", K::numbers, "three turns about own x, then y, then z"},
        {"quaternion", K::numbers, "[w, x, y, z]"},
        {"z", K::vector, "direction of the z axis"},
        {"x", K::vector, "approximate direction of the x axis, beside z"},
    };
    return list;
}

const std::vector<FieldFormat>& marker_fields() {
    static const std::vector<FieldFormat> list = [] {
        std::vector<FieldFormat> fields = placement_fields();
        fields.push_back({"frame", K::text,
                          "axes of place and orientation: body (default) or world, at the reference configuration"});
        fields.push_back(
            {"on", K::marker, "another marker of the body: at its point, turned as given here in world axes"});
        return fields;
    }();
    return list;
}

const std::vector<TypeFormat>& solid_formats() {
    static const std::vector<TypeFormat> list = describe_alternatives<Solid>();
    return list;
}

const std::vector<TypeFormat>& shape_formats() {
    static const std::vector<TypeFormat> list = describe_alternatives<ContactShape>();
    return list;
}

const std::vector<TypeFormat>& contact_formats() {
    static const std::vector<TypeFormat> list = describe_alternatives<ContactType>();
    return list;
}

const std::vector<FieldFormat>& body_fields() {
    static const std::vector<FieldFormat> list = [] {
        std::vector<FieldFormat> fields = describe_fields<Body>();
        fields.push_back({"markers", K::object, "{name: [x, y, z]} or {name: {at: ..., angle: ...}}"});
        return fields;
    }();
    return list;
}

const std::vector<FieldFormat>& driver_fields() {
    static const std::vector<FieldFormat> list = describe_fields<Driver>();
    return list;
}

const std::vector<FieldFormat>& curve_fields() {
    static const std::vector<FieldFormat> list = describe_fields<CurveDefinition>();
    return list;
}

const std::vector<FieldFormat>& table_fields() {
    static const std::vector<FieldFormat> list{
        {"rows", K::table, "[[x, y], ...] with growing x", true},
        {"interpolation", K::text, "cubic (default) or linear"},
    };
    return list;
}

const std::vector<FieldFormat>& initial_fields() {
    static const std::vector<FieldFormat> list{
        {"positions", K::coordinate_map, "joint coordinates at the start"},
        {"rates", K::coordinate_map,
         "their rates at the start; other bodies are moved along with the least change of kinetic energy, those "
         "written at rest too"},
        {"velocities", K::text,
         "on-joints (default): moved onto the joints by the least change of kinetic energy; as-written: left as the "
         "bodies have them, whatever the joints demand, to see how a method with gains, or without stabilisation, "
         "treats the error"},
    };
    return list;
}

const std::vector<FieldFormat>& simulation_fields() {
    static const std::vector<FieldFormat> list = describe_fields<SimulationDefaults>();
    return list;
}

const std::vector<FieldFormat>& component_fields() {
    static const std::vector<FieldFormat> list = describe_fields<ComponentGroup>();
    return list;
}

const std::vector<FieldFormat>& solve_fields() {
    static const std::vector<FieldFormat> list = describe_fields<StartCondition>();
    return list;
}

const std::vector<FieldFormat>& modular_fields() {
    static const std::vector<FieldFormat> list = describe_fields<ModularDefaults>();
    return list;
}

const std::vector<TypeFormat>& event_formats() {
    static const std::vector<TypeFormat> list = describe_alternatives<EventType>();
    return list;
}

const std::vector<FieldFormat>& top_level_fields() {
    static const std::vector<FieldFormat> list{
        {"limber", K::number, "version of the format: 1", true},
        {"title", K::text, "what the mechanism is (default: that of an included file)"},
        {"include", K::object, "file or list of files read first; regular files only"},
        {"plane", K::text, "xy: a planar model, all points as [x, y]"},
        {"parameters", K::object, "{name: number or expression of other parameters}"},
        {"gravity", K::vector,
         "acceleration (default [0, 0, -9.81]; plane [0, -9.81]); 'none' for zero; expressions of t and of the place "
         "x, y, z "
         "of each body's centre of mass; {orbit: RATE} for the frame of a circular orbit"},
        {"tables", K::object, "{name: {rows: ...}}, usable as functions in expressions"},
        {"curves", K::object, "{name: {points: ...}} for point-on-curve"},
        {"roads", K::object, "{name: piece or list of pieces, added up} for tyres"},
        {"bodies", K::object, "{name: {...}}"},
        {"joints", K::object, "{name: {type: [first, second], ...}}"},
        {"drivers", K::object, "{name: {coordinate: ..., follows: ...}}"},
        {"stops", K::object, "{name: {type: ..., ...}}: one-sided constraints"},
        {"forces", K::object, "{name: {type: ..., ...}}"},
        {"contacts", K::object, "{name: {law: [first, second], ...}}: bodies that touch"},
        {"sensors", K::object, "{name: {type: ...}}"},
        {"events", K::object, "{name: {rises: ..., do: ...}}: edits made when a condition is met"},
        {"initial", K::object, "coordinates and rates at the start"},
        {"simulation", K::object, "what 'limber run' uses unless told otherwise"},
        {"solve", K::object,
         "{parameter: {sensor: ..., equals: ...}}: parameters that are found before the motion begins"},
        {"components", K::object, "{name: {bodies: ...}}: parts with a solver, scheme and step of their own"},
        {"modular", K::object, "how a divided mechanism is held together"},
    };
    return list;
}

const std::vector<std::string>& reserved_names() {
    static const std::vector<std::string> names{"t", "x", "v", "pi", "not"};
    return names;
}

std::vector<std::string> field_names(const std::vector<FieldFormat>& fields) {
    std::vector<std::string> names;
    names.reserve(fields.size());
    for (const auto& field : fields) names.emplace_back(field.name);
    return names;
}

}  // namespace limber
