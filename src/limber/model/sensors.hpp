#pragma once
// What is measured and recorded, one structure per type. A sensor fills one column of its own name or several, one per
// component: "tip.x". Units are SI, angles in radians, components along the axes of the world where nothing else is
// said. In the plane there are x and y, and of what turns the one component about z.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "limber/model/custom_sensor.hpp"
#include "limber/model/element.hpp"

namespace limber {

/// Of the types that show the motion of a marker: as it is seen from another, and the axes of the components. Where a
/// marker moves in the axes of another, its velocity is the rate of those components.
void visit_view(auto& self, auto& marker, auto& visitor) {
    visitor.main(marker);
    visitor.field(self.relative_to,
                  {"relative-to", "measure relative to this marker and in its axes (default: the ground)"});
    visitor.field(
        self.axes,
        {"axes", "components along the axes of this marker or body (default: of relative-to, or of the world)"});
}

/// [m] Its components are scalars that drivers, limits and laws may name, too.
struct Position {
    static constexpr TypeNote type{"position", "of a point: name.x, name.y, name.z"};
    std::string name{};
    MarkerHandle marker{};
    MarkerHandle relative_to{};  ///< null: the ground's origin
    MarkerHandle axes{};         ///< null: those of `relative_to`

    static void visit(auto& self, auto& visitor) { visit_view(self, self.marker, visitor); }
};

/// [m/s]
struct Velocity {
    static constexpr TypeNote type{"velocity", "of a point: name.x, name.y, name.z"};
    std::string name{};
    MarkerHandle marker{};
    MarkerHandle relative_to{};  ///< null: the ground's origin; on another body than the marker
    MarkerHandle axes{};         ///< null: those of `relative_to`

    static void visit(auto& self, auto& visitor) { visit_view(self, self.marker, visitor); }
};

/// [m/s^2, or rad/s^2 of an angle] Where rigid bodies touch: the mean over the last step. Gravity is not taken off.
struct Acceleration {
    static constexpr TypeNote type{"acceleration", "of a point: name.x, name.y, name.z; or of a coordinate"};
    std::string name{};
    std::variant<MarkerHandle, Coordinate> of{};
    MarkerHandle relative_to{};  ///< null: the ground's origin; on another body than the marker; not of coordinates
    MarkerHandle axes{};         ///< null: those of `relative_to`; not of coordinates

    static void visit(auto& self, auto& visitor) { visit_view(self, self.of, visitor); }
};

/// [rad/s] Of the marker's body.
struct AngularVelocity {
    static constexpr TypeNote type{"angular-velocity", "of a body: name.x, name.y, name.z (plane: name)"};
    std::string name{};
    MarkerHandle marker{};
    MarkerHandle relative_to{};  ///< null: the ground's origin; on another body than the marker
    MarkerHandle axes{};         ///< null: those of `relative_to`; in space only

    static void visit(auto& self, auto& visitor) { visit_view(self, self.marker, visitor); }
};

/// [rad/s^2] Of the marker's body; relative to another as that one sees it, which may turn itself.
struct AngularAcceleration {
    static constexpr TypeNote type{"angular-acceleration", "of a body: name.x, name.y, name.z (plane: name)"};
    std::string name{};
    MarkerHandle marker{};
    MarkerHandle relative_to{};  ///< null: the ground's origin; on another body than the marker
    MarkerHandle axes{};         ///< null: those of `relative_to`; in space only

