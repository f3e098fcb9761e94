#pragma once
// Turns a YAML tree into a Model, section by section. Internal to the room.

#include "limber/io/format.hpp"
#include "limber/io/model_file.hpp"
#include "limber/io/yaml_node.hpp"

namespace limber {

class ModelReader {
public:
    ModelReader(ParameterOverrides overrides, IncludeLoader loader);
    ModelFile read(const std::string& text, const std::string& name);

private:
    struct Document {
        YamlNode root;
    };
    void load(const std::string& text, const std::string& name, int depth);
    void read_header();
    void read_parameters();
    void apply_overrides(const std::vector<std::string>& names);
    void read_gravity();
    void read_tables();
    void read_curves();
    void read_roads();
    RoadPiece read_road_piece(const YamlNode& node) const;
    void read_initial();
    void read_simulation();
    /// Calls read(name, node) for every entry of a section in all documents.
    void each(const char* section, const std::function<void(const std::string&, const YamlNode&)>& read);

    // read_bodies.cpp
    void read_body(const std::string& name, const YamlNode& node);
    void read_body_markers(BodyHandle body, const YamlNode& node);
    Placement read_placement(const YamlNode& node) const;
    Orientation read_orientation(const YamlNode& node) const;
    Solid read_solid(const TypeFormat& format, const YamlNode& node, Body& body) const;
    void read_general_mass(const YamlNode& node, Body& body) const;
    Number3 read_angular(const YamlNode& node, const std::vector<std::string>& also = {}) const;

    // read_joints.cpp
    void read_joint(const std::string& name, const YamlNode& node);
    void read_driver(const std::string& name, const YamlNode& node);
    void place_joint(Joint& joint, const YamlNode& node);
    MarkerHandle placed_marker(MarkerHandle given, const std::string& name, const YamlNode& node);
    TimeLaw read_time_law(const YamlNode& node, const char* key) const;
    std::optional<TableDefinition> read_inline_table(const YamlNode& node) const;
    TableDefinition read_rows(const YamlNode& rows, const std::optional<YamlNode>& interpolation) const;
    std::vector<ScalarTerm> read_terms(const YamlNode& node, bool free) const;

    // read_forces.cpp
    void read_force(const std::string& name, const YamlNode& node);
    ScalarLaw read_law(const YamlNode& node) const;

    // read_sensors.cpp
    void read_sensor(const std::string& name, const YamlNode& node);

    MarkerHandle marker(const YamlNode& node) const;
    std::pair<MarkerHandle, MarkerHandle> two_markers(const YamlNode& node) const;
    /// The one key of the node that names a type, checked together with that type's options.
    template <class Format>
    const Format& find_type(const YamlNode& node, const std::vector<Format>& formats, const char* what) const;
    template <class Element>
    void add(Table<Element>& table, Element element, const YamlNode& node);

    ParameterOverrides overrides_;
    IncludeLoader loader_;
    std::shared_ptr<YamlContext> context_;
    std::vector<YamlNode> documents_;
    ModelFile file_;
    Model& model_;
    std::vector<std::string> loaded_;
};

template <class Format>
const Format& ModelReader::find_type(const YamlNode& node, const std::vector<Format>& formats, const char* what) const {
    if (!node.is_map()) node.fail(std::string("expected a mapping with the type of the ") + what);
    std::vector<std::string> names;
    const Format* found = nullptr;
    for (const Format& format : formats) {
        names.emplace_back(format.name);
        if (!node.child(format.name)) continue;
        // An option of one type may be the name of another (a sensor of a 'force').
        if (found != nullptr) node.fail(std::string("both '") + found->name + "' and '" + format.name + "' are given");
        found = &format;
    }
    if (found == nullptr) {
        // Name the key that comes nearest.
        for (const auto& [key, child] : node.entries("a mapping")) {
            const std::string hint = did_you_mean(key, names);
            if (!hint.empty()) node.fail("unknown " + std::string(what) + " type '" + key + "'" + hint);
        }
        std::string all;
        for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
        node.fail(std::string("expected the type of the ") + what + ": one of " + all);
    }
    // What an object holds belongs to the object.
    const bool has_options = found->kind != FieldKind::object;
    std::vector<std::string> keys = has_options ? field_names(found->options) : std::vector<std::string>{};
    keys.insert(keys.begin(), found->name);
    node.check_keys(keys);
    for (const FieldFormat& option : found->options)
        if (has_options && option.is_required && !node.child(option.name))
            node.fail(std::string("'") + option.name + "' is missing: " + option.meaning);
    if (found->is_spatial_only && model_.planar)
        node.fail(std::string("a ") + found->name + " " + what + " needs a spatial model; this one is planar");
    return *found;
}

template <class Element>
void ModelReader::add(Table<Element>& table, Element element, const YamlNode& node) {
    node.check_name(element.name);
    if (!table.find(element.name).is_null())
        node.fail(std::string(Element::kind) + " '" + element.name + "' exists already");
    file_.places[std::string(Element::kind) + " '" + element.name + "'"] = node.location();
    table.add(std::move(element));
}

}  // namespace limber
