#include "limber/io/element_edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "limber/io/dependents.hpp"
#include "limber/io/field_writer.hpp"
#include "limber/io/model_reader.hpp"

namespace limber {
namespace {

struct Section {
    const char* name;
    ElementKind kind;
};
constexpr Section sections[] = {
    {"parameters", ElementKind::parameter}, {"tables", ElementKind::table},   {"curves", ElementKind::curve},
    {"roads", ElementKind::road},           {"bodies", ElementKind::body},    {"markers", ElementKind::marker},
    {"joints", ElementKind::joint},         {"drivers", ElementKind::driver}, {"stops", ElementKind::stop},
    {"forces", ElementKind::force},         {"sensors", ElementKind::sensor}, {"events", ElementKind::event},
    {"contacts", ElementKind::contact},
};

ElementKind find_kind(const std::string& section) {
    for (const Section& s : sections)
        if (section == s.name) return s.kind;
    throw ModelError(fmt::format("there is no section '{}'{}", section, did_you_mean(section, element_sections())));
}

/// Calls visit(table) with the table that holds elements of a kind; parameters have none.
template <class SomeModel, class Visit>
void visit_table(SomeModel& model, ElementKind kind, const Visit& visit) {
    auto its_kind = static_cast<int>(ElementKind::table);
    std::apply([&](auto&... table) { ((its_kind++ == static_cast<int>(kind) ? visit(table) : void()), ...); },
               Model::tables_of(model));
}

bool exists(const Model& model, const ElementName& element) {
    bool found = element.kind == ElementKind::parameter && model.parameters.contains(element.name);
    visit_table(model, element.kind, [&](const auto& table) { found = !table.find(element.name).is_null(); });
    return found;
}

void require(const Model& model, const ElementName& element) {
    if (exists(model, element)) return;
    std::vector<std::string> names = model.parameters.names();
    visit_table(model, element.kind, [&](const auto& table) { names = table.names(); });
    throw ModelError(fmt::format("there is no {}{}", describe(element), did_you_mean(element.name, names)));
}

// Markers that come with a body or a joint are changed and removed with it.
void require_own_entry(const Model& model, const ElementName& element) {
    if (element.kind != ElementKind::marker) return;
    const MarkerHandle handle = model.markers.find(element.name);
    const Marker& marker = model.markers.get(handle);
    if (comes_with_body(model, marker))
        throw ModelError(fmt::format("{} belongs to body '{}' and cannot be changed by itself", describe(element),
                                     model.bodies.get(marker.body).name));
    const Joint* maker = model.joints.find(find_maker(model, handle));
    if (maker != nullptr)
        throw ModelError(fmt::format("{} belongs to joint '{}': change the joint", describe(element), maker->name));
}

YAML::Node parse_value(const std::string& yaml) {
    return parse_yaml(yaml, "edit");
}

/// {section: {name: value}}
YAML::Node part_of_file(const std::string& section, const std::string& name, const YAML::Node& value) {
    MappingWriter entries;
    entries.add(name, value);
    MappingWriter document;
    document.add(section, entries.take());
    return document.take();
}

YAML::Node element_node(const Model& model, const ElementName& element) {
    require(model, element);
    const ElementWriter writer(model);
    if (element.kind == ElementKind::parameter) return writer.write(model.parameters.definition(element.name));
    YAML::Node node;
    visit_table(model, element.kind,
                [&](const auto& table) { node = writer.write(table.get(table.find(element.name))); });
    return node;
}

/// Of a body, with the markers that are written with it.
YAML::Node whole_element_node(const Model& model, const ElementName& element) {
    YAML::Node node = element_node(model, element);
    if (element.kind != ElementKind::body) return node;
    const BodyHandle body = model.bodies.find(element.name);
    std::vector<MarkerHandle> markers;
    for (const auto handle : model.markers.handles()) {
        const Marker& marker = model.markers.get(handle);
        if (marker.body == body && !comes_with_body(model, marker) && find_maker(model, handle).is_null())
            markers.push_back(handle);
    }
    if (!markers.empty()) node["markers"] = ElementWriter(model).markers(markers);
    return node;
}

// ---------------------------------------------------------------- one value inside an element

// "at.0": the place before the first dot, and what comes after it.
std::pair<std::string, std::string> split_first(const std::string& path) {
    const auto dot = path.find('.');
    if (dot == std::string::npos) return {path, ""};
    return {path.substr(0, dot), path.substr(dot + 1)};
}

void replace_field(YAML::Node node, const std::string& field, const YAML::Node& value);

void replace_item(YAML::Node list, const std::string& field, const YAML::Node& value) {
    const auto [place, rest] = split_first(field);
    const bool is_number = !place.empty() && place.size() < 7 &&
                           std::all_of(place.begin(), place.end(), [](char c) { return c >= '0' && c <= '9'; });
    const std::size_t index = is_number ? std::stoul(place) : list.size();
    if (index >= list.size())
        throw ModelError(
            fmt::format("edit: expected the number of an item, 0 .. {}, found '{}'", list.size() - 1, place));
    if (rest.empty()) {
        list[index] = value;
    } else {
        replace_field(list[index], rest, value);
    }
}

// Keys may contain dots (coordinates): the longest one that is there counts. A key that is not there yet is added; the
// reader tells whether it may.
void replace_field(YAML::Node node, const std::string& field, const YAML::Node& value) {
    if (node.IsSequence()) return replace_item(node, field, value);
    if (!node.IsMap()) throw ModelError(fmt::format("edit: there is no '{}' in '{}'", field, plain_text(node)));
    std::string key;
    std::vector<std::string> keys;
    for (const auto& entry : node) {
        keys.push_back(entry.first.Scalar());
        const bool leads = field == keys.back() || field.starts_with(keys.back() + ".");
        if (leads && keys.back().size() > key.size()) key = keys.back();
    }
    if (!key.empty() && key != field) return replace_field(node[key], field.substr(key.size() + 1), value);
    if (!value.IsNull()) {
        node[field] = value;
    } else if (!node.remove(field)) {
        throw ModelError(fmt::format("edit: there is no '{}' to take away{}", field, did_you_mean(field, keys)));
    }
}

YAML::Node with_field(const YAML::Node& node, const std::string& field, const YAML::Node& value) {
    replace_field(node, field, value);
    return node;
}

// A marker that is only a point is written as one; its other fields stand beside 'at'.
YAML::Node marker_for_field(const YAML::Node& node, const std::string& field) {
    const bool is_index = field[0] >= '0' && field[0] <= '9';
    if (!node.IsSequence() || is_index) return node;
    MappingWriter map;
    map.add("at", node);
    return map.take();
}

void list_properties(const YAML::Node& node, const std::string& field, std::vector<Property>& out) {
    const auto inside = [&](const std::string& key) { return field.empty() ? key : field + "." + key; };
    if (node.IsMap()) {
        for (const auto& entry : node) list_properties(entry.second, inside(entry.first.Scalar()), out);
        return;
    }
    if (node.IsSequence() && node.size() > 0 && node[0].IsMap()) {
        for (std::size_t i = 0; i < node.size(); ++i) list_properties(node[i], inside(std::to_string(i)), out);
        return;
    }
    out.push_back({field, plain_text(node)});
}

// ---------------------------------------------------------------- whole elements changed

void remove_unused_marker(Model& model, MarkerHandle marker) {
    const std::string name = std::as_const(model).markers.get(marker).name;
    const Removal removal = find_removal(model, {ElementKind::marker, name});
    if (!removal.dependents.empty())
        throw ModelError(
            fmt::format("marker '{}' would be lost, which is needed by {}", name, describe(removal.dependents)));
    model.markers.remove(marker);
}

// A body that becomes a rod gets the markers of its ends, and loses them when it ceases to be one.
void update_end_markers(Model& model, BodyHandle body, bool had_ends) {
    const Body& changed = std::as_const(model).bodies.get(body);
    if ((changed.rod() != nullptr) == had_ends) return;
    if (had_ends) {
        for (const char* end : {".from", ".to"}) remove_unused_marker(model, model.markers.find(changed.name + end));
    } else {
        model.add_marker(body, "from", {}, Marker::Kind::rod_start);
        model.add_marker(body, "to", {}, Marker::Kind::rod_end);
    }
}

Model replace_element(const Model& model, const std::string& section, const ElementName& element,
                      const YAML::Node& value) {
    ModelReader reader(model);
    reader.read_part(part_of_file(section, element.name, value), true);
    Model changed = reader.take_model();
    if (element.kind == ElementKind::body) {
        const BodyHandle body = model.bodies.find(element.name);
        update_end_markers(changed, body, model.bodies.get(body).rod() != nullptr);
    }
    if (element.kind == ElementKind::joint) {
        const JointHandle handle = model.joints.find(element.name);
        const Joint& before = model.joints.get(handle);
        const Joint& after = std::as_const(changed).joints.get(handle);
        for (const MarkerHandle marker : {before.ends().first, before.ends().second})
            if (owns_markers(model, before) && marker != after.ends().first && marker != after.ends().second)
                remove_unused_marker(changed, marker);
    }
    return changed;
}

// gravity, initial and simulation: a section that is one value, or one mapping.
Model replace_section(const Model& model, const std::string& section, const YAML::Node& value) {
    Model cleared = model;
    if (section == "initial") {
        cleared.initial_positions.clear();
        cleared.initial_rates.clear();
        cleared.initial_velocities = StartVelocities::on_joints;
    }
    if (section == "simulation") {
        // What is written elsewhere in a file stays.
        const SimulationDefaults before = std::exchange(cleared.simulation, {});
        cleared.simulation.modular = before.modular;
        cleared.simulation.components = before.components;
        cleared.simulation.conditions = before.conditions;
    }
    ModelReader reader(std::move(cleared));
    MappingWriter document;
    document.add(section, value);
    reader.read_part(document.take(), true);
    return reader.take_model();
}

YAML::Node section_node(const Model& model, const std::string& section) {
    const ElementWriter writer(model);
    return section == "gravity"   ? writer.gravity()
           : section == "initial" ? writer.initial()
                                  : writer.described(model.simulation);
}

void remove_listed(Model& model, const ElementName& element) {
    const auto remove_value = [&](std::vector<InitialValue>& values) {
        std::erase_if(values, [&](const InitialValue& value) { return value.scalar == element.name; });
    };
    if (element.kind == ElementKind::parameter) model.parameters.remove(element.name);
    if (element.kind == ElementKind::initial_position) remove_value(model.initial_positions);
    if (element.kind == ElementKind::initial_rate) remove_value(model.initial_rates);
    visit_table(model, element.kind, [&](auto& table) { table.remove(table.find(element.name)); });
}

}  // namespace

const std::vector<std::string>& element_sections() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        for (const Section& section : sections) list.emplace_back(section.name);
        return list;
    }();
    return names;
}

