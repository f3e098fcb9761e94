#pragma once
// The formats of described elements (model/description.hpp). Internal to the room.

#include <optional>
#include <type_traits>
#include <variant>

#include "limber/io/format.hpp"

namespace limber {

// What a field is, by its type.
template <class T>
struct KindOf {
    static constexpr FieldKind value = std::is_enum_v<T> ? FieldKind::text : FieldKind::object;
};
template <FieldKind Kind>
struct KindIs {
    static constexpr FieldKind value = Kind;
};
template <>
struct KindOf<Number> : KindIs<FieldKind::number> {};
template <>
struct KindOf<Number3> : KindIs<FieldKind::vector> {};
template <>
struct KindOf<AngularVector> : KindIs<FieldKind::vector> {};
template <>
struct KindOf<std::vector<Number>> : KindIs<FieldKind::numbers> {};
template <>
struct KindOf<bool> : KindIs<FieldKind::truth> {};
template <>
struct KindOf<std::string> : KindIs<FieldKind::text> {};
template <>
struct KindOf<TableDefinition> : KindIs<FieldKind::table> {};
template <>
struct KindOf<std::vector<JointNumber>> : KindIs<FieldKind::joint_map> {};
template <>
struct KindOf<MarkerHandle> : KindIs<FieldKind::marker> {};
template <>
struct KindOf<MarkerPair> : KindIs<FieldKind::two_markers> {};
template <>
struct KindOf<Coordinate> : KindIs<FieldKind::coordinate> {};
template <>
struct KindOf<CoordinatePair> : KindIs<FieldKind::two_coordinates> {};
template <>
struct KindOf<std::vector<ScalarTerm>> : KindIs<FieldKind::coordinate_map> {};
template <>
struct KindOf<std::vector<NamedExpression>> : KindIs<FieldKind::coordinate_map> {};
template <>
struct KindOf<ContactSides> : KindIs<FieldKind::two_bodies> {};
template <>
struct KindOf<EditLines> : KindIs<FieldKind::edits> {};
template <>
struct KindOf<GroupNames> : KindIs<FieldKind::names> {};
template <>
struct KindOf<InertiaEntries> : KindIs<FieldKind::numbers> {};
template <>
struct KindOf<std::array<Number, 2>> : KindIs<FieldKind::numbers> {};
template <>
struct KindOf<HeightGrid> : KindIs<FieldKind::numbers> {};
template <>
struct KindOf<std::vector<Number3>> : KindIs<FieldKind::points> {};
template <>
struct KindOf<PlanePoints> : KindIs<FieldKind::points> {};
template <>
struct KindOf<SurfaceFile> : KindIs<FieldKind::text> {};
template <class T>
struct KindOf<Handle<T>> : KindIs<FieldKind::reference> {};
template <class T>
struct KindOf<std::optional<T>> : KindOf<T> {};
template <class First, class... Others>
struct KindOf<std::variant<First, Others...>> : KindOf<First> {};

class FormatCollector {
public:
    template <class T>
    void main(const T&, Variables = Variables::none) {
        format_.kind = KindOf<T>::value;
    }
    void placed(const MarkerPair&);
    template <class T>
    void field(const T&, const FieldNote& note) {
        format_.options.push_back({note.name, KindOf<T>::value, note.meaning, note.is_required});
    }
    void placement(const Placement&);
    void solids(const std::vector<Solid>&);
    void law(const ScalarLaw&);
    void time_law(const TimeLaw&, const FieldNote& note, const char* table_meaning);

    TypeFormat take(const TypeNote& note) {
        format_.name = note.name;
        format_.meaning = note.meaning;
        format_.is_spatial_only = note.is_spatial_only;
        return std::move(format_);
    }
    std::vector<FieldFormat> take_fields() { return std::move(format_.options); }

private:
    TypeFormat format_{"", FieldKind::object, "", false, {}};
};

template <class Element>
std::vector<FieldFormat> describe_fields() {
    FormatCollector collector;
    const Element element{};
    Element::visit(element, collector);
    return collector.take_fields();
}

template <class Element>
TypeFormat describe_type() {
    FormatCollector collector;
    const Element element{};
    Element::visit(element, collector);
    return collector.take(Element::type);
}

template <class Variant, std::size_t... I>
std::vector<TypeFormat> describe_each(std::index_sequence<I...>) {
    return {describe_type<std::variant_alternative_t<I, Variant>>()...};
}
/// Where the one stands that is a class of C++, if there is any.
template <class Variant>
const TypeNote& last_type() {
    return std::variant_alternative_t<std::variant_size_v<Variant> - 1, Variant>::type;
}
/// Of every type of a variant that a file can hold, in its order.
template <class Variant>
std::vector<TypeFormat> describe_alternatives() {
    std::vector<TypeFormat> all = describe_each<Variant>(std::make_index_sequence<std::variant_size_v<Variant>>());
    if (last_type<Variant>().is_code) all.pop_back();
    return all;
}

/// The alternative of a variant with that index, with its defaults.
template <class Variant, std::size_t I = 0>
Variant make_alternative(std::size_t index) {
    if constexpr (I < std::variant_size_v<Variant>) {
        return index == I ? Variant(std::in_place_index<I>) : make_alternative<Variant, I + 1>(index);
    } else {
        return Variant();
    }
}

}  // namespace limber
