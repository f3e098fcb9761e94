// Shapes of bodies and rules of contact.

#include "limber/io/field_writer.hpp"

namespace limber {

YAML::Node ElementWriter::shapes(const std::vector<ContactShape>& shapes) const {
    YAML::Node list(YAML::NodeType::Sequence);
    for (const ContactShape& shape : shapes) {
        MappingWriter item;
        add_type(item, shape);
        list.push_back(item.take());
    }
    return list;
}

YAML::Node ElementWriter::sides(const ContactSides& between) const {
    YAML::Node list(YAML::NodeType::Sequence);
    for (const ContactSide* side : {&between.first, &between.second}) {
        std::vector<std::string> names = side->groups;
        for (const BodyHandle body : side->bodies) names.push_back(model_.bodies.get(body).name);
        list.push_back(side->is_all() ? YAML::Node("all") : one_or_list(names));
    }
    return list;
}

YAML::Node ElementWriter::write(const ContactRule& rule) const {
    return write_type(rule.type);
}

}  // namespace limber
