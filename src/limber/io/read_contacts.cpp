// Shapes of bodies and rules of contact.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "limber/io/field_reader.hpp"
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
    check_fields(node, format.options);
    ContactShape shape = read_fields<ContactShape>(node, format, shape_formats());
    if (const auto* mesh = std::get_if<MeshShape>(&shape); mesh != nullptr && !mesh->file.surface)
        node.fail("a mesh needs 'file'");
    if (const auto* convex = std::get_if<ConvexShape>(&shape)) {
        if (convex->file.surface && !convex->points.empty())
            node.required("points").fail("give 'points' or 'file', not both");
        if (!convex->file.surface && convex->points.empty()) node.fail("a convex needs 'file' or 'points'");
    }
    return shape;
}

SurfaceFile ModelReader::load_surface(const YamlNode& node) const {
    SurfaceFile file{.name = node.text("the name of a file")};
    if (!loader_) node.fail("this model may not use other files");
    const std::string place = node.location();
    const auto folder = std::filesystem::path(place.substr(0, place.rfind(':'))).parent_path();
    const std::string path = (folder / file.name).lexically_normal().string();
    const std::string content = load_other(node, path);
    try {
        file.surface = std::make_shared<const SurfaceMesh>(read_surface(content, path));
    } catch (const ModelError& error) {
        node.fail(error.what());
    }
    return file;
}

std::vector<Number3> ModelReader::read_points(const YamlNode& node, bool in_plane) {
    std::vector<Number3> points;
    for (const YamlNode& point : node.items("a list of points")) points.push_back(point.vector(in_plane));
    if (points.size() < 2) node.fail("expected at least two points");
    return points;
}

HeightGrid ModelReader::read_heights(const YamlNode& node) {
    HeightGrid grid;
    for (const YamlNode& row : node.items("rows [[z, ...], ...]")) {
        const auto numbers = row.numbers();
        if (grid.columns == 0) grid.columns = static_cast<int>(numbers.size());
        if (grid.columns < 2 || numbers.size() != static_cast<std::size_t>(grid.columns))
            row.fail("expected rows of equal length, at least two heights each");
        grid.heights.insert(grid.heights.end(), numbers.begin(), numbers.end());
    }
    if (grid.heights.size() < 2 * static_cast<std::size_t>(grid.columns) || grid.columns == 0)
        node.fail("expected at least two rows");
    return grid;
}

GroupNames ModelReader::read_groups(const YamlNode& node) const {
    std::vector<YamlNode> items{node};
    if (node.is_sequence()) items = node.items("a list of groups");
    GroupNames groups;
    for (const YamlNode& item : items) {
        const std::string& name = groups.names.emplace_back(item.text("the name of a group"));
        item.check_name(name);
        if (name == "all" || name == "ground")
            item.fail(fmt::format("'{}' cannot be the name of a group: it has a meaning of its own", name));
    }
    return groups;
}

const std::vector<std::string>& ModelReader::group_names() const {
    if (group_names_) return *group_names_;
    std::set<std::string> names;
    for (const BodyHandle handle : model_.bodies.handles()) {
        const auto& groups = std::as_const(model_).bodies.get(handle).groups.names;
        names.insert(groups.begin(), groups.end());
    }
    return group_names_.emplace(names.begin(), names.end());
}

// A body, a group, a list of bodies and groups, or all.
ContactSide ModelReader::read_contact_side(const YamlNode& node) const {
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
    add(model_.contacts, read_typed<ContactRule>(name, node, contact_formats()), node);
}

}  // namespace limber
