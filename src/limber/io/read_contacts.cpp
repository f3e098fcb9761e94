// Shapes of bodies and rules of contact.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "limber/io/model_reader.hpp"
#include "limber/io/surface_file.hpp"

namespace limber {

std::vector<ContactShape> ModelReader::read_shapes(const YamlNode& node) const {
    std::vector<ContactShape> shapes;
    for (const YamlNode& item : node.items("a list of shapes")) {
        const TypeFormat& format = find_shape(item, shape_formats());
        shapes.push_back(read_shape(format, item.required(format.name)));
    }
    return shapes;
}

ContactShape ModelReader::read_shape(const TypeFormat& format, const YamlNode& node) const {
    ContactShape shape;
    shape.kind = static_cast<ContactShape::Kind>(&format - shape_formats().data());
    if (node.is_null()) {
        for (const FieldFormat& option : format.options)
            if (option.is_required) node.fail(fmt::format("'{}' is missing: {}", option.name, option.meaning));
        return shape;
    }
    check_fields(node, format.options);
    shape.placement = read_placement(node);
    for (const char* key : {"radius", "length"})
        if (const auto child = node.child(key)) shape.size.push_back(child->number());
    if (const auto child = node.child("size")) {
        shape.size = child->numbers();
        const std::size_t count = model_.planar || shape.kind == ContactShape::Kind::height_field ? 2 : 3;
        if (shape.size.size() != count)
            child->fail(fmt::format("expected {} lengths, found {}", count, shape.size.size()));
    }
    if (const auto child = node.child("width")) shape.width = child->number();
    if (const auto child = node.child("file")) {
        shape.file = child->text("the name of a file");
        if (!loader_) child->fail("this model may not use other files");
        const std::string place = child->location();
        const auto folder = std::filesystem::path(place.substr(0, place.rfind(':'))).parent_path();
        const std::string path = (folder / shape.file).lexically_normal().string();
        const std::string content = load_other(*child, path);
        try {
            shape.surface = std::make_shared<const SurfaceMesh>(read_surface(content, path));
        } catch (const ModelError& error) {
            child->fail(error.what());
        }
    }
    if (const auto child = node.child("points")) {
        if (!shape.file.empty()) child->fail("give 'points' or 'file', not both");
        const bool in_plane = model_.planar || shape.kind == ContactShape::Kind::profile;
        for (const YamlNode& point : child->items("a list of points")) shape.points.push_back(point.vector(in_plane));
        if (shape.points.size() < 2) child->fail("expected at least two points");
    }
    if (const auto child = node.child("heights")) {
        for (const YamlNode& row : child->items("rows [[z, ...], ...]")) {
            const auto numbers = row.numbers();
            if (shape.columns == 0) shape.columns = static_cast<int>(numbers.size());
            if (shape.columns < 2 || numbers.size() != static_cast<std::size_t>(shape.columns))
                row.fail("expected rows of equal length, at least two heights each");
            shape.heights.insert(shape.heights.end(), numbers.begin(), numbers.end());
        }
        if (shape.heights.size() < 2 * static_cast<std::size_t>(shape.columns) || shape.columns == 0)
            child->fail("expected at least two rows");
    }
    const bool needs_source = shape.kind == ContactShape::Kind::convex || shape.kind == ContactShape::Kind::mesh;
    if (needs_source && shape.file.empty() && shape.points.empty())
        node.fail(fmt::format("a {} needs 'file'{}", format.name,
                              shape.kind == ContactShape::Kind::convex ? " or 'points'" : ""));
    return shape;
}

std::vector<std::string> ModelReader::read_groups(const YamlNode& node) const {
    std::vector<YamlNode> items{node};
    if (node.is_sequence()) items = node.items("a list of groups");
    std::vector<std::string> groups;
    for (const YamlNode& item : items) {
        groups.push_back(item.text("the name of a group"));
        item.check_name(groups.back());
        if (groups.back() == "all" || groups.back() == "ground")
            item.fail(fmt::format("'{}' cannot be the name of a group: it has a meaning of its own", groups.back()));
    }
    return groups;
}

const std::vector<std::string>& ModelReader::group_names() {
    if (group_names_) return *group_names_;
    std::set<std::string> names;
    for (const BodyHandle handle : model_.bodies.handles()) {
        const auto& groups = std::as_const(model_).bodies.get(handle).groups;
        names.insert(groups.begin(), groups.end());
    }
    return group_names_.emplace(names.begin(), names.end());
}

// A body, a group, a list of bodies and groups, or all.
ContactSide ModelReader::read_contact_side(const YamlNode& node) {
    std::vector<YamlNode> items;
    if (node.is_sequence()) {
        items = node.items("a list of bodies and groups");
    } else {
        if (node.text("a body, a group, a list of them, or all") == "all") return {};
        items.push_back(node);
    }
    const std::vector<std::string>& groups = group_names();
    ContactSide side;
    for (const YamlNode& item : items) {
        const std::string name = item.text("a body or a group");
        const BodyHandle handle = model_.bodies.find(name);
        const bool is_group = std::binary_search(groups.begin(), groups.end(), name);
        if (!handle.is_null() && is_group)
            item.fail(fmt::format("'{}' is both a body and a group: rename one of them", name));
        if (is_group) {
            side.groups.push_back(name);
        } else if (!handle.is_null()) {
            side.bodies.push_back(handle);
        } else {
            std::vector<std::string> known = model_.bodies.names();
            known.insert(known.end(), groups.begin(), groups.end());
            item.fail(fmt::format("there is no body or group '{}'{}", name, did_you_mean(name, known)));
        }
    }
    if (side.is_all()) node.fail("expected at least one body or group");
    return side;
}

void ModelReader::read_contact(const std::string& name, const YamlNode& node) {
    const TypeFormat& format = find_type(node, contact_formats(), "contact");
    ContactRule rule;
    rule.name = name;
    rule.law = static_cast<ContactRule::Law>(&format - contact_formats().data());
    const YamlNode main = node.required(format.name);
    const auto sides = main.items("two bodies, groups or lists of them [first, second]");
    if (sides.size() != 2) main.fail(fmt::format("expected [first, second], found {}", sides.size()));
    rule.first = read_contact_side(sides[0]);
    rule.second = read_contact_side(sides[1]);
    for (const FieldFormat& option : format.options) {
        const auto child = node.child(option.name);
        if (!child) continue;
        if (option.kind == FieldKind::truth) {
            rule.includes_joined = child->truth();
        } else {
            rule.numbers[option.name] = child->number();
        }
    }
    add(model_.contacts, std::move(rule), node);
}

}  // namespace limber
