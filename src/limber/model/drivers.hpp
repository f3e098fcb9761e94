#pragma once
// What follows a law of time, by whatever force it takes.

#include <optional>
#include <string>

#include "limber/model/element.hpp"

namespace limber {

enum class VectorComponent { x, y, z };

/// Of a scalar, or of a marker along one axis: one of the two is to be given. The law counts from where the scalar has
/// its zero, or from the origin of `relative_to`; at the start the mechanism is assembled to it. A driver cannot give
/// way: where its speed jumps all bodies get the impulse that this takes, and Reaction tells its force.
struct Driver {
    static constexpr const char* kind = "driver";
    std::string name{};
    Coordinate coordinate{};
    MarkerHandle marker{};
    std::optional<VectorComponent> component{};  ///< goes with the marker; z in space only
    MarkerHandle relative_to{};                  ///< goes with the marker; null: the ground's origin, in world axes
    TimeLaw law{};                               ///< [m or rad]

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.coordinate, {"coordinate", "the joint coordinate to drive"});
        visitor.field(self.marker, {"marker", "or the marker whose position to drive"});
        visitor.field(self.component, {"component", "x, y or z, with marker"});
        visitor.field(self.relative_to, {"relative-to", "axes and origin of the component (default: the ground)"});
        visitor.time_law(self.law, {"follows", "an expression of t"}, "value over time, in place of the expression");
    }
};

}  // namespace limber