    static void visit(auto& self, auto& visitor) { visit_view(self, self.marker, visitor); }
};

/// How an orientation R is told in numbers. R has the axes of the marker as its columns, along those of the reference.
enum class OrientationForm {
    quaternion,      ///< w, x, y, z with w >= 0
    axis_angle,      ///< angle [rad] in 0 .. pi, and the axis x, y, z it turns about; z of no turn at all
    matrix,          ///< xx, xy .. zz: along the reference's first-named axis, of the marker's second-named one
    roll_pitch_yaw,  ///< [rad] those of zyx, by the names vehicles give them: x ahead, y to the left, z up
    xyz,             ///< [rad] from here on: R = R_x(first) R_y(second) R_z(third), turns about axes that turn along
    xzy,
    yxz,
    yzx,
    zxy,
    zyx,
    xyx,  ///< Euler's from here on: second in 0 .. pi; of those above in -pi/2 .. pi/2
    xzx,
    yxy,
    yzy,
    zxz,
    zyz
};

/// Angles lie within half a turn and jump there; coordinates of joints count turns. Where the second angle of a
/// sequence leaves the first and the third undivided (gimbal lock), the third is 0.
struct OrientationSensor {
    static constexpr TypeNote type{
        "orientation",
        "of a marker's axes, which carry those of the reference into its own: name.w, name.x .. as a quaternion or "
        "in the form of 'as' (plane: name, an angle)"};
    std::string name{};
    MarkerHandle marker{};
    MarkerHandle relative_to{};             ///< null: the axes of the world
    std::optional<OrientationForm> form{};  ///< none: a quaternion; in the plane the angle [rad], or a matrix

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.marker);
        visitor.field(self.relative_to,
                      {"relative-to", "against the axes of this marker or body (default: the world)"});
        visitor.field(
            self.form,
            {"as",
             "quaternion (default): w, x, y, z; axis-angle: angle, x, y, z; matrix: xx, xy .. zz (plane: the only "
             "one); "
             "roll-pitch-yaw: roll, pitch, yaw; or a sequence of turns about axes that turn along, xyz, zyx, zxz, .. : "
             "first, second, third"});
    }
};

/// [rad or m] A scalar under a name of its own: drivers, limits and laws may name the sensor in its place.
struct CoordinateSensor {
    static constexpr TypeNote type{"coordinate", "value of a joint coordinate, turns counted"};
    std::string name{};
    Coordinate coordinate{};

    static void visit(auto& self, auto& visitor) { visitor.main(self.coordinate); }
};

/// [rad/s or m/s]
struct RateSensor {
    static constexpr TypeNote type{"rate", "of a joint coordinate"};
    std::string name{};
    Coordinate coordinate{};

    static void visit(auto& self, auto& visitor) { visitor.main(self.coordinate); }
};

/// Axes of the components of a reaction that are those of no marker in particular.
enum class ReactionFrame {
    world,
    joint,  ///< of the joint's first marker, while it moves
    second  ///< of its second marker
};
/// Point about which the torque of a reaction is told.
enum class ReactionPoint {
    second,  ///< the joint's second marker; of teeth where they meet
    first    ///< the joint's first marker
};

/// [N and N m] What the joint does to a body: what it does to the other is the opposite, about the same point. Where
/// joints hold a motion more than once: the least reactions that explain it. A reaction that is one number is positive
/// where it drives its coordinate up; it has neither point nor axes, and becomes a force and a torque with `body`.
struct Reaction {
    static constexpr TypeNote type{
        "reaction",
        "of a joint on its second body, at its second marker: name.fx .. name.tz (plane: fx, fy, tz); of a gear or a "
        "rack on the second wheel or the rack, where the teeth meet; of a driver, a coupling, or a gear that acts by "
        "torques alone: name, and with 'body' name.fx .. name.tz too"};
    std::string name{};
    std::variant<JointHandle, DriverHandle> of{};
    BodyHandle body{};  ///< null: the joint's second body, a gear's second wheel, the rack
    std::variant<ReactionPoint, MarkerHandle> at{};
    std::variant<ReactionFrame, MarkerHandle> axes{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.of);
        visitor.field(self.body, {"body", "the body it acts on (default: the second of the joint)"});
        visitor.field(self.at, {"at",
                                "point of the torque: second-marker (default; of teeth where they meet), marker (the "
                                "joint's first marker), or the name of a marker or body; of what has neither markers "
                                "nor teeth the origin of the body"});
        visitor.field(self.axes, {"axes",
                                  "world (default), marker (the joint's first marker), second-marker, or the name of a "
                                  "marker or body"});
    }
};

