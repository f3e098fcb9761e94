#pragma once
// Turns a YAML tree into a Model, section by section. Internal to the room.

#include "limber/io/format.hpp"
#include "limber/io/model_file.hpp"
#include "limber/io/yaml_node.hpp"
#include "limber/io/yaml_parse.hpp"

namespace limber {

class ModelEvaluation;

class ModelReader {
    friend class FieldReader;

public:
    ModelReader(ParameterOverrides overrides, IncludeLoader loader, const ReadLimits& limits = {});
    ModelFile read(const std::string& text, const std::string& name);

    /// For edits: goes on with a model that exists.
    explicit ModelReader(Model model);
    /// Reads the sections of a document that stands for part of a file, as new elements or (`is_replacing`) in place
    /// of those of the same names. A body read again keeps its markers; besides the sections of a file there is
    /// 'markers', {body.marker: ...}. The model is not compiled.
    void read_part(const YAML::Node& document, bool is_replacing);
    Model take_model() { return std::move(file_.model); }

private:
    void load(const std::string& text, const std::string& name, int depth);
    /// The content of a file that a place in the model names, relative to the model.
    std::string load_other(const YamlNode& place, const std::string& path) const;
    void compile_once(const std::string& name);
    void read_header();
    void read_sections();
    void read_parameters();
    void apply_overrides(const std::vector<std::string>& names);
    void read_gravity();
    void read_table(const std::string& name, const YamlNode& node);
    void read_curve(const std::string& name, const YamlNode& node);
    void read_road(const std::string& name, const YamlNode& node);
    void read_initial();
    template <class Section>
    void read_section(const char* name, Section& section);
    void read_condition(const std::string& name, const YamlNode& node);
    void read_component(const std::string& name, const YamlNode& node);
    Number positive_number(const YamlNode& node, const ModelEvaluation& evaluation) const;
    /// Calls read(name, node) for every entry of a section in all documents.
    void each(const char* section, const YamlNode::UseEntry& read);

    // read_bodies.cpp
    void read_body(const std::string& name, const YamlNode& node);
    void read_more_markers(BodyHandle body, const YamlNode& node);
    void read_body_markers(BodyHandle body, const YamlNode& node);
    void read_marker(BodyHandle body, const std::string& name, const YamlNode& node);
    void read_marker_entry(const std::string& name, const YamlNode& node);
    MarkerHandle store_marker(Marker marker, const YamlNode& node);
    Placement read_placement(const YamlNode& node) const;
    Orientation read_orientation(const YamlNode& node) const;
    std::vector<Solid> read_solids(const YamlNode& body) const;
    Solid read_solid(const TypeFormat& format, const YamlNode& node) const;
    InertiaEntries read_inertia(const YamlNode& node) const;
    static void check_masses(const YamlNode& node, const Body& body);
    static void check_beam(const YamlNode& node, const Body& body);
    Number3 read_angular(const YamlNode& node, const std::vector<std::string>& also = {}, bool free = false) const;

    // read_joints.cpp
    void read_joint(const std::string& name, const YamlNode& node);
    void read_driver(const std::string& name, const YamlNode& node);
    void place_joint(Joint& joint, const YamlNode& node);
    JointPlace read_joint_place(const YamlNode& node) const;
    TimeLaw read_time_law(const YamlNode& node, const char* key) const;
    std::optional<TableDefinition> read_inline_table(const YamlNode& node) const;
    TableDefinition read_rows(const YamlNode& rows, const std::optional<YamlNode>& interpolation) const;

    // read_forces.cpp
    void read_force(const std::string& name, const YamlNode& node);
    ScalarLaw read_law(const YamlNode& node) const;

    void read_stop(const std::string& name, const YamlNode& node);
    // read_contacts.cpp
    void read_contact(const std::string& name, const YamlNode& node);
    ContactSide read_contact_side(const YamlNode& node) const;
    GroupNames read_groups(const YamlNode& node) const;
    const std::vector<std::string>& group_names() const;  ///< sorted
    std::vector<ContactShape> read_shapes(const YamlNode& node) const;
    ContactShape read_shape(const TypeFormat& format, const YamlNode& node) const;
    SurfaceFile load_surface(const YamlNode& node) const;
    static std::vector<Number3> read_points(const YamlNode& node, bool in_plane);
    static HeightGrid read_heights(const YamlNode& node);

    void read_sensor(const std::string& name, const YamlNode& node);
    void check_view(const Sensor& sensor, const YamlNode& node) const;
    void read_event(const std::string& name, const YamlNode& node);
    static EditLines read_edits(const YamlNode& node);

    MarkerHandle marker(const YamlNode& node) const;
    std::pair<MarkerHandle, MarkerHandle> two_markers(const YamlNode& node) const;
    /// The one key of the node that names a type, checked together with that type's options.
    const TypeFormat& find_type(const YamlNode& node, const std::vector<TypeFormat>& formats, const char* what) const;
    /// Says which key was taken for the type of an element but is none.
    [[noreturn]] static void refuse_type(const YamlNode& node, const std::vector<TypeFormat>& formats,
                                         const char* what);
    /// The one key of an item of a list of solids or shapes.
    const TypeFormat& find_shape(const YamlNode& item, const std::vector<TypeFormat>& formats) const;
    /// All keys of a mapping are among these, and those that are required are there.
    static void check_fields(const YamlNode& node, const std::vector<FieldFormat>& fields);
    /// One of several types, with all its fields (field_reader.hpp).
    template <class Types>
    Types read_fields(const YamlNode& node, const TypeFormat& format, const std::vector<TypeFormat>& formats) const;
    /// The same, with the key that names the type.
    template <class Types>
    Types read_type(const YamlNode& node, const std::vector<TypeFormat>& formats, const char* what) const;
    template <class Element>
    Element read_typed(const std::string& name, const YamlNode& node, const std::vector<TypeFormat>& formats) const;
    template <class Element>
    void add(Table<Element>& table, Element element, const YamlNode& node);

    ParameterOverrides overrides_;
    IncludeLoader loader_;
    ReadLimits limits_;
    std::shared_ptr<YamlContext> context_;
    std::vector<YamlNode> documents_;
    ModelFile file_;
    Model& model_;
    std::vector<std::string> loaded_;
    bool is_replacing_ = false;
    std::size_t earlier_bodies_ = 0;  ///< slots of those of the files read before this one
    /// Once all bodies have been read.
    mutable std::optional<std::vector<std::string>> group_names_;
    std::vector<MarkerHandle> reread_markers_;  ///< made by the joint that is being read again
};

template <class Element>
void ModelReader::add(Table<Element>& table, Element element, const YamlNode& node) {
    node.check_name(element.name);
    const Handle<Element> existing = table.find(element.name);
    if (!is_replacing_ && !existing.is_null())
        node.fail(std::string(Element::kind) + " '" + element.name + "' exists already");
    file_.places[std::string(Element::kind) + " '" + element.name + "'"] = node.location();
    if (is_replacing_) {
        table.replace(existing, std::move(element));
    } else {
        table.add(std::move(element));
    }
}

}  // namespace limber
