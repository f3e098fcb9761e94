#include "limber/io/yaml_text.hpp"

namespace limber {
namespace {

constexpr std::size_t line_width = 120;

// [a, b, c,
//  d, e]
std::string filled_list(const YAML::Node& list, std::size_t indent) {
    std::string text = "[";
    std::size_t column = indent + 1;
    bool is_first = true;
    for (const auto& item : list) {
        const std::string next = flow_text(item);
        if (!is_first) {
            const bool fits = column + next.size() + 3 <= line_width;
            text += fits ? ", " : ",\n" + std::string(indent + 1, ' ');
            column = fits ? column + 2 : indent + 1;
        }
        text += next;
        column += next.size();
        is_first = false;
    }
    return text + "]";
}

}  // namespace

void MappingWriter::add_unless_zero(const std::string& key, const Number& value) {
    if (!is_zero(value)) add(key, value);
}

bool is_zero(const Number& number) {
    return number.text() == "0";
}

bool is_zero(const Number3& numbers) {
    return is_zero(numbers[0]) && is_zero(numbers[1]) && is_zero(numbers[2]);
}

YAML::Node number_list(const std::vector<Number>& numbers) {
    YAML::Node list(YAML::NodeType::Sequence);
    for (const Number& number : numbers) list.push_back(number.text());
    return list;
}

YAML::Node vector_node(const Number3& numbers, bool planar) {
    return number_list(planar ? std::vector<Number>{numbers[0], numbers[1]}
                              : std::vector<Number>(numbers.begin(), numbers.end()));
}

YAML::Node points_node(const std::vector<Number3>& points, bool planar) {
    YAML::Node list(YAML::NodeType::Sequence);
    for (const Number3& point : points) list.push_back(vector_node(point, planar));
    return list;
}

YAML::Node one_or_list(const std::vector<std::string>& names) {
    return names.size() == 1 ? YAML::Node(names[0]) : YAML::Node(names);
}

std::string flow_text(const YAML::Node& node) {
    // A scalar by itself would be quoted for block context; in a list it is quoted as all its uses need.
    YAML::Emitter emitter;
    emitter.SetMapFormat(YAML::Flow);
    emitter.SetSeqFormat(YAML::Flow);
    if (!node.IsScalar()) {
        emitter << node;
        return emitter.c_str();
    }
    emitter << YAML::BeginSeq << node.Scalar() << YAML::EndSeq;
    const std::string text = emitter.c_str();
    return text.substr(1, text.size() - 2);
}

std::string plain_text(const YAML::Node& node) {
    if (!node.IsScalar()) return flow_text(node);
    YAML::Emitter emitter;
    emitter << node.Scalar();
    return emitter.c_str();
}

std::string entry_text(const std::string& key, const YAML::Node& value, int indent) {
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    const std::string start = margin + flow_text(YAML::Node(key)) + ":";
    const std::string line = start + " " + plain_text(value) + "\n";
    const bool is_collection = (value.IsMap() || value.IsSequence()) && value.size() > 0;
    if (line.size() <= line_width + 1 || !is_collection) return line;
    if (value.IsSequence()) {
        const std::string inner = margin + "  ";
        return start + "\n" + inner + filled_list(value, inner.size()) + "\n";
    }
    std::string text = start + "\n";
    for (const auto& entry : value) text += entry_text(entry.first.Scalar(), entry.second, indent + 2);
    return text;
}

}  // namespace limber
