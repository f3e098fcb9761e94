#pragma once
// Applied forces, one structure per type. Units are SI, angles in radians; what a field means stands in its
// description.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "limber/model/custom_force.hpp"
#include "limber/model/element.hpp"

namespace limber {

/// Along the line between two points. Its force is tension: positive where it pulls them together. Cannot act while the
/// points coincide.
struct Spring {
    static constexpr TypeNote type{"spring", "along the line between two points, tension positive"};
    std::string name{};
    MarkerPair between{};
    std::optional<Number> free_length{};  ///< [m]; none: the distance at the reference configuration
    ScalarLaw law{};                      ///< of the elongation [m]

    template <class Self, class Visitor>
    static void visit(Self& self, Visitor& visitor) {
        visitor.main(self.between);
        visitor.field(self.free_length, {"free-length", "length without force (default: the length at the start)"});
        visitor.law(self.law);
    }
};

/// Against a joint coordinate: positive where the coordinate is beyond the free value, so that it drives it back.
struct TorsionSpring {
    static constexpr TypeNote type{
        "torsion-spring",
        "against a joint coordinate; its force is positive where the coordinate is beyond the free value"};
    std::string name{};
    Coordinate coordinate{};
    std::optional<Number> free_value{};  ///< [rad or m]; none: the one at the reference configuration
    ScalarLaw law{};                     ///< of the coordinate beyond the free value

    template <class Self, class Visitor>
    static void visit(Self& self, Visitor& visitor) {
        visitor.main(self.coordinate);
        visitor.field(self.free_value, {"free-value", "coordinate without force (default: the one at the start)"});
        visitor.law(self.law);
    }
};

/// Along a joint coordinate, positive where it drives the coordinate up.
struct Motor {
    static constexpr TypeNote type{"motor", "along a joint coordinate; x is the coordinate, v its rate"};
    std::string name{};
    Coordinate coordinate{};
    Number law{};  ///< [N m or N]

    template <class Self, class Visitor>
    static void visit(Self& self, Visitor& visitor) {
        visitor.main(self.coordinate);
        visitor.field(self.law, {"law", "torque or force as an expression of x, v, t, parameters and scalars", true,
                                 Variables::law});
    }
};

/// Along a joint coordinate, towards a target that moves.
struct Servo {
    static constexpr TypeNote type{"servo", "gain * (target - x) + rate-gain * (target' - v)"};
    std::string name{};
    Coordinate coordinate{};
    TimeLaw target{};
    Number gain{}, rate_gain{};
    std::optional<Number> limit{};  ///< of the force; none: there is no limit

    template <class Self, class Visitor>
    static void visit(Self& self, Visitor& visitor) {
        visitor.main(self.coordinate);
        visitor.time_law(self.target, {"target", "an expression of t"}, "target over time, in place of the expression");
        visitor.field(self.gain, {"gain", "force per deviation", true});
        visitor.field(self.rate_gain, {"rate-gain", "force per deviation of the rate"});
        visitor.field(self.limit, {"limit", "largest force"});
    }
};

/// Axes of the components of a force or torque.
enum class ForceFrame { world, body };

/// On a body, at the point of a marker. Components that are constant along the axes of the world have a potential.
struct PointForce {
    static constexpr TypeNote type{"force", "at a point"};
    std::string name{};
    MarkerHandle marker{};
    Number3 vector{};  ///< [N]
    ForceFrame frame = ForceFrame::world;

    template <class Self, class Visitor>
    static void visit(Self& self, Visitor& visitor) {
        visitor.main(self.marker);
        visitor.field(self.vector,
                      {"vector",
                       "components: expressions of t, parameters, position x, y, z and velocity vx, vy, vz of the "
                       "marker in the world, joint coordinates, position sensors and their rates (crank.angle.rate)",
                       true, Variables::motion});
        visitor.field(self.frame, {"frame", "axes of the components: world (default) or body (of the marker)"});
    }
};

struct Torque {
    static constexpr TypeNote type{"torque", "on a body"};
    std::string name{};
    MarkerHandle marker{};
    AngularVector vector{};  ///< [N m]
    ForceFrame frame = ForceFrame::world;

