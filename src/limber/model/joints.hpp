#pragma once
// Joints, one structure per type. Each holds a marker of the second body to one of the first; axes are those of the
// markers. Lengths are in m, angles in rad, counted over full turns. Coordinates are those of the second marker seen
// from the first.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "limber/model/custom_joint.hpp"
#include "limber/model/element.hpp"

namespace limber {

using CoordinateNames = std::vector<std::string>;

/// A coordinate times a number, which may be an expression in velocity joints.
struct ScalarTerm {
    std::string scalar{};
    Number coefficient{};
};

struct Fixed {
    static constexpr TypeNote type{"fixed", "no relative motion"};
    std::string name{};
    MarkerPair between{};

    static void visit(auto& self, auto& visitor) { visitor.placed(self.between); }
};

struct Revolute {
    static constexpr TypeNote type{"revolute", "hinge about z; coordinate: angle"};
    std::string name{};
    MarkerPair between{};

    static CoordinateNames coordinates(bool) { return {"angle"}; }
    static void visit(auto& self, auto& visitor) { visitor.placed(self.between); }
};

struct Prismatic {
    static constexpr TypeNote type{"prismatic", "slides along z (plane: x) without turning; coordinate: displacement"};
    std::string name{};
    MarkerPair between{};

    static CoordinateNames coordinates(bool) { return {"displacement"}; }
    static void visit(auto& self, auto& visitor) { visitor.placed(self.between); }
};

struct Cylindrical {
    static constexpr TypeNote type{"cylindrical", "turns about z and slides along it; coordinates: angle, displacement",
                                   true};
    std::string name{};
    MarkerPair between{};

    static CoordinateNames coordinates(bool) { return {"angle", "displacement"}; }
    static void visit(auto& self, auto& visitor) { visitor.placed(self.between); }
};

struct Spherical {
    static constexpr TypeNote type{"spherical", "ball and socket", true};
    std::string name{};
    MarkerPair between{};

    static void visit(auto& self, auto& visitor) { visitor.placed(self.between); }
};

/// The axes of its cross must be perpendicular where the mechanism is assembled.
struct Universal {
    static constexpr TypeNote type{
        "universal", "cross with axes x of the first and y of the second marker; coordinates: angle1, angle2", true};
    std::string name{};
    MarkerPair between{};

    static CoordinateNames coordinates(bool) { return {"angle1", "angle2"}; }
    static void visit(auto& self, auto& visitor) { visitor.placed(self.between); }
};

struct PlanarJoint {
    static constexpr TypeNote type{"planar",
                                   "slides in the plane normal to z and turns about z; coordinates: x, y, angle", true};
    std::string name{};
    MarkerPair between{};

    static CoordinateNames coordinates(bool) { return {"x", "y", "angle"}; }
    static void visit(auto& self, auto& visitor) { visitor.placed(self.between); }
};

struct Helical {
    static constexpr TypeNote type{"helical", "screw about z; coordinates: angle, displacement", true};
    std::string name{};
    MarkerPair between{};
    Number pitch{};                  ///< [m] per turn
    std::optional<Number> offset{};  ///< [m]; none: what holds at the reference configuration

    static CoordinateNames coordinates(bool) { return {"angle", "displacement"}; }
    static void visit(auto& self, auto& visitor) {
        visitor.placed(self.between);
        visitor.field(self.pitch, {"pitch", "advance per turn", true});
        visitor.field(self.offset, {"offset", "displacement at angle zero (default: as at the start)"});
    }
};

struct PointOnLine {
    static constexpr TypeNote type{
        "point-on-line",
        "point of the second marker on the line along z (plane: x) of the first; coordinate: displacement"};
    std::string name{};
    MarkerPair between{};

    static CoordinateNames coordinates(bool planar) {
        return planar ? CoordinateNames{"displacement", "angle"} : CoordinateNames{"displacement"};
    }
    static void visit(auto& self, auto& visitor) { visitor.placed(self.between); }
};

struct PointOnPlane {
    static constexpr TypeNote type{
        "point-on-plane", "point of the second marker in the plane normal to z of the first; coordinates: x, y", true};
    std::string name{};
    MarkerPair between{};