void add_element(Model& model, const std::string& section, const std::string& name, const std::string& yaml) {
    const ElementName element{find_kind(section), name};
    if (exists(model, element)) throw ModelError(fmt::format("{} exists already", describe(element)));
    // In a file a key may be a loop; here it is a name.
    if (name.find_first_of(" <") != std::string::npos)
        throw ModelError(fmt::format("'{}' cannot be a name: use letters, digits and underscores", name));
    ModelReader reader(model);
    reader.read_part(part_of_file(section, name, parse_value(yaml)), false);
    model = reader.take_model();
}

std::vector<std::string> remove_element(Model& model, const std::string& section, const std::string& name,
                                        bool with_dependents) {
    const ElementName element{find_kind(section), name};
    require(model, element);
    require_own_entry(model, element);
    if (element == ElementName{ElementKind::body, "ground"}) throw ModelError("the ground cannot be removed");
    const Removal removal = find_removal(model, element);
    std::vector<ElementName> obstacles = removal.dependents;
    if (with_dependents)
        std::erase_if(obstacles, [](const ElementName& e) {
            return e.kind != ElementKind::gravity && e.kind != ElementKind::simulation;
        });
    if (!obstacles.empty())
        throw ModelError(
            fmt::format("{} cannot be removed: it is needed by {}", describe(element), describe(obstacles)));
    std::vector<std::string> removed{describe(element)};
    for (const ElementName& dependent : removal.dependents) {
        remove_listed(model, dependent);
        removed.push_back(describe(dependent));
    }
    for (const ElementName& owned : removal.owned) remove_listed(model, owned);
    return removed;
}

