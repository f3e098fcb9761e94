#pragma once
// Reading YAML with errors that name file, line and field. Internal to the room.
//
// A YamlNode is a place in the file together with the loop variables in force there. Mappings may contain loops,
//
//   for i in 0..N:
//     crank<i>: { ... }
//
// which are unrolled when the entries are read: the variable is a number in every expression inside, and <i+1> in a
// name is replaced by its value.

#include <yaml-cpp/yaml.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "limber/model/error.hpp"
#include "limber/model/model.hpp"

namespace limber {

/// What all nodes of one reading share.
struct YamlContext {
    std::map<std::string, double> parameters;  ///< known once the section has been read
    long nodes_left = 2'000'000;               ///< bounds the work a hostile file can cause
};

class YamlNode {
public:
    YamlNode(const YAML::Node& node, std::shared_ptr<const std::string> file, std::shared_ptr<YamlContext> context);

    /// "file:line: field: message"
    [[noreturn]] void fail(const std::string& message) const;
    std::string location() const;  ///< "file:line"
    const std::string& path() const { return path_; }

    bool is_scalar() const { return node_.IsScalar(); }
    bool is_sequence() const { return node_.IsSequence(); }
    bool is_map() const { return node_.IsMap(); }
    bool is_null() const { return node_.IsNull(); }

    /// Entries of a mapping with loops unrolled; a key must not come twice. `expected` says what the mapping should
    /// hold.
    std::vector<std::pair<std::string, YamlNode>> entries(const std::string& expected) const;
    /// The same one after the other: a section may have hundreds of thousands.
    using UseEntry = std::function<void(const std::string& key, const YamlNode& entry)>;
    void for_each_entry(const std::string& expected, const UseEntry& use) const;
    std::vector<YamlNode> items(const std::string& expected) const;
    /// Without unrolling: for mappings with fixed keys.
    std::optional<YamlNode> child(const std::string& key) const;
    /// The same of a key that must be there.
    YamlNode required(const std::string& key) const;
    /// Every key must be one of these.
    void check_keys(const std::vector<std::string>& allowed) const;

    /// A name or a reference: <...> replaced.
    std::string text(const std::string& expected) const;
    /// An edit: a text, or a mapping as flow YAML.
    std::string edit_text() const;
    /// One of the given words; returns its place in the list.
    int choice(const std::vector<std::string>& words) const;
    bool truth() const;
    /// An expression of parameters and the given further names. `free`: any name, checked later.
    Number number(const std::vector<std::string>& also = {}, bool free = false) const;
    /// Two (planar) or three numbers; the third of a planar vector is zero.
    Number3 vector(bool planar, const std::vector<std::string>& also = {}, bool free = false) const;
    std::vector<Number> numbers() const;

    /// Checks that a name can be used for an element and in expressions.
    void check_name(const std::string& name) const;
    YamlContext& context() const { return *context_; }

private:
    struct Variable {
        std::string name;
        double value;
    };
    YamlNode child_node(const YAML::Node& node, const std::string& key) const;
    void spend() const;
    double evaluate_index(const std::string& text) const;
    std::string substitute_names(const std::string& text) const;
    std::string substitute_variables(const std::string& text) const;
    void unroll(const YAML::Node& map, const std::vector<Variable>& variables, const std::string& expected,
                const UseEntry& use) const;
    std::string found() const;

    YAML::Node node_;
    std::shared_ptr<const std::string> file_;
    std::shared_ptr<YamlContext> context_;
    std::string path_;
    std::vector<Variable> variables_;
};

}  // namespace limber
