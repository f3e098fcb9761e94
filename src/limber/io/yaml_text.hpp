#pragma once
// YAML as people write it: short things on one line, long ones one entry per line. Internal to the room.

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <vector>

#include "limber/model/number.hpp"

namespace limber {

/// A mapping that keeps the order in which entries are added.
class MappingWriter {
public:
    /// Without a look for an entry of the same key, which would cost time in large mappings.
    void add(const std::string& key, const YAML::Node& value) { node_.force_insert(key, value); }
    void add(const std::string& key, const Number& value) { add(key, YAML::Node(value.text())); }
    /// Leaves out what is not given.
    void add_given(const std::string& key, const std::optional<Number>& value) {
        if (value) add(key, *value);
    }
    /// Leaves out a plain zero, which is what an absent number means.
    void add_unless_zero(const std::string& key, const Number& value);
    void add_unless_empty(const std::string& key, const std::string& value) {
        if (!value.empty()) add(key, YAML::Node(value));
    }
    YAML::Node take() { return node_; }

private:
    YAML::Node node_{YAML::NodeType::Map};
};

bool is_zero(const Number& number);
bool is_zero(const Number3& numbers);
YAML::Node number_list(const std::vector<Number>& numbers);
/// Two (planar) or three numbers.
YAML::Node vector_node(const Number3& numbers, bool planar);
YAML::Node points_node(const std::vector<Number3>& points, bool planar);
YAML::Node one_or_list(const std::vector<std::string>& names);

/// As it may stand alone after "key: "; on one line.
std::string plain_text(const YAML::Node& node);
/// On one line: {a: 1, b: [2, 3]}.
std::string flow_text(const YAML::Node& node);
/// "key: value" with a line break at the end; on one line if it fits, otherwise spread over several.
std::string entry_text(const std::string& key, const YAML::Node& value, int indent);

}  // namespace limber