/// [N, or N m of torques] Signs are those of the types of force; a magnitude has none. With `body` the force [N] and
/// the torque [N m] on that body, positive along the axes; on the other body of a spring it is the opposite.
struct ForceSensor {
    static constexpr TypeNote type{
        "force",
        "of a force element: tension of a spring, torque of a torsion-spring against its coordinate, of a motor or "
        "servo along it, or magnitude; with 'body' what it does to a body: name.fx .. name.tz (plane: fx, fy, tz)"};
    std::string name{};
    ForceHandle force{};
    BodyHandle body{};    ///< null: the one number of the element
    MarkerHandle at{};    ///< null: the element's own marker on that body, or the body's origin; goes with `body`
    MarkerHandle axes{};  ///< null: of the world; goes with `body`

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.force);
        visitor.field(self.body, {"body", "the body whose force and torque are told"});
        visitor.field(self.at,
                      {"at",
                       "point of the torque: a marker or body (default: the element's own marker on that body, "
                       "or the body's origin); goes with 'body'"});
        visitor.field(self.axes, {"axes",
                                  "components along the axes of this marker or body (default: of the world); goes with "
                                  "'body'"});
    }
};

/// Of friction in a joint, or of a stop. Compliant laws never stick.
struct FrictionSensor {
    static constexpr TypeNote type{
        "friction",
        "of a force of type friction: name.sticks (1: it sticks, 0: it does not), name.slips (1 or -1: the coordinate "
        "grows or falls, 0: it does not slip), name.force (along the coordinate, of stick too); of a stop the same, "
        "but "
        "slips is 1 or 0 where surfaces slide, force a size, and name.x, name.y, name.z the direction in which the "
        "second "
        "body slides over the first, world axes"};
    std::string name{};
    std::variant<ForceHandle, StopHandle> of{};

    static void visit(auto& self, auto& visitor) { visitor.main(self.of); }
};

/// [N, N, N, N m, rad, rad, m, -] Forces on the wheel at the point where its plane meets the road, along the road's
/// normal and, in the road, ahead and to the left of a wheel whose axis points to the left; zero while it is in the
/// air. Slip is the angle from ahead to the velocity of the centre, positive where that points to the left; slip-ratio,
/// of a tyre with a longitudinal law alone, is the slip that this law uses: positive where the wheel drives. In the
/// plane: normal and depth, and with such a law longitudinal and slip-ratio.
struct TyreSensor {
    static constexpr TypeNote type{
        "tyre",
        "of a force of type tyre, on the wheel: name.normal, name.longitudinal, name.lateral (to the left), "
        "name.aligning (moment about the normal), name.slip (angle), name.camber, name.depth; plane: normal, depth; "
        "of a tyre with a longitudinal law name.slip-ratio too (plane: longitudinal, slip-ratio)"};
    std::string name{};
    ForceHandle force{};

    static void visit(auto& self, auto& visitor) { visitor.main(self.force); }
};

/// [m or rad] Of a limit with two ends: the smaller one.
struct Gap {
    static constexpr TypeNote type{"gap", "of a stop: what separates it from contact"};
    std::string name{};
    StopHandle stop{};

    static void visit(auto& self, auto& visitor) { visitor.main(self.stop); }
};

/// [N, or N m of angles] Along the gap, positive where it opens the gap; without friction, and without impacts, whose
/// forces last for no time.
struct ContactForce {
    static constexpr TypeNote type{"contact-force", "of a stop, while it holds"};
    std::string name{};
    StopHandle stop{};

    static void visit(auto& self, auto& visitor) { visitor.main(self.stop); }
};

/// [N s, or N m s of angles] Positive.
struct Impulse {
    static constexpr TypeNote type{"impulse", "of a stop: sum over its impacts so far"};
    std::string name{};
    StopHandle stop{};

    static void visit(auto& self, auto& visitor) { visitor.main(self.stop); }
};

