#include "limber/io/edit_text.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>

#include "limber/io/element_edits.hpp"
#include "limber/model/error.hpp"
#include "limber/model/expression.hpp"

namespace limber {
namespace {

constexpr std::size_t longest_edit = 1'000'000;

struct Verb {
    const char* name;
    const char* form;
    const char* meaning;
};

const std::vector<Verb>& verbs() {
    static const std::vector<Verb> list{
        {"add", "add SECTION.NAME YAML", "an element in the words of the model file, where things are now"},
        {"close", "close joints.NAME YAML", "a joint whose ends are drawn together until it holds"},
        {"remove", "remove SECTION.NAME [with dependents]", "an element, and what refers to it"},
        {"set", "set PATH VALUE", "any value: parameters.m, gravity, bodies.rod.rod.mass"},
        {"lock", "lock JOINT", "hold the joint as it is"},
        {"unlock", "unlock JOINT", "let it go again"},
        {"pull", "pull MARKER [X, Y, Z] [stiffness K] [damping C]", "draw a marker towards a point"},
        {"release", "release", "let go of it"},
        {"impulse", "impulse MARKER [X, Y, Z] [moment [X, Y, Z]]", "a blow"},
        {"use", "use NAME VALUE", "formulation, integrator, coordinates, step or an option"},
        {"undo", "undo", "take back the last edit; the motion goes on"},
        {"redo", "redo", "make it again"},
        {"renew", "renew", "make the solvers anew, as a session does after a failed step"},
        {"go", "go TIME", "to an earlier time, and branch from there"},
    };
    return list;
}

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// The first word, which is taken off the text.
std::string take_word(std::string& text) {
    text = trimmed(text);
    const auto end = std::min(text.find_first_of(" \t\r\n"), text.size());
    std::string word = text.substr(0, end);
    text = trimmed(text.substr(end));
    return word;
}

[[noreturn]] void fail(const Verb& verb, const std::string& message) {
    throw ModelError(fmt::format("{}: {} (expected: {})", verb.name, message, verb.form));
}

// "joints.pin"; "joint.pin" will do.
std::pair<std::string, std::string> split_element(const Verb& verb, const std::string& path) {
    const auto dot = path.find('.');
    if (dot == std::string::npos || dot + 1 == path.size()) fail(verb, fmt::format("'{}' names no element", path));
    std::string section = path.substr(0, dot);
    const auto& known = element_sections();
    if (std::find(known.begin(), known.end(), section) == known.end()) {
        const std::string plural = section == "body" ? "bodies" : section + "s";
        if (std::find(known.begin(), known.end(), plural) == known.end())
            fail(verb, fmt::format("there is no section '{}'{}", section, did_you_mean(section, known)));
        section = plural;
    }
    return {section, path.substr(dot + 1)};
}

double parse_number(const Verb& verb, const std::string& text) {
    try {
        const double value = Expression::parse(text).bind({}).constant();
        if (std::isfinite(value)) return value;
    } catch (const ModelError&) {
        fail(verb, fmt::format("'{}' is not a number", text));
    }
    fail(verb, fmt::format("'{}' is not a finite number", text));
}

Vec3 parse_vector(const Verb& verb, const std::string& text) {
    Vec3 v = Vec3::Zero();
    std::string inside = trimmed(text);
    if (inside.size() < 2 || inside.front() != '[' || inside.back() != ']')
        fail(verb, fmt::format("'{}' is not a vector", text));
    inside = inside.substr(1, inside.size() - 2) + ",";
    int count = 0;
    for (std::size_t start = 0; start < inside.size();) {
        const auto comma = inside.find(',', start);
        if (count == 3) fail(verb, "a vector has at most three numbers");
        v[count++] = parse_number(verb, trimmed(inside.substr(start, comma - start)));
        start = comma + 1;
    }
    if (count < 2) fail(verb, "a vector has two or three numbers");
    return v;
}

// A vector at the start of the text, which is taken off.
Vec3 take_vector(const Verb& verb, std::string& text) {
    const auto end = text.find(']');
    if (end == std::string::npos) fail(verb, fmt::format("'{}' does not begin with a vector", text));
    const Vec3 v = parse_vector(verb, text.substr(0, end + 1));
    text = trimmed(text.substr(end + 1));
    return v;
}

Edit parse_words(const Verb& verb, std::string rest) {
    const std::string name = verb.name;
    const auto need = [&](const std::string& word, const char* what) {
        if (word.empty()) fail(verb, fmt::format("{} is missing", what));
        return word;
    };
    const auto end = [&] {
        if (!rest.empty()) fail(verb, fmt::format("'{}' is too much", rest));
    };
    if (name == "add" || name == "close") {
        const auto [section, element] = split_element(verb, need(take_word(rest), "the element"));
        if (name == "close" && section != "joints") fail(verb, "only joints have ends to draw together");
        return AddElement{section, element, need(rest, "what it is"), name == "close"};
    }
    if (name == "remove") {
        const auto [section, element] = split_element(verb, need(take_word(rest), "the element"));
        if (!rest.empty() && rest != "with dependents") fail(verb, fmt::format("'{}' is not 'with dependents'", rest));
        return RemoveElement{section, element, !rest.empty()};
    }
    if (name == "set") {
        const std::string path = need(take_word(rest), "the value's path");
        return SetProperty{path, rest};
    }
    if (name == "use") {
        const std::string option = need(take_word(rest), "the name");
        return UseOption{option, need(rest, "the value")};
    }
    if (name == "pull") {
        PullMarker pull;
        pull.marker = need(take_word(rest), "the marker");
        pull.target = take_vector(verb, rest);
        while (!rest.empty()) {
            const std::string key = take_word(rest);
            if (key != "stiffness" && key != "damping") fail(verb, fmt::format("'{}' is too much", key));
            (key == "stiffness" ? pull.stiffness : pull.damping) =
                parse_number(verb, need(take_word(rest), "a number"));
        }
        return pull;
    }
    if (name == "impulse") {
        ApplyImpulse impulse;
        impulse.marker = need(take_word(rest), "the marker");
        impulse.impulse = take_vector(verb, rest);
        if (!rest.empty()) {
            if (take_word(rest) != "moment") fail(verb, "only 'moment' may follow");
            impulse.moment = take_vector(verb, rest);
        }
        end();
        return impulse;
    }
    if (name == "lock" || name == "unlock") {
        const std::string joint = need(take_word(rest), "the joint");
        end();
        if (name == "lock") return LockJoint{joint};
        return UnlockJoint{joint};
    }
    if (name == "go") {
        const double time = parse_number(verb, need(rest, "the time"));
        return GoToTime{time};
    }
    end();
    if (name == "release") return ReleaseMarker{};
    if (name == "undo") return UndoEdit{};
    if (name == "renew") return RenewSolvers{};
    return RedoEdit{};
}

std::string edit_value_text(const YAML::Node& node) {
    YAML::Emitter out;
    out << YAML::Flow << node;
    return out.c_str();
}

// The mapping in the words of the command.
std::string command_of(const YAML::Node& map) {
    const Verb* verb = nullptr;
    for (const Verb& candidate : verbs())
        if (map[candidate.name]) {
            if (verb != nullptr)
                throw ModelError(fmt::format("both '{}' and '{}' are given", verb->name, candidate.name));
            verb = &candidate;
        }
    if (verb == nullptr) throw ModelError("expected a mapping with one of add, remove, set, use, ...");
    std::string text = verb->name;
    const YAML::Node main = map[verb->name];
    if (main.IsScalar() && !main.Scalar().empty()) text += " " + main.Scalar();
    for (const char* key : {"value", "target", "vector"})
        if (map[key]) text += " " + (map[key].IsScalar() ? map[key].Scalar() : edit_value_text(map[key]));
    for (const char* key : {"stiffness", "damping", "moment"})
        if (map[key]) text += fmt::format(" {} {}", key, edit_value_text(map[key]));
    if (map["dependents"] && map["dependents"].as<bool>(false)) text += " with dependents";
    for (const auto& entry : map) {
        const std::string key = entry.first.as<std::string>("");
        const std::vector<std::string> known{verb->name,  "value",   "target", "vector",
                                             "stiffness", "damping", "moment", "dependents"};
        if (std::find(known.begin(), known.end(), key) == known.end())
            throw ModelError(fmt::format("{}: unknown key '{}'{}", verb->name, key, did_you_mean(key, known)));
    }
    return text;
}

std::string format_vector(const Vec3& v) {
    return fmt::format("[{}, {}, {}]", v.x(), v.y(), v.z());
}

}  // namespace

Edit parse_edit(const std::string& given) {
    std::string text = trimmed(given);
    if (text.empty()) throw ModelError("expected an edit, such as 'undo' or 'set gravity [0, 0]'");
    if (text.size() > longest_edit) throw ModelError(fmt::format("an edit is longer than {} bytes", longest_edit));
    if (text.front() == '{') {
        if (std::count(text.begin(), text.end(), '{') + std::count(text.begin(), text.end(), '[') > 1000)
            throw ModelError("the edit is nested too deeply");
        try {
            text = command_of(YAML::Load(text));
        } catch (const YAML::Exception& error) {
            throw ModelError(fmt::format("the edit is not YAML: {}", error.msg));
        }
    }
    std::string rest = text;
    const std::string word = take_word(rest);
    std::vector<std::string> names;
    for (const Verb& verb : verbs()) {
        if (word == verb.name) return parse_words(verb, rest);
        names.emplace_back(verb.name);
    }
    throw ModelError(
        fmt::format("unknown edit '{}'{}; known: {}", word, did_you_mean(word, names), fmt::join(names, ", ")));
}

std::string format_edit(const Edit& edit) {
    struct Formatter {
        std::string operator()(const AddElement& e) const {
            return fmt::format("{} {}.{} {}", e.closes_gradually ? "close" : "add", e.section, e.name, e.yaml);
        }
        std::string operator()(const RemoveElement& e) const {
            return fmt::format("remove {}.{}{}", e.section, e.name, e.with_dependents ? " with dependents" : "");
        }
        std::string operator()(const SetProperty& e) const { return trimmed(fmt::format("set {} {}", e.path, e.yaml)); }
        std::string operator()(const LockJoint& e) const { return "lock " + e.joint; }
        std::string operator()(const UnlockJoint& e) const { return "unlock " + e.joint; }
        std::string operator()(const PullMarker& e) const {
            std::string text = fmt::format("pull {} {}", e.marker, format_vector(e.target));
            if (e.stiffness) text += fmt::format(" stiffness {}", *e.stiffness);
            if (e.damping) text += fmt::format(" damping {}", *e.damping);
            return text;
        }
        std::string operator()(const ReleaseMarker&) const { return "release"; }
        std::string operator()(const ApplyImpulse& e) const {
            std::string text = fmt::format("impulse {} {}", e.marker, format_vector(e.impulse));
            if (!e.moment.isZero(0)) text += " moment " + format_vector(e.moment);
            return text;
        }
        std::string operator()(const UseOption& e) const { return fmt::format("use {} {}", e.name, e.value); }
        std::string operator()(const UndoEdit&) const { return "undo"; }
        std::string operator()(const RedoEdit&) const { return "redo"; }
        std::string operator()(const RenewSolvers&) const { return "renew"; }
        std::string operator()(const GoToTime& e) const { return fmt::format("go {}", e.time); }
    };
    return std::visit(Formatter{}, edit);
}

std::string describe_edits() {
    std::string text;
    for (const Verb& verb : verbs()) text += fmt::format("{:<52} {}\n", verb.form, verb.meaning);
    return text;
}

}  // namespace limber
