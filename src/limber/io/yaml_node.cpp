#include "limber/io/yaml_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <unordered_set>

#include "limber/io/other_words.hpp"
#include "limber/math/interruption.hpp"

namespace limber {
namespace {

constexpr long max_loop_turns = 200'000;

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string trim(const std::string& s) {
    const auto first = s.find_first_not_of(" \t");
    if (first == std::string::npos) return "";
    return s.substr(first, s.find_last_not_of(" \t") - first + 1);
}

// "for i in A..B" -> i, A, B
bool parse_loop(const std::string& key, std::string& variable, std::string& low, std::string& high) {
    if (!key.starts_with("for ")) return false;
    const auto in = key.find(" in ");
    const auto dots = key.find("..");
    if (in == std::string::npos || dots == std::string::npos || dots < in) return false;
    variable = trim(key.substr(4, in - 4));
    low = trim(key.substr(in + 4, dots - in - 4));
    high = trim(key.substr(dots + 2));
    return !variable.empty() && std::all_of(variable.begin(), variable.end(), is_word);
}

// Where the index <...> ends that opens at `start`; npos if none does.
std::size_t find_index_end(const std::string& text, std::size_t start) {
    if (start >= text.size() || text[start] != '<') return std::string::npos;
    std::size_t end = start + 1;
    while (end < text.size() && (is_word(text[end]) || text[end] == '+' || text[end] == '-' || text[end] == '*')) ++end;
    return end > start + 1 && end < text.size() && text[end] == '>' ? end : std::string::npos;
}

}  // namespace

YamlNode::YamlNode(const YAML::Node& node, std::shared_ptr<const std::string> file,
                   std::shared_ptr<YamlContext> context)
    : node_(node), file_(std::move(file)), context_(std::move(context)) {}

std::string YamlNode::location() const {
    const YAML::Mark mark = node_.Mark();
    return mark.is_null() ? *file_ : fmt::format("{}:{}", *file_, mark.line + 1);
}

void YamlNode::fail(const std::string& message) const {
    throw ModelError(path_.empty() ? fmt::format("{}: {}", location(), message)
                                   : fmt::format("{}: {}: {}", location(), path_, message));
}

void YamlNode::spend() const {
    check_interruption();
    if (--context_->nodes_left < 0)
        fail("the model is too large: it has more than two million entries, turns of loops included");
}

std::string YamlNode::found() const {
    if (node_.IsNull()) return "nothing";
    if (node_.IsSequence()) return fmt::format("a list of {}", node_.size());
    if (node_.IsMap()) return "a mapping";
    std::string value = node_.Scalar();
    if (value.size() > 40) value = value.substr(0, 37) + "...";
    return "'" + value + "'";
}

YamlNode YamlNode::child_node(const YAML::Node& node, const std::string& key) const {
    spend();
    YamlNode child(node, file_, context_);
    child.path_ = path_.empty() ? key : path_ + "." + key;
    if (child.path_.size() > 400) fail("the file is nested too deeply");
    child.variables_ = variables_;
    return child;
}

// ---------------------------------------------------------------- loops and names

double YamlNode::evaluate_index(const std::string& text) const {
    Expression::Scope scope;
    scope.resolve = [&](const std::string& name) -> std::optional<Expression::Meaning> {
        for (auto it = variables_.rbegin(); it != variables_.rend(); ++it)
            if (it->name == name) return Expression::Meaning{it->value, -1};
        const auto parameter = context_->parameters.find(name);
        if (parameter != context_->parameters.end()) return Expression::Meaning{parameter->second, -1};
        return std::nullopt;
    };
    double value = 0;
    try {
        value = Expression::parse(text).bind(scope).constant();
    } catch (const ModelError& error) {
        fail(error.what());
    }
    if (!(std::abs(value - std::round(value)) < 1e-9) || std::abs(value) > 1e9)
        fail(fmt::format("expected a whole number, found {} = {}", text, value));
    return std::round(value);
}

std::string YamlNode::substitute_names(const std::string& text) const {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '<') {
            result += text[i];
            continue;
        }
        const auto close = text.find('>', i);
        if (close == std::string::npos) fail(fmt::format("'<' without '>' in '{}'", text));
        result += fmt::format("{}", static_cast<long>(evaluate_index(text.substr(i + 1, close - i - 1))));
        i = close;
    }
    return result;
}

