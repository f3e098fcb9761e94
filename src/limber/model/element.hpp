#pragma once
// Elements that come in several types, each type a described structure (description.hpp) of a variant.

#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "limber/model/description.hpp"
#include "limber/model/handles.hpp"
#include "limber/model/laws.hpp"
#include "limber/model/placement.hpp"

namespace limber {

template <class Type, class Types>
struct IsTypeOf : std::false_type {};
template <class Type, class... Types>
struct IsTypeOf<Type, std::variant<Types...>> : std::disjunction<std::is_same<Type, Types>...> {};

template <class Types>
struct TypedElement {
    std::string name;
    Types type;  ///< its own name is empty: it stands here

    TypedElement() = default;
    /// Of any type, under the name that it has.
    template <class Type>
    requires IsTypeOf<Type, Types>::value TypedElement(Type element)
        : name(std::move(element.name)), type(std::move(element)) {
        std::get<Type>(type).name.clear();
    }
    TypedElement(std::string element_name, Types element_type)
        : name(std::move(element_name)), type(std::move(element_type)) {}

    const TypeNote& note() const {
        return std::visit([](const auto& element) -> const TypeNote& { return element.type; }, type);
    }
    /// Null: of another type.
    template <class Type>
    const Type* as() const {
        return std::get_if<Type>(&type);
    }
    template <class Type>
    Type* as() {
        return std::get_if<Type>(&type);
    }
};

/// What an element acts on, whatever its type: a marker (the second one), two markers, or a joint coordinate.
struct ElementEnds {
    MarkerHandle a{}, b{};
    std::string scalar{};
    bool can_be_placed = false;  ///< by 'at', 'axis' and 'x'

    void main(const MarkerPair& pair) {
        a = pair.first;
        b = pair.second;
    }
    void placed(const MarkerPair& pair) {
        main(pair);
        can_be_placed = true;
    }
    void main(MarkerHandle marker) { b = marker; }
    void main(const Coordinate& coordinate) { scalar = coordinate.name; }
    template <class... T>
    void main(const std::variant<T...>& one) {
        std::visit([&](const auto& value) { main(value); }, one);
    }
    template <class T>
    void main(const T&, Variables = Variables::none) {}
    template <class T>
    void field(const T&, const FieldNote&) {}
    void placement(const Placement&) {}
    void law(const ScalarLaw&) {}
    void time_law(const TimeLaw&, const FieldNote&, const char*) {}
};

template <class Types>
ElementEnds ends_of(const TypedElement<Types>& element) {
    ElementEnds ends;
    std::visit([&](const auto& type) { type.visit(type, ends); }, element.type);
    return ends;
}

}  // namespace limber
