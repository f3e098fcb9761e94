// Shapes of bodies and rules of contact.

#include "limber/io/element_writer.hpp"

namespace limber {

YAML::Node ElementWriter::points(const std::vector<Number3>& points) const {
    YAML::Node list(YAML::NodeType::Sequence);
    for (const Number3& point : points) list.push_back(vector(point));
    return list;
}

void ElementWriter::add_shape(MappingWriter& map, const ContactShape& shape) const {
    MappingWriter fields;
    using K = ContactShape::Kind;
    switch (shape.kind) {
        case K::sphere: fields.add("radius", shape.size.at(0)); break;
        case K::capsule:
        case K::cylinder:
        case K::cone:
            fields.add("radius", shape.size.at(0));
            fields.add("length", shape.size.at(1));
            break;
        case K::box:
        case K::height_field: fields.add("size", number_list(shape.size)); break;
        case K::profile: {
            YAML::Node list(YAML::NodeType::Sequence);
            for (const Number3& point : shape.points) list.push_back(vector_node(point, true));
            fields.add("points", list);
            fields.add_unless_zero("width", shape.width);
            break;
        }
        case K::convex:
            if (!shape.points.empty()) fields.add("points", points(shape.points));
            break;
        case K::plane:
        case K::mesh: break;
    }
    if (!shape.heights.empty()) {
        YAML::Node rows(YAML::NodeType::Sequence);
        for (std::size_t i = 0; i < shape.heights.size(); i += shape.columns)
            rows.push_back(number_list({shape.heights.begin() + static_cast<std::ptrdiff_t>(i),
                                        shape.heights.begin() + static_cast<std::ptrdiff_t>(i) + shape.columns}));
        fields.add("heights", rows);
    }
    fields.add_unless_empty("file", shape.file);
    add_placement(fields, shape.placement);
    map.add(shape_formats()[static_cast<std::size_t>(shape.kind)].name, fields.take());
}

YAML::Node ElementWriter::write_shapes(const std::vector<ContactShape>& shapes) const {
    YAML::Node list(YAML::NodeType::Sequence);
    for (const ContactShape& shape : shapes) {
        MappingWriter item;
        add_shape(item, shape);
        list.push_back(item.take());
    }
    return list;
}

YAML::Node ElementWriter::one_or_list(const std::vector<std::string>& names) {
    if (names.size() == 1) return YAML::Node(names[0]);
    YAML::Node list(YAML::NodeType::Sequence);
    for (const std::string& name : names) list.push_back(name);
    return list;
}

YAML::Node ElementWriter::write(const ContactRule& rule) const {
    const TypeFormat& format = contact_formats()[static_cast<std::size_t>(rule.law)];
    const auto side = [&](const ContactSide& members) {
        if (members.is_all()) return YAML::Node("all");
        std::vector<std::string> names = members.groups;
        for (const BodyHandle body : members.bodies) names.push_back(model_.bodies.get(body).name);
        return one_or_list(names);
    };
    YAML::Node sides(YAML::NodeType::Sequence);
    sides.push_back(side(rule.first));
    sides.push_back(side(rule.second));
    MappingWriter map;
    map.add(format.name, sides);
    for (const FieldFormat& option : format.options) {
        const auto it = rule.numbers.find(option.name);
        if (it != rule.numbers.end()) map.add(option.name, it->second);
    }
    if (rule.includes_joined) map.add("joined", YAML::Node("true"));
    return map.take();
}

}  // namespace limber