    static CoordinateNames coordinates(bool) { return {"x", "y"}; }
    static void visit(auto& self, auto& visitor) { visitor.placed(self.between); }
};

/// The two points must not coincide.
struct DistanceJoint {
    static constexpr TypeNote type{"distance", "massless rod between two points; coordinate: length"};
    std::string name{};
    MarkerPair between{};
    std::optional<Number> length{};  ///< [m], positive; none: the distance at the reference configuration

    static CoordinateNames coordinates(bool) { return {"length"}; }
    static void visit(auto& self, auto& visitor) {
        visitor.main(self.between);
        visitor.field(self.length, {"length", "of the rod (default: the distance at the start)"});
    }
};

struct ParallelAxes {
    static constexpr TypeNote type{"parallel-axes", "z of both markers stay parallel (plane: no relative turning)"};
    std::string name{};
    MarkerPair between{};

    static void visit(auto& self, auto& visitor) { visitor.placed(self.between); }
};

struct PerpendicularAxes {
    static constexpr TypeNote type{"perpendicular-axes", "z of both markers stay perpendicular (plane: x)"};
    std::string name{};
    MarkerPair between{};

    static void visit(auto& self, auto& visitor) { visitor.placed(self.between); }
};

struct ConstantVelocity {
    static constexpr TypeNote type{"constant-velocity", "homokinetic joint between two shafts along z", true};
    std::string name{};
    MarkerPair between{};

    static void visit(auto& self, auto& visitor) { visitor.placed(self.between); }
};

/// How and where teeth meet, of gears and racks.
struct Teeth {
    Number pressure_angle{};         ///< [rad], below a right angle
    std::optional<Number3> place{};  ///< world axes at the reference configuration

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.pressure_angle,
                      {"pressure-angle",
                       "between the tooth force and the common tangent (default 0): the teeth push the wheels apart"});
        visitor.field(
            self.place,
            {"at",
             "where the teeth meet, world axes at the reference configuration: its place along the pitch line counts "
             "(default: beside the first joint; bevel gears need it)"});
    }
};

/// Of two joint coordinates. Where one body carries both bearings the tooth force acts at the mesh; elsewhere the gear
/// acts by torques.
struct Gear {
    static constexpr TypeNote type{"gear", "second coordinate = ratio * first"};
    std::string name{};
    CoordinatePair coordinates{};
    Number ratio{};                  ///< second per first
    std::optional<Number> offset{};  ///< second - ratio * first; none: what holds at the reference configuration
    Teeth teeth{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.coordinates);
        visitor.field(self.ratio, {"ratio", "second per first; negative for external gears", true});
        visitor.field(self.offset, {"offset", "second - ratio * first (default: as at the start)"});
        Teeth::visit(self.teeth, visitor);
    }
};

struct RackAndPinion {
    static constexpr TypeNote type{"rack-and-pinion", "displacement (second) = radius * angle (first)"};
    std::string name{};
    CoordinatePair coordinates{};
    Number radius{};                 ///< [m]
    std::optional<Number> offset{};  ///< [m]; none: what holds at the reference configuration
    Teeth teeth{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.coordinates);
        visitor.field(self.radius, {"radius", "of the pinion", true});
        visitor.field(self.offset, {"offset", "second - radius * first (default: as at the start)"});
        Teeth::visit(self.teeth, visitor);
    }
};

struct CoordinateCoupling {
    static constexpr TypeNote type{"coupling", "sum of coefficient * coordinate stays constant"};
    std::string name{};
    std::vector<ScalarTerm> terms{};
    std::optional<Number> offset{};  ///< the sum; none: what it is at the reference configuration

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.terms);
        visitor.field(self.offset, {"offset", "value of the sum (default: as at the start)"});
    }
};