// In an expression: loop variables become numbers, and name<index> or name<index><index> (no spaces) becomes the
// element's name.
std::string YamlNode::substitute_variables(const std::string& text) const {
    std::string result;
    std::size_t i = 0;
    while (i < text.size()) {
        const bool starts_name = std::isalpha(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_';
        const bool inside_word = i > 0 && (is_word(text[i - 1]) || text[i - 1] == '.');
        if (!starts_name || inside_word) {
            result += text[i++];
            continue;
        }
        std::size_t end = i;
        while (end < text.size() && is_word(text[end])) ++end;
        std::string word = text.substr(i, end - i);
        bool has_index = false;
        for (auto close = find_index_end(text, end); close != std::string::npos; close = find_index_end(text, end)) {
            word += fmt::format("{}", static_cast<long>(evaluate_index(text.substr(end + 1, close - end - 1))));
            end = close + 1;
            while (end < text.size() && (is_word(text[end]) || text[end] == '.')) word += text[end++];
            has_index = true;
        }
        if (has_index) {
            result += word;
            i = end;
            continue;
        }
        for (auto it = variables_.rbegin(); it != variables_.rend(); ++it)
            if (it->name == word) {
                word = it->value < 0 ? fmt::format("({})", it->value) : fmt::format("{}", it->value);
                break;
            }
        result += word;
        i = end;
    }
    return result;
}

void YamlNode::unroll(const YAML::Node& map, const std::vector<Variable>& variables, const std::string& expected,
                      const UseEntry& use) const {
    YamlNode here(map, file_, context_);
    here.path_ = path_;
    here.variables_ = variables;
    if (!map.IsMap()) here.fail(fmt::format("expected {}, found {}", expected, here.found()));
    for (const auto& entry : map) {
        spend();
        YamlNode key_node(entry.first, file_, context_);
        key_node.path_ = path_;
        key_node.variables_ = variables;
        if (!entry.first.IsScalar()) key_node.fail("a key must be a word");
        const std::string key = entry.first.Scalar();
        Variable variable;
        std::string low;
        std::string high;
        if (parse_loop(key, variable.name, low, high)) {
            const auto first = static_cast<long>(key_node.evaluate_index(low));
            const auto last = static_cast<long>(key_node.evaluate_index(high));
            if (last - first > max_loop_turns) key_node.fail(fmt::format("the loop '{}' is too long", key));
            std::vector<Variable> inside = variables;
            inside.push_back(variable);
            for (long i = first; i <= last; ++i) {
                key_node.spend();  // a turn is work even if there is nothing in it
                inside.back().value = static_cast<double>(i);
                unroll(entry.second, inside, expected, use);
            }
            continue;
        }
        const std::string name = key_node.substitute_names(key);
        YamlNode child = here.child_node(entry.second, name);
        if (entry.second.Mark().is_null()) child.node_ = entry.second;
        use(name, child);
    }
}

void YamlNode::for_each_entry(const std::string& expected, const UseEntry& use) const {
    if (node_.IsNull()) return;
    std::unordered_set<std::string> seen;
    unroll(node_, variables_, expected, [&](const std::string& key, const YamlNode& entry) {
        if (!seen.insert(key).second) entry.fail("this key comes twice");
        use(key, entry);
    });
}

std::vector<std::pair<std::string, YamlNode>> YamlNode::entries(const std::string& expected) const {
    std::vector<std::pair<std::string, YamlNode>> result;
    for_each_entry(expected, [&](const std::string& key, const YamlNode& entry) { result.emplace_back(key, entry); });
    return result;
}

std::vector<YamlNode> YamlNode::items(const std::string& expected) const {
    if (!node_.IsSequence()) fail(fmt::format("expected {}, found {}", expected, found()));
    std::vector<YamlNode> result;
    int i = 0;
    for (const auto& item : node_) result.push_back(child_node(item, fmt::format("[{}]", i++)));
    return result;
}

std::optional<YamlNode> YamlNode::child(const std::string& key) const {
    if (!node_.IsMap()) return std::nullopt;
    for (const auto& entry : node_)
        if (entry.first.IsScalar() && entry.first.Scalar() == key) return child_node(entry.second, key);
    return std::nullopt;
}

YamlNode YamlNode::required(const std::string& key) const {
    const auto found = child(key);
    if (!found) fail(fmt::format("'{}' is missing", key));
    return *found;
}

void YamlNode::check_keys(const std::vector<std::string>& allowed) const {
    if (!node_.IsMap()) fail(fmt::format("expected a mapping with {}, found {}", fmt::join(allowed, ", "), found()));
    std::set<std::string> seen;
    for (const auto& entry : node_) {
        YamlNode key_node(entry.first, file_, context_);
        key_node.path_ = path_;
        if (!entry.first.IsScalar()) key_node.fail("a key must be a word");
        const std::string key = entry.first.Scalar();
        if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
            key_node.fail(fmt::format("unknown key '{}'{}; expected {}", key, suggest_word(key, allowed),
                                      fmt::join(allowed, ", ")));
        if (!seen.insert(key).second) key_node.fail(fmt::format("the key '{}' comes twice", key));
    }
}

// ---------------------------------------------------------------- scalars

std::string YamlNode::text(const std::string& expected) const {
    if (!node_.IsScalar()) fail(fmt::format("expected {}, found {}", expected, found()));
    return substitute_names(node_.Scalar());
}

std::string YamlNode::edit_text() const {
    if (node_.IsScalar()) return text("an edit");
    if (!node_.IsMap()) fail("expected an edit: a text or a mapping");
    YAML::Emitter out;
    out << YAML::Flow << node_;
    return substitute_names(out.c_str());
}

int YamlNode::choice(const std::vector<std::string>& words) const {
    const std::string word = text(fmt::format("one of {}", fmt::join(words, ", ")));
    const auto it = std::find(words.begin(), words.end(), word);
    if (it == words.end())
        fail(fmt::format("expected one of {}, found '{}'{}", fmt::join(words, ", "), word, did_you_mean(word, words)));
    return static_cast<int>(it - words.begin());
}

bool YamlNode::truth() const {
    return choice({"false", "true", "no", "yes"}) % 2 == 1;
}

Number YamlNode::number(const std::vector<std::string>& also, bool free) const {
    if (!node_.IsScalar()) fail(fmt::format("expected a number or an expression, found {}", found()));
    const std::string source = substitute_variables(node_.Scalar());
    Number result;
    try {
        result = Number(source);
    } catch (const ModelError& error) {
        fail(error.what());
    }
    if (free) return result;
    for (const std::string& name : result.names()) {
        const bool known =
            context_->parameters.count(name) != 0 || std::find(also.begin(), also.end(), name) != also.end();
        if (known) continue;
        std::vector<std::string> candidates = also;
        for (const auto& [parameter, value] : context_->parameters) candidates.push_back(parameter);
        if (name == "t") fail(fmt::format("this number must not depend on time: \"{}\"", source));
        fail(fmt::format("unknown name '{}' in \"{}\"{}; expected a number or an expression of parameters", name,
                         source, suggest_name(name, source, candidates)));
    }
    return result;
}

Number3 YamlNode::vector(bool planar, const std::vector<std::string>& also, bool free) const {
    const std::size_t size = planar ? 2 : 3;
    if (!node_.IsSequence() || node_.size() != size)
        fail(fmt::format("expected {} numbers [{}], found {}", size, planar ? "x, y" : "x, y, z", found()));
    Number3 result;
    const auto list = items("numbers");
    for (std::size_t i = 0; i < size; ++i) result[i] = list[i].number(also, free);
    return result;
}

std::vector<Number> YamlNode::numbers() const {
    std::vector<Number> result;
    for (const YamlNode& item : items("a list of numbers")) {
        if (item.is_sequence()) {
            const auto inner = item.numbers();
            result.insert(result.end(), inner.begin(), inner.end());
        } else {
            result.push_back(item.number());
        }
    }
    return result;
}

void YamlNode::check_name(const std::string& name) const {
    const bool good = !name.empty() && name.size() <= 100 &&
                      (std::isalpha(static_cast<unsigned char>(name[0])) != 0 || name[0] == '_') &&
                      std::all_of(name.begin(), name.end(), is_word);
    if (good) return;
    std::string underscored = name;
    std::replace(underscored.begin(), underscored.end(), '-', '_');
    if (underscored != name && std::all_of(underscored.begin(), underscored.end(), is_word))
        fail(fmt::format("'{}' cannot be a name: in expressions a hyphen is a minus; write '{}'", name, underscored));
    fail(fmt::format("'{}' cannot be a name: use letters, digits and underscores, and start with a letter", name));
}

}  // namespace limber
