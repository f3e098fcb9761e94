#pragma once
// Bodies of one solid, for models made in code: model.add(Rod{...}) adds the body with its markers. Places and
// velocities are in world axes at the reference configuration; mass in kg, or density in kg/m^3 (plane: kg/m^2; a rod
// without radius: kg/m).

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "limber/model/model.hpp"

namespace limber {

/// Between two points: the body's frame is at the first, its x towards the second. Markers: "name.from", "name.to".
struct Rod {
    std::string name{};
    Number3 from{}, to{};  ///< [m]
    std::optional<Number> mass{}, density{};
    Number radius{};  ///< [m] for its inertia about the axis, and for pictures
    Number3 velocity{}, angular_velocity{};

    operator Body() const {
        return body_of(*this, RodSolid{.from = from, .to = to, .radius = radius, .mass = {mass, density}});
    }

    template <class Shape>
    static Body body_of(const Shape& shape, Solid solid) {
        Body body;
        body.name = shape.name;
        body.solids.push_back(std::move(solid));
        body.velocity = shape.velocity;
        body.angular_velocity = {shape.angular_velocity};
        return body;
    }
    /// At its place, with its mass.
    template <class Shape, class OneSolid>
    static Body placed(const Shape& shape, OneSolid solid) {
        solid.common.mass.mass = shape.mass;
        if constexpr (requires { shape.density; }) solid.common.mass.density = shape.density;
        Body body = body_of(shape, std::move(solid));
        body.placement = {shape.at, shape.orientation};
        return body;
    }
};

/// Centred at its frame.
struct Box {
    std::string name{};
    Number3 size{};  ///< [m] along x, y, z (plane: x, y)
    std::optional<Number> mass{}, density{};
    Number3 at{};
    Orientation orientation{};
    Number3 velocity{}, angular_velocity{};

    operator Body() const { return Rod::placed(*this, BoxSolid{.size = size}); }
};

struct Sphere {
    std::string name{};
    Number radius{};  ///< [m]
    std::optional<Number> mass{}, density{};
    Number3 at{};
    Orientation orientation{};
    Number3 velocity{}, angular_velocity{};

    operator Body() const { return Rod::placed(*this, SphereSolid{.radius = radius}); }
};

/// Axis along z.
struct Cylinder {
    std::string name{};
    Number radius{}, length{};  ///< [m]
    std::optional<Number> mass{}, density{};
    Number3 at{};
    Orientation orientation{};
    Number3 velocity{}, angular_velocity{};

    operator Body() const { return Rod::placed(*this, CylinderSolid{.radius = radius, .length = length}); }
};

/// Axis along z; in the plane a round plate.
struct Disc {
    std::string name{};
    Number radius{}, thickness{};  ///< [m]
    std::optional<Number> mass{}, density{};
    Number3 at{};
    Orientation orientation{};
    Number3 velocity{}, angular_velocity{};

    operator Body() const { return Rod::placed(*this, DiscSolid{.radius = radius, .thickness = thickness}); }
};

/// A mass without inertia of rotation.
struct PointMass {
    std::string name{};
    std::optional<Number> mass{};
    Number3 at{};
    Orientation orientation{};
    Number3 velocity{}, angular_velocity{};

    operator Body() const { return Rod::placed(*this, PointSolid{}); }
};

/// By its mass properties.
struct RigidBody {
    std::string name{};
    std::optional<Number> mass{};
    Number3 centre{};                 ///< of mass, in the body's frame [m]
    std::array<Number, 6> inertia{};  ///< xx yy zz xy xz yz about the centre of mass, body axes [kg m^2]; xy is minus
                                      ///< the integral of x y dm
    Number3 at{};
    Orientation orientation{};
    Number3 velocity{}, angular_velocity{};

    operator Body() const {
        Body body;
        body.name = name;
        body.given_mass = {mass, centre, {inertia}};
        body.placement = {at, orientation};
        body.velocity = velocity;
        body.angular_velocity = {angular_velocity};
        return body;
    }
};

}  // namespace limber
