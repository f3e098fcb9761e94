#pragma once
// What refers to what in a model: needed to remove elements. Internal to the room.

#include <compare>
#include <string>
#include <vector>

#include "limber/model/model.hpp"

namespace limber {

/// From table to contact in the order of Model::tables_of().
enum class ElementKind {
    parameter,
    table,
    curve,
    road,
    body,
    marker,
    joint,
    driver,
    stop,
    force,
    sensor,
    event,
    contact,
    initial_position,
    initial_rate,
    gravity,
    simulation
};
constexpr std::size_t element_kind_count = static_cast<std::size_t>(ElementKind::simulation) + 1;

struct ElementName {
    ElementKind kind;
    std::string name;
    friend auto operator<=>(const ElementName&, const ElementName&) = default;
};

/// "joint 'pin'"
std::string describe(const ElementName& element);
/// "joint 'pin', force 'k' and sensor 'tip'"
std::string describe(const std::vector<ElementName>& elements);

/// What goes when an element goes.
struct Removal {
    /// The element itself, the markers of a body, the markers a joint has made for itself.
    std::vector<ElementName> owned;
    /// What refers to these, directly or through others; with the markers made by joints among them left to `owned`.
    std::vector<ElementName> dependents;
};
Removal find_removal(const Model& model, const ElementName& element);

}  // namespace limber
