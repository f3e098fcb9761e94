#pragma once
// Turns elements of a Model into the YAML a model file has for them; the inverse of ModelReader. Internal to the room.

#include "limber/io/format.hpp"
#include "limber/io/marker_origin.hpp"
#include "limber/io/yaml_text.hpp"
#include "limber/model/model.hpp"

namespace limber {

class ElementWriter {
    friend class FieldWriter;

public:
    explicit ElementWriter(const Model& model) : model_(model) {}

    YAML::Node write(const TableDefinition& table) const;
    YAML::Node write(const CurveDefinition& curve) const;
    YAML::Node write(const RoadDefinition& road) const;
    /// Without its markers.
    YAML::Node write(const Body& body) const;
    YAML::Node write(const Marker& marker) const;
    YAML::Node write(const Joint& joint) const { return write(joint, has_own_markers(model_, joint)); }
    /// `places_itself`: by 'at', 'axis' and 'x' instead of naming its markers.
    YAML::Node write(const Joint& joint, bool places_itself) const;
    /// The markers of a joint that may place itself, and whether it is cut.
    void add_placed(MappingWriter& map, const char* key, const Joint& joint, bool places_itself) const;
    YAML::Node write(const Driver& driver) const;
    YAML::Node write(const Force& force) const;
    YAML::Node write(const Stop& stop) const;
    YAML::Node write(const Sensor& sensor) const;
    YAML::Node write(const EventRule& event) const;
    YAML::Node write(const ContactRule& rule) const;
    YAML::Node write(const Number& parameter) const { return YAML::Node(parameter.text()); }
    YAML::Node gravity() const;
    /// With 'positions' and 'rates' even if they are empty.
    YAML::Node initial() const;
    /// All fields of what has no types (field_writer.hpp).
    template <class Described>
    YAML::Node described(const Described& element) const;

    /// {name: marker, ...}, each after the one it is based on.
    YAML::Node markers(const std::vector<MarkerHandle>& handles) const;

private:
    // write_bodies.cpp
    void add_orientation(MappingWriter& map, const Orientation& orientation) const;
    void add_placement(MappingWriter& map, const Placement& placement) const;
    void add_solids(MappingWriter& map, const std::vector<Solid>& solids) const;
    YAML::Node inertia(const InertiaEntries& inertia) const;
    // write_contacts.cpp
    YAML::Node shapes(const std::vector<ContactShape>& shapes) const;
    YAML::Node sides(const ContactSides& between) const;

    YAML::Node vector(const Number3& numbers) const { return vector_node(numbers, model_.planar); }
    YAML::Node angular(const Number3& numbers) const;

    // write_joints.cpp
    void add_place(MappingWriter& map, const Marker& marker) const;
    void add_time_law(MappingWriter& map, const TimeLaw& law, const char* key) const;

    /// Of one of several types (field_writer.hpp).
    template <class Types>
    YAML::Node write_type(const Types& types) const;
    /// The key of its type, and below it all its fields.
    template <class Types>
    void add_type(MappingWriter& map, const Types& types) const;

    // write_forces.cpp
    void add_law(MappingWriter& map, const ScalarLaw& law) const;

    /// "body" for a body's origin, otherwise "body.marker".
    std::string marker_name(MarkerHandle handle) const;
    YAML::Node two_markers(MarkerHandle a, MarkerHandle b) const;

    const Model& model_;
};

/// [[x, y], ...]
YAML::Node table_rows(const TableDefinition& table);
YAML::Node height_rows(const HeightGrid& grid);
void add_rows(MappingWriter& map, const char* key, const TableDefinition& table);

}  // namespace limber