    template <class Self, class Visitor>
    static void visit(Self& self, Visitor& visitor) {
        visitor.main(self.marker);
        visitor.field(self.vector, {"vector", "components (plane: one number), expressions as those of a force", true,
                                    Variables::motion});
        visitor.field(self.frame, {"frame", "axes of the components: world (default) or body (of the marker)"});
    }
};

/// Elastic element that holds a marker to another in all directions. Rotations are those of small angles (half the skew
/// part of the relative rotation): it cannot be turned through large ones.
struct Bushing {
    static constexpr TypeNote type{
        "bushing", "elastic element in the axes of the first marker: 3 displacements, 3 rotations (plane: 2, 1)"};
    std::string name{};
    MarkerPair between{};
    std::vector<Number> stiffness{}, damping{};

    template <class Self, class Visitor>
    static void visit(Self& self, Visitor& visitor) {
        visitor.main(self.between);
        visitor.field(self.stiffness, {"stiffness", "6 numbers (diagonal) or 36 (rows); plane: 3 or 9", true});
        visitor.field(self.damping, {"damping", "likewise"});
    }
};

struct Drag {
    static constexpr TypeNote type{"drag", "against the velocity of a point"};
    std::string name{};
    MarkerHandle marker{};
    Number linear{}, quadratic{};
    Number3 medium{};  ///< [m/s], world axes

    template <class Self, class Visitor>
    static void visit(Self& self, Visitor& visitor) {
        visitor.main(self.marker);
        visitor.field(self.linear, {"linear", "force per speed"});
        visitor.field(self.quadratic, {"quadratic", "force per speed squared"});
        visitor.field(self.medium, {"medium", "velocity of the medium"});
    }
};

/// What the mouse does.
struct Pull {
    static constexpr TypeNote type{
        "pull", "spring and damper from a marker to a point of the world; the point can be moved while it runs"};
    std::string name{};
    MarkerHandle marker{};
    Number3 target{};
    Number stiffness{}, damping{};

    template <class Self, class Visitor>
    static void visit(Self& self, Visitor& visitor) {
        visitor.main(self.marker);
        visitor.field(self.target, {"target", "the point", true});
        visitor.field(self.stiffness, {"stiffness", "force per distance", true});
        visitor.field(self.damping, {"damping", "force per speed"});
    }
};

/// Lateral force and aligning moment of the Calspan model.
struct LateralTyre {
    Number a0{}, a1{}, a2{};
    std::optional<Number> a3{}, a4{}, b1{};
    Number b3{};
    std::optional<Number> b4{}, skid_number{}, af1{}, af2{};

    template <class Self, class Visitor>
    static void visit(Self& self, Visitor& visitor) {
        visitor.field(self.a0, {"A0", "cornering stiffness at no load [N/rad]", true});
        visitor.field(self.a1, {"A1", "its growth with load", true});
        visitor.field(self.a2, {"A2", "load beyond which it is constant [N]", true});
        visitor.field(self.a3, {"A3", "camber stiffness"});
        visitor.field(self.a4, {"A4", "load at which camber has no effect [N]"});
        visitor.field(self.b1, {"B1", "friction by load [1/N]"});
        visitor.field(self.b3, {"B3", "friction at no load", true});
        visitor.field(self.b4, {"B4", "friction by load squared [1/N^2]"});
        visitor.field(self.skid_number, {"SN", "skid number: scales the friction (default 1)"});
        visitor.field(self.af1, {"AF1", "aligning moment by load [m/N]"});
        visitor.field(self.af2, {"AF2", "aligning moment by lateral force [m/N]"});
    }
};

/// Longitudinal force of the brush model, by what the wheel spins.
struct LongitudinalTyre {
    Number stiffness{};                ///< [N] per unit of slip
    Number friction{};                 ///< over the load
    std::optional<Number> slow_speed;  ///< [m/s]

