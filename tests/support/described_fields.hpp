#pragma once
// Fills and prints the fields of what describes itself (model/description.hpp), and asks what it depends on.

#include <gtest/gtest.h>

#include "limber/io/element_edits.hpp"
#include "limber/io/format.hpp"
#include "limber/model/error.hpp"
#include "support/models.hpp"

namespace limber::testing {

inline Model some_model() {
    return read(R"(
limber: 1
parameters: {p: 0.5}
roads: {flat: {height: 0}}
curves: {arc: {points: [[0, 0, 0], [1, 0, 0], [1, 1, 0]]}}
bodies:
  crank: {rod: {from: [0, 0, 0], to: [1, 0, 0], mass: 1, radius: 0.1}}
  rocker: {rod: {from: [0, 5, 0], to: [1, 5, 0], mass: 1, radius: 0.1}}
joints:
  hinge: {revolute: [ground, crank.from]}
  weld: {fixed: [ground, rocker.from], at: [0, 5, 0]}
drivers:
  drive: {coordinate: hinge.angle, follows: 0}
forces:
  spring: {spring: [ground, crank.to], stiffness: 1}
stops:
  rope: {cable: [ground, rocker.to], length: 9}
contacts:
  touch: {linear: [crank, rocker], stiffness: 1}
sensors:
  other: {coordinate: hinge.angle}
)");
}

// Gives every field a value that is not its default; numbers name the parameter p.
struct Filler {
    const Model& model;
    int count = 0;
    std::vector<std::pair<std::string, std::string>> named{};  ///< section and name of what the fields refer to

    Number number(const std::string& more = "") { return Number("p + " + std::to_string(++count) + more); }
    MarkerHandle marker(const std::string& body) {
        named.emplace_back("bodies", body);
        return model.marker(body + ".to");
    }
    std::string coordinate() {
        named.emplace_back("joints", "hinge");
        return "hinge.angle";
    }

    void main(MarkerHandle& value) { value = marker("crank"); }
    template <class T>
    void main(T& value, Variables variables = Variables::none) {
        field(value, {"main", "", true, variables});
    }
    void placed(MarkerPair& pair) { main(pair); }
    void field(MarkerPair& pair, const FieldNote&) { pair = {model.marker("ground"), marker("crank")}; }
    void field(MarkerHandle& value, const FieldNote&) { value = marker("rocker"); }
    void field(Coordinate& value, const FieldNote&) { value.name = coordinate(); }
    void field(CoordinatePair& pair, const FieldNote&) { pair = {coordinate(), coordinate()}; }
    void field(std::vector<ScalarTerm>& terms, const FieldNote&) { terms = {{coordinate(), number()}}; }
    void field(std::vector<NamedExpression>& list, const FieldNote&) {
        list = {{"u", number(" + other")}};
        named.emplace_back("sensors", "other");
    }
    void field(bool& value, const FieldNote&) { value = true; }
    void field(std::string& value, const FieldNote&) { value = "word" + std::to_string(++count); }
    void field(std::vector<std::string>& value, const FieldNote&) { value = {"crank", "rock*"}; }
    void field(std::vector<JointNumber>& value, const FieldNote&) { value = {{"hinge", number()}}; }
    void field(TableDefinition& table, const FieldNote&) {
        table.x = {number(), number()};
        table.y = {number(), number()};
    }
    void field(Number& value, const FieldNote& note) {
        const bool names_sensor = note.variables == Variables::columns;
        value = number(names_sensor ? " + other" : "");
        if (names_sensor) named.emplace_back("sensors", "other");
    }
    void field(Number3& value, const FieldNote&) { value = {number(), number(), number()}; }
    void field(AngularVector& value, const FieldNote&) { value.components = {number(), number(), number()}; }
    void field(std::vector<Number>& value, const FieldNote&) {
        for (int i = 0; i < 6; ++i) value.push_back(number());
    }
    void field(BodyHandle& value, const FieldNote&) {  // the first is the ground, which stays
        value = model.bodies.find("rocker");
        named.emplace_back("bodies", "rocker");
    }
    template <class T>
    void field(Handle<T>& value, const FieldNote&) {
        value = model.table<T>().handles().front();
        named.emplace_back(std::string(T::kind) + "s", model.table<T>().get(value).name);
    }
    template <class First, class Other>
    void field(std::variant<First, Other>& value, const FieldNote& note) {
        // The first one, but words have a default.
        if constexpr (std::is_enum_v<First>) {
            field(value.template emplace<Other>(), note);
        } else {
            main(value.template emplace<First>());
        }
    }
    template <class T>
    void field(std::optional<T>& value, const FieldNote& note) {
        field(value.emplace(), note);
    }
    template <class T>
    void field(T& value, const FieldNote&) {
        if constexpr (std::is_enum_v<T>) {
            value = static_cast<T>(1);
        } else {
            T::visit(value, *this);
        }
    }
    void law(ScalarLaw& law) {
        law.stiffness = number();
        law.damping = number();
        law.preload = number();
    }
    void time_law(TimeLaw& law, const FieldNote&, const char*) { law.expression = number(); }
};

// All values as text, with their keys.
struct Printer {
    std::vector<std::string> lines{};

