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
        Body body;
        body.ends = {from, to};
        return with_solid(*this, std::move(body), Solid::Kind::rod, {radius});
    }

    template <class Shape>
    static Body with_solid(const Shape& shape, Body body, Solid::Kind kind, std::vector<Number> size) {
        Solid solid;
        solid.kind = kind;
        solid.size = std::move(size);
        solid.mass = shape.mass;
        solid.density = shape.density;
        body.name = shape.name;
        body.solids.push_back(std::move(solid));
        body.velocity = shape.velocity;
        body.angular_velocity = shape.angular_velocity;
        return body;
    }
    template <class Shape>
    static Body placed(const Shape& shape, Solid::Kind kind, std::vector<Number> size) {
        Body body;
        body.placement = {shape.at, shape.orientation};
        return with_solid(shape, std::move(body), kind, std::move(size));
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

    operator Body() const { return Rod::placed(*this, Solid::Kind::box, {size[0], size[1], size[2]}); }
};

struct Sphere {
    std::string name{};
    Number radius{};  ///< [m]
    std::optional<Number> mass{}, density{};
    Number3 at{};
    Orientation orientation{};
    Number3 velocity{}, angular_velocity{};

    operator Body() const { return Rod::placed(*this, Solid::Kind::sphere, {radius}); }
};

/// Axis along z.
struct Cylinder {
    std::string name{};
    Number radius{}, length{};  ///< [m]
    std::optional<Number> mass{}, density{};
    Number3 at{};
    Orientation orientation{};
    Number3 velocity{}, angular_velocity{};

    operator Body() const { return Rod::placed(*this, Solid::Kind::cylinder, {radius, length}); }
};

/// Axis along z; in the plane a round plate.
struct Disc {
    std::string name{};
    Number radius{}, thickness{};  ///< [m]
    std::optional<Number> mass{}, density{};
    Number3 at{};
    Orientation orientation{};
    Number3 velocity{}, angular_velocity{};

    operator Body() const { return Rod::placed(*this, Solid::Kind::disc, {radius, thickness}); }
};

/// A mass without inertia of rotation.
struct PointMass {
    std::string name{};
    std::optional<Number> mass{}, density{};
    Number3 at{};
    Orientation orientation{};
    Number3 velocity{}, angular_velocity{};

    operator Body() const { return Rod::placed(*this, Solid::Kind::point, {}); }
};

/// By its mass properties.
struct RigidBody {
    std::string name{};
    std::optional<Number> mass{}, density{};
    Number3 centre{};                 ///< of mass, in the body's frame [m]
    std::array<Number, 6> inertia{};  ///< xx yy zz xy xz yz about the centre of mass, body axes [kg m^2]; xy is minus
                                      ///< the integral of x y dm
    Number3 at{};
    Orientation orientation{};
    Number3 velocity{}, angular_velocity{};

    operator Body() const {
        Body body = Rod::placed(*this, Solid::Kind::general, {});
        body.solids[0].placement.position = centre;
        body.solids[0].inertia = inertia;
        return body;
    }
};

}  // namespace limber