struct PointOnCurve {
    static constexpr TypeNote type{"point-on-curve", "point of the second marker on a curve fixed to the first"};
    std::string name{};
    MarkerPair between{};
    Handle<CurveDefinition> curve{};  ///< in the frame of the first marker

    static void visit(auto& self, auto& visitor) {
        visitor.placed(self.between);
        visitor.field(self.curve, {"curve", "name of a curve", true});
    }
};

struct RollingDisc {
    static constexpr TypeNote type{"rolling-disc",
                                   "disc (axis z of the second marker) rolls without slip on the plane normal to z of "
                                   "the first (plane: wheel on the line along x)"};
    std::string name{};
    MarkerPair between{};
    Number radius{};  ///< [m], positive

    static CoordinateNames coordinates(bool planar) {
        return planar ? CoordinateNames{"displacement", "angle"} : CoordinateNames{"x", "y"};
    }
    static void visit(auto& self, auto& visitor) {
        visitor.placed(self.between);
        visitor.field(self.radius, {"radius", "of the disc", true});
    }
};

struct Skate {
    static constexpr TypeNote type{"skate", "no velocity along y of the second marker: blade, wheel, keel"};
    std::string name{};
    MarkerPair between{};

    static CoordinateNames coordinates(bool planar) {
        return planar ? CoordinateNames{"x", "y", "angle"} : CoordinateNames{};
    }
    static void visit(auto& self, auto& visitor) { visitor.placed(self.between); }
};

/// Holds velocities only: it gives no position back that was lost.
struct VelocityJoint {
    static constexpr TypeNote type{
        "velocity",
        "sum of coefficient * rate of coordinate = equals; coefficients may use t and scalars, equals rates, too"};
    std::string name{};
    std::vector<ScalarTerm> terms{};
    std::optional<Number> equals{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.terms, Variables::scalars);
        visitor.field(self.equals, {"equals",
                                    "right-hand side, an expression of t, scalars and, to the first power, their rates "
                                    "(crank.angle.rate) (default 0)",
                                    false, Variables::scalars});
    }
};

using JointType =
    std::variant<Fixed, Revolute, Prismatic, Cylindrical, Spherical, Universal, PlanarJoint, Helical, PointOnLine,
                 PointOnPlane, DistanceJoint, ParallelAxes, PerpendicularAxes, ConstantVelocity, Gear, RackAndPinion,
                 CoordinateCoupling, PointOnCurve, RollingDisc, Skate, VelocityJoint, CustomJoint>;

/// Of a type; in space or in the plane.
inline CoordinateNames coordinate_names(const JointType& type, bool planar) {
    return std::visit(
        [&]<class Type>(const Type&) {
            if constexpr (requires { Type::coordinates(planar); }) {
                return Type::coordinates(planar);
            } else {
                return CoordinateNames{};
            }
        },
        type);
}

struct Joint : TypedElement<JointType> {
    static constexpr const char* kind = "joint";
    using TypedElement::TypedElement;

    std::optional<bool> is_cut;  ///< relative coordinates: close a loop with this joint, or never
    bool is_disabled = false;    ///< there, but without effect
    /// If not empty, the joint does not hold yet: its equations, apart by a gap and a rate at the time `since`, are led
    /// to zero as a critically damped oscillator of the given frequency [rad/s] would go. Since, frequency, then gap
    /// and rate of each equation.
    std::vector<Number> closing;

    /// Null where it has none: of coordinates alone.
    template <class Self>
    static auto* between_of(Self& self) {
        using Pair = std::conditional_t<std::is_const_v<Self>, const MarkerPair, MarkerPair>;
        return std::visit(
            [](auto& element) -> Pair* {
                if constexpr (requires { element.between; }) {
                    return &element.between;
                } else {
                    return nullptr;
                }
            },
            self.type);
    }
    const MarkerPair* between() const { return between_of(*this); }
    MarkerPair* between() { return between_of(*this); }
    /// The same, of null handles where there are none.
    MarkerPair ends() const { return between() != nullptr ? *between() : MarkerPair{}; }
};

}  // namespace limber