std::string write_element(const Model& model, const std::string& section, const std::string& name) {
    return plain_text(whole_element_node(model, {find_kind(section), name}));
}

void set_property(Model& model, const std::string& path, const std::string& yaml) {
    const auto [section, inside] = split_first(path);
    const YAML::Node value = parse_value(yaml);
    if (section == "title") {
        if (!value.IsScalar() && !value.IsNull()) throw ModelError("edit: title: expected a text");
        model.title = value.IsNull() ? "" : value.Scalar();
        return;
    }
    if (section == "gravity" || section == "initial" || section == "simulation") {
        model = replace_section(model, section,
                                inside.empty() ? value : with_field(section_node(model, section), inside, value));
        return;
    }
    ElementKind kind = find_kind(section);
    auto [name, field] = split_first(inside);
    std::string in_section = section;
    if (kind == ElementKind::body && split_first(field).first == "markers") {
        in_section = "markers";
        kind = ElementKind::marker;
        field = split_first(field).second;
    }
    if (kind == ElementKind::marker) {
        const auto [marker, rest] = split_first(field);
        name += "." + marker;
        field = rest;
    }
    const ElementName element{kind, name};
    require(model, element);
    require_own_entry(model, element);
    if (kind == ElementKind::body && field.empty() && value.IsMap() && value["markers"])
        throw ModelError(fmt::format("body '{}': its markers are changed one by one, as markers.{}.name", name, name));
    YAML::Node node = value;
    if (!field.empty()) {
        const YAML::Node whole = element_node(model, element);
        // reset, since assigning would change `value` as well
        node.reset(with_field(kind == ElementKind::marker ? marker_for_field(whole, field) : whole, field, value));
    }
    model = replace_element(model, in_section, element, node);
}

std::vector<Property> properties(const Model& model, const std::string& section, const std::string& name) {
    std::vector<Property> result;
    list_properties(whole_element_node(model, {find_kind(section), name}), "", result);
    return result;
}

}  // namespace limber
