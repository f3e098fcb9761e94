#pragma once
// One-sided constraints, one structure per type: what each measures, its gap, never becomes negative. Units are SI,
// angles in radians.

#include <optional>
#include <string>
#include <variant>

#include "limber/model/element.hpp"

namespace limber {

/// What happens when a gap closes.
struct StopImpact {
    Number restitution{};           ///< 0: plastic .. 1: elastic
    std::optional<Number> latch{};  ///< [m/s or rad/s]

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.restitution, {"restitution", "speed after an impact over that before: 0 (default) .. 1"});
        visitor.field(self.latch, {"latch", "holds for good once it is reached slower than this (default: never)"});
    }
};

/// Dry friction while a stop holds.
struct StopFriction {
    Number kinetic{};
    std::optional<Number> at_rest{};  ///< not below the kinetic one; none: equal to it

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.kinetic, {"friction", "coefficient while it slips (default 0)"});
        visitor.field(self.at_rest, {"static-friction", "coefficient while it sticks (default: as while it slips)"});
    }
};

/// Of a scalar: at least one of minimum and maximum is to be given. Its gap and force are those along the scalar.
struct Limit {
    static constexpr TypeNote type{
        "limit",
        "of a joint coordinate, a component of a position sensor, or a sensor whose expression is a sum of such"};
    std::string name{};
    Coordinate coordinate{};
    std::optional<Number> minimum{}, maximum{};
    Coordinate along{};  ///< empty: nothing rubs
    Number radius{};     ///< [m]
    StopFriction friction{};
    StopImpact impact{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.coordinate);
        visitor.field(self.minimum, {"min", "smallest value"});
        visitor.field(self.maximum, {"max", "largest value"});
        visitor.field(self.along, {"along", "that rubs while the limit holds (default: nothing does)"});
        visitor.field(self.radius, {"radius", "at which it rubs, for angles"});
        StopFriction::visit(self.friction, visitor);
        StopImpact::visit(self.impact, visitor);
    }
};

struct Wall {
    static constexpr TypeNote type{"wall",
                                   "the second marker stays on the side of the first to which its z (plane: y) points"};
    std::string name{};
    MarkerPair between{};
    Number radius{};  ///< [m]
    bool has_rim = false;
    StopFriction friction{};
    StopImpact impact{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.between);
        visitor.field(self.radius, {"radius", "of a ball around the second marker (default 0)"});
        visitor.field(self.has_rim,
                      {"rim", "true: of a disc about z of that marker, which touches with its rim (default false)"});
        StopFriction::visit(self.friction, visitor);
        StopImpact::visit(self.impact, visitor);
    }
};

struct KeepApart {
    static constexpr TypeNote type{"stop", "the two points stay at least so far apart"};
    std::string name{};
    MarkerPair between{};
    std::optional<Number> length{};  ///< [m]; none: the distance at the reference configuration
    Number radius{};                 ///< [m], at most the length
    StopFriction friction{};
    StopImpact impact{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.between);
        visitor.field(self.length, {"length", "the distance (default: the one at the start)"});
        visitor.field(self.radius,
                      {"radius", "of the ball around the second marker that rubs (default: half the length)"});
        StopFriction::visit(self.friction, visitor);
        StopImpact::visit(self.impact, visitor);
    }
};

struct Cable {
    static constexpr TypeNote type{"cable", "the two points stay at most so far apart: rope, strap, check link"};
    std::string name{};
    MarkerPair between{};
    std::optional<Number> length{};  ///< [m]; none: the distance at the reference configuration
    StopImpact impact{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.between);
        visitor.field(self.length, {"length", "the distance (default: the one at the start)"});
        StopImpact::visit(self.impact, visitor);
    }
};

struct Clearance {
    static constexpr TypeNote type{"clearance",
                                   "pin in a wider hole (space: ball in a wider socket), in place of a joint"};
    std::string name{};
    MarkerPair between{};
    Number gap{};     ///< [m], positive
    Number radius{};  ///< [m]
    StopFriction friction{};
    StopImpact impact{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.between);
        visitor.field(self.gap, {"gap", "radial play", true});
        visitor.field(self.radius, {"radius", "of the pin where it rubs (default 0)"});
        StopFriction::visit(self.friction, visitor);
        StopImpact::visit(self.impact, visitor);
    }
};

struct Slot {
    static constexpr TypeNote type{
        "slot",
        "second marker in a wider slot along x (space: z) of the first, in place of a prismatic or point-on-line "
        "joint"};
    std::string name{};
    MarkerPair between{};
    Number gap{};  ///< [m], positive
    StopFriction friction{};
    StopImpact impact{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.between);
        visitor.field(self.gap, {"gap", "play to each side", true});
        StopFriction::visit(self.friction, visitor);
        StopImpact::visit(self.impact, visitor);
    }
};

using StopType = std::variant<Limit, Wall, KeepApart, Cable, Clearance, Slot>;

struct Stop : TypedElement<StopType> {
    static constexpr const char* kind = "stop";
    using TypedElement::TypedElement;

    const StopImpact& impact() const {
        return std::visit([](const auto& stop) -> const StopImpact& { return stop.impact; }, type);
    }
    StopImpact& impact() {
        return std::visit([](auto& stop) -> StopImpact& { return stop.impact; }, type);
    }
};

}  // namespace limber