    void add(const std::string& key, const std::string& value) { lines.push_back(key + " = " + value); }
    template <class T>
    void main(const T& value, Variables = Variables::none) {
        field(value, {"main", ""});
    }
    void placed(const MarkerPair& pair) { main(pair); }
    void field(const MarkerPair& pair, const FieldNote& note) {
        add(note.name, std::to_string(pair.first.index) + "-" + std::to_string(pair.second.index));
    }
    void field(const CoordinatePair& pair, const FieldNote& note) { add(note.name, pair.first + "-" + pair.second); }
    void field(const std::vector<ScalarTerm>& terms, const FieldNote&) {
        for (const ScalarTerm& term : terms) add(term.scalar, term.coefficient.text());
    }
    void field(const std::vector<NamedExpression>& list, const FieldNote&) {
        for (const NamedExpression& one : list) add(one.name, one.value.text());
    }
    void field(const Coordinate& coordinate, const FieldNote& note) { add(note.name, coordinate.name); }
    void field(bool value, const FieldNote& note) { add(note.name, value ? "true" : "false"); }
    void field(const TableDefinition& table, const FieldNote& note) {
        field(table.x, note);
        field(table.y, note);
    }
    void field(const Number& value, const FieldNote& note) { add(note.name, value.text()); }
    void field(const Number3& value, const FieldNote& note) {
        for (const Number& number : value) add(note.name, number.text());
    }
    void field(const AngularVector& value, const FieldNote& note) { field(value.components, note); }
    void field(const std::vector<Number>& value, const FieldNote& note) {
        for (const Number& number : value) add(note.name, number.text());
    }
    template <class T>
    void field(Handle<T> value, const FieldNote& note) {
        add(note.name, T::kind + std::to_string(value.index));
    }
    template <class... T>
    void field(const std::variant<T...>& value, const FieldNote& note) {
        std::visit([&](const auto& one) { field(one, note); }, value);
    }
    template <class T>
    void field(const std::optional<T>& value, const FieldNote& note) {
        if (value) field(*value, note);
    }
    template <class T>
    void field(const T& value, const FieldNote& note) {
        if constexpr (std::is_enum_v<T>) {
            add(note.name, std::to_string(static_cast<int>(value)));
        } else {
            T::visit(value, *this);
        }
    }
    void law(const ScalarLaw& law) { add("law", law.stiffness.text() + law.damping.text() + law.preload.text()); }
    void time_law(const TimeLaw& law, const FieldNote& note, const char*) { add(note.name, law.expression.text()); }
};

template <class... Types>
std::vector<std::string> print(const std::variant<Types...>& types) {
    Printer printer;
    std::visit([&](const auto& type) { type.visit(type, printer); }, types);
    return printer.lines;
}
template <class Types>
std::vector<std::string> print(const TypedElement<Types>& element) {
    return print(element.type);
}

template <class Types, class Use, std::size_t... I>
void for_each_type(const Use& use, std::index_sequence<I...>) {
    (use(std::variant_alternative_t<I, Types>{}), ...);
}

template <class Element>
void expect_needs(Model& model, const std::string& section, const std::string& name, const Element& element) {
    try {
        remove_element(model, section, name, false);
        ADD_FAILURE() << name << " goes without " << Element::kind << " '" << element.name << "'";
    } catch (const ModelError& error) {
        const std::string found = std::string(Element::kind) + " '" + element.name + "'";
        EXPECT_NE(std::string(error.what()).find(found), std::string::npos) << error.what();
    }
}

// One number after the other names a parameter: the parameter cannot go without the element.
template <class Element>
void expect_needs_of_numbers(const std::string& section, const Element& element, int count) {
    Model model = some_model();
    std::get<Table<Element>&>(Model::tables_of(model)).add(element);
    for (int i = 1; i <= count; ++i) {
        const std::string mine = "p + " + std::to_string(i);
        // All but this one become plain numbers.
        std::string text = write_element(model, section, element.name);
        for (int k = count; k >= 1; --k) {
            if (k == i) continue;
            const std::string other = "p + " + std::to_string(k);
            for (std::size_t at = text.find(other); at != std::string::npos; at = text.find(other, at)) {
                // Not the beginning of a longer number.
                if (std::isdigit(static_cast<unsigned char>(text[at + other.size()])) != 0) {
                    ++at;
                    continue;
                }
                text.replace(at, other.size(), "1");
            }
        }
        ASSERT_NE(text.find(mine), std::string::npos) << text;
        Model changed = some_model();
        add_element(changed, section, element.name, text);
        expect_needs(changed, "parameters", "p", element);
    }
}

}  // namespace limber::testing