/// [N, -, m, N] Sums over all bodies of the rule: it cannot tell pairs apart. Of a rigid rule there is name.impulse
/// [N s], too, the sum of normal impulses so far; its forces are means over the last step.
struct ContactSensor {
    static constexpr TypeNote type{
        "contact",
        "by a rule of contacts: name.normal (sum of normal forces), name.count (points), name.depth (largest), "
        "name.friction (sum over pairs of shapes of the size of their friction force)"};
    std::string name{};
    ContactHandle contact{};

    static void visit(auto& self, auto& visitor) { visitor.main(self.contact); }
};

enum class EnergyKind { kinetic, potential, work, total, impacts };

/// [J] Of the whole mechanism. Potential energy is that of constant gravity, above the world's origin, and of springs.
/// Work is counted by runs and sessions; where nobody counts it is not a number.
struct EnergySensor {
    static constexpr TypeNote type{
        "energy",
        "kinetic, potential, work (done by everything without a potential), total or impacts (lost in them and in "
        "rigid contacts)"};
    std::string name{};
    EnergyKind kind = EnergyKind::kinetic;

    static void visit(auto& self, auto& visitor) { visitor.main(self.kind); }
};

enum class ErrorKind { position, velocity, acceleration, relative, complementarity };

/// Of the whole mechanism, in the units of the equations: m and rad are not told apart. Relative: 0 .. 1.
struct ErrorSensor {
    static constexpr TypeNote type{
        "error",
        "largest constraint error: position, velocity or acceleration; relative: the share of the constraint "
        "accelerations that mends errors; complementarity: by how far an open stop overlaps, a closed one is open, or "
        "rigid bodies have missed the conditions of contact in the last step"};
    std::string name{};
    ErrorKind kind = ErrorKind::position;

    static void visit(auto& self, auto& visitor) { visitor.main(self.kind); }
};

/// Names columns of other sensors, no joint coordinates. One that is a sum of multiples of positions can be limited.
struct ExpressionSensor {
    static constexpr TypeNote type{"expression", "of t, parameters and other sensors"};
    std::string name{};
    Number expression{};

    static void visit(auto& self, auto& visitor) { visitor.main(self.expression, Variables::columns); }
};

struct NamedExpression {
    std::string name{};
    Number value{};
};

struct ExpressionsSensor {
    static constexpr TypeNote type{"expressions",
                                   "several columns, each of t, parameters and other sensors: {u1: ..., u2: ...} shows "
                                   "name.u1, name.u2"};
    std::string name{};
    std::vector<NamedExpression> expressions{};

    static void visit(auto& self, auto& visitor) { visitor.main(self.expressions, Variables::columns); }
};

/// [N, N m] What the part of a beam beyond the marker does on the part before it, axes of the section.
struct SectionSensor {
    static constexpr TypeNote type{
        "section",
        "forces in a beam at a marker of it, of what lies beyond on what lies before, axes of the section: name.axial, "
        "name.shear_y, name.shear_z, name.torsion, name.bending_y, name.bending_z (plane: axial, shear_y, bending_z)"};
    std::string name{};
    MarkerHandle marker{};

    static void visit(auto& self, auto& visitor) { visitor.main(self.marker); }
};

using SensorType = std::variant<Position, Velocity, Acceleration, AngularVelocity, AngularAcceleration,
                                OrientationSensor, CoordinateSensor, RateSensor, Reaction, ForceSensor, FrictionSensor,
                                TyreSensor, Gap, ContactForce, Impulse, ContactSensor, EnergySensor, ErrorSensor,
                                SectionSensor, ExpressionSensor, ExpressionsSensor, CustomSensor>;

struct Sensor : TypedElement<SensorType> {
    static constexpr const char* kind = "sensor";
    using TypedElement::TypedElement;

    /// Whose value or rate it shows; null: of something else.
    const Coordinate* coordinate() const {
        if (const auto* acceleration = as<Acceleration>()) return std::get_if<Coordinate>(&acceleration->of);
        if (const auto* rate = as<RateSensor>()) return &rate->coordinate;
        const auto* value = as<CoordinateSensor>();
        return value != nullptr ? &value->coordinate : nullptr;
    }
};

}  // namespace limber