    template <class Self, class Visitor>
    static void visit(Self& self, Visitor& visitor) {
        visitor.field(self.stiffness, {"stiffness", "force per slip while there is little of it [N]", true});
        visitor.field(self.friction, {"friction", "largest force over the vertical force", true});
        visitor.field(self.slow_speed, {"slow-speed",
                                        "rolling speed below which slip grows no more [m/s] (default 0.1): a wheel "
                                        "that stands creeps, as on a damper of stiffness / slow-speed"});
    }
};

struct Tyre {
    static constexpr TypeNote type{
        "tyre",
        "wheel on a road, centre and axis (z) given by the marker; pushes along the normal of the road, never pulls. "
        "All its forces act at the point where the plane of the wheel meets the road, straight below the centre: with "
        "camber they have a moment about the centre, normal force times height of the centre times tan(camber)"};
    std::string name{};
    MarkerHandle marker{};
    Handle<RoadDefinition> road{};
    Number radius{}, stiffness{}, damping{};
    std::optional<LateralTyre> lateral{};
    std::optional<LongitudinalTyre> longitudinal{};

    template <class Self, class Visitor>
    static void visit(Self& self, Visitor& visitor) {
        visitor.main(self.marker);
        visitor.field(self.road, {"road", "name of a road", true});
        visitor.field(self.radius, {"radius", "of the wheel without load", true});
        visitor.field(self.stiffness, {"stiffness", "vertical force per depth", true});
        visitor.field(self.damping, {"damping", "vertical force per rate of depth"});
        visitor.field(self.lateral, {"lateral", "coefficients of the Calspan model (default: no lateral force)"});
        visitor.field(self.longitudinal,
                      {"longitudinal",
                       "coefficients of the brush model (default: no longitudinal force); the marker must be on the "
                       "body that spins"});
    }
};

/// What friction in a joint obeys: Coulomb's law with true stick, or one of two that only nearly stick.
enum class FrictionKind { coulomb, regularised, bristle };

struct JointFriction {
    static constexpr TypeNote type{"friction",
                                   "friction in a joint, from its reaction; against one of its coordinates"};
    std::string name{};
    Coordinate coordinate{};
    Number coefficient{};
    std::optional<Number> static_coefficient{};
    Number radius{};   ///< [m]
    Number arm{};      ///< [m]
    Number preload{};  ///< [N]
    FrictionKind law = FrictionKind::coulomb;
    std::optional<Number> slip{}, stribeck{}, bend{}, bristle_damping{}, dwell{};

    template <class Self, class Visitor>
    static void visit(Self& self, Visitor& visitor) {
        visitor.main(self.coordinate);
        visitor.field(self.coefficient, {"coefficient", "while it slips", true});
        visitor.field(self.static_coefficient, {"static", "coefficient while it sticks (default: as while it slips)"});
        visitor.field(self.radius, {"radius", "of the pin, for angles"});
        visitor.field(self.arm, {"arm", "length of the bearing: moments M count as 2 M / arm (default: not at all)"});
        visitor.field(self.preload, {"preload", "load beside the reaction (default 0)"});
        visitor.field(self.law,
                      {"law", "coulomb (default): true stick; regularised or bristle: smooth functions of the motion"});
        visitor.field(self.slip,
                      {"slip", "regularised: speed at which friction has most of its full value (default 1e-3)"});
        visitor.field(self.stribeck,
                      {"stribeck", "regularised, bristle: speed at which static friction is lost (default 1e-2)"});
        visitor.field(self.bend, {"bend", "bristle: how far it gives way under the kinetic friction (default 1e-5)"});
        visitor.field(self.bristle_damping, {"bristle-damping", "bristle: time constant of its damping (default 0)"});
        visitor.field(self.dwell,
                      {"dwell", "bristle: time constant of rest in which static friction is built up (default 0)"});
    }
};

/// Along a beam; its part of the work is done at the nodes.
struct LineLoad {
    static constexpr TypeNote type{"line-load", "spread over the length of a beam"};
    std::string name{};
    BodyHandle beam{};
    Number3 vector{};  ///< [N/m]
    ForceFrame frame = ForceFrame::world;

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.beam);
        visitor.field(self.vector, {"vector",
                                    "force per length: components as those of a force; position and velocity are those "
                                    "of each place along the beam",
                                    true, Variables::motion});
        visitor.field(self.frame,
                      {"frame", "axes of the components: world (default) or body, of each section (a follower load)"});
    }
};

using ForceType = std::variant<Spring, TorsionSpring, Motor, Servo, PointForce, Torque, Bushing, Drag, Pull, Tyre,
                               JointFriction, LineLoad, CustomForce>;

struct Force : TypedElement<ForceType> {
    static constexpr const char* kind = "force";
    using TypedElement::TypedElement;
};

}  // namespace limber
