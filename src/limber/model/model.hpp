#pragma once
// The description of a mechanism: plain data, no coordinates, no matrices, no time step.
//
// Frames: every body has a body frame; markers are frames fixed to bodies; joints, forces and sensors refer to
// markers only. A marker's place is given in its body's frame, or in world axes at the reference configuration (the
// poses written in the model, before assembly). In a planar model all points lie in the plane z = 0, every marker's
// z axis is the plane's normal, and only x, y and the angle about z are used.

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "limber/math/frame.hpp"
#include "limber/model/forces.hpp"
#include "limber/model/handles.hpp"
#include "limber/model/laws.hpp"
#include "limber/model/number.hpp"
#include "limber/model/table.hpp"

namespace limber {

/// How a frame is turned.
struct Orientation {
    enum class Kind {
        none,
        angle,       ///< 1 number: about z
        axis_angle,  ///< 4 numbers: axis, angle
        xyz,         ///< 3 numbers: turns about the frame's own x, then y, then z
        quaternion,  ///< 4 numbers: w, x, y, z
        axes         ///< 3 numbers: direction of z; or 6: direction of z and approximate direction of x
    };
    Kind kind = Kind::none;
    std::vector<Number> values;
};

struct Placement {
    Number3 position;
    Orientation orientation;
};

/// One part of a body's mass and looks.
struct Solid {
    enum class Kind { rod, box, cylinder, sphere, disc, point, general };
    Kind kind = Kind::general;
    /// rod: radius; box: three sides; cylinder: radius, length; sphere: radius; disc: radius, thickness.
    std::vector<Number> size;
    std::optional<Number> mass, density;
    /// rod only: masses lumped at the two ends, instead of mass or density.
    std::optional<std::array<Number, 2>> end_masses;
    /// general only: xx yy zz xy xz yz about the centre of mass, in body axes (planar: zz only counts).
    std::array<Number, 6> inertia;
    /// In the body frame. A rod runs from the placement's origin along x to `rod_length` of the body.
    Placement placement;
    bool visible = true;
    std::string color;
};

/// Triangles read from a file.
struct SurfaceMesh {
    std::vector<Vec3> vertices;
    std::vector<std::array<int, 3>> triangles;  ///< counterclockwise seen from outside
};

/// A shape by which a body touches others.
struct ContactShape {
    enum class Kind { plane, sphere, box, capsule, cylinder, cone, convex, mesh, height_field, profile };
    Kind kind = Kind::sphere;
    /// sphere: radius; box: three sides; capsule, cylinder, cone: radius, length; height_field: size along x and y.
    std::vector<Number> size;
    std::vector<Number3> points;                 ///< convex (plane: the corners of a polygon), profile
    std::vector<Number> heights;                 ///< height_field: row by row along x
    Number width;                                ///< profile in space: along its z
    int columns = 0;                             ///< height_field: heights in a row
    std::string file;                            ///< convex, mesh: STL or OBJ
    std::shared_ptr<const SurfaceMesh> surface;  ///< what was read from it
    Placement placement;                         ///< in the body frame
};

struct Body {
    static constexpr const char* kind = "body";
    std::string name;
    /// Pose at the reference configuration. For a rod given by its ends: see `ends`.
    Placement placement;
    /// A rod's two ends in world axes; they fix the frame (origin at the first end, x towards the second).
    std::optional<std::array<Number3, 2>> ends;
    std::vector<Solid> solids;
    /// What touches other bodies; if absent, the solids.
    std::optional<std::vector<ContactShape>> shapes;
    /// By which contact rules may name it.
    std::vector<std::string> groups;
    /// Velocity of the body's origin and angular velocity, world axes.
    Number3 velocity, angular_velocity;
};

struct Marker {
    static constexpr const char* kind = "marker";
    enum class Kind {
        body,  ///< placement in the body's frame
        world,  ///< placement in world axes at the reference configuration; at the point of marker `base` if there is one
        centre_of_mass,
        rod_start,
        rod_end,
        turned  ///< at the point of marker `base`, turned as the placement says in world axes
    };
    std::string name;  ///< "body.marker", unique in the model
    BodyHandle body;
    Kind place = Kind::body;
    Placement placement;
    MarkerHandle base;
    bool is_joints_own = false;  ///< made for a joint where its bodies were; goes with the joint
};

enum class JointType {
    fixed,
    revolute,
    prismatic,
    cylindrical,
    spherical,
    universal,
    planar,
    helical,
    point_on_line,
    point_on_plane,
    distance,
    parallel_axes,
    perpendicular_axes,
    constant_velocity,
    gear,
    rack_and_pinion,
    coupling,
    point_on_curve,
    rolling_disc,
    skate,
    velocity
};

/// A scalar that a joint or a sensor measures, by name: "crank.angle", "tip.x".
struct ScalarTerm {
    std::string scalar;
    Number coefficient;  ///< for velocity constraints an expression of t and of other scalars
};

struct CurveDefinition {
    static constexpr const char* kind = "curve";
    std::string name;
    std::vector<Number3> points;
    bool closed = false;
};

struct Joint {
    static constexpr const char* kind = "joint";
    std::string name;
    JointType type = JointType::fixed;
    MarkerHandle a, b;             ///< on the first and on the second body
    std::optional<Number> length;  ///< distance: if absent, the distance at the reference configuration
    Number pitch;                  ///< helical: advance per turn
    Number radius;                 ///< rack_and_pinion, rolling_disc
    Number ratio;                  ///< gear: second coordinate / first coordinate
    Number pressure_angle;         ///< gear, rack_and_pinion: of the tooth force against the common tangent
    std::optional<Number3>
        mesh;  ///< gear, rack_and_pinion: where the teeth meet, world axes at the reference configuration
    std::vector<ScalarTerm> terms;  ///< gear, rack_and_pinion, coupling, velocity
    std::optional<Number> offset;   ///< right-hand side; if absent, what holds at the reference configuration
    Handle<CurveDefinition> curve;  ///< point_on_curve, in the frame of marker a
    std::optional<bool> is_cut;     ///< relative coordinates: close a loop with this joint, or never
    bool is_disabled = false;       ///< there, but without effect
    /// If not empty, the joint does not hold yet: its equations, apart by a gap and a rate at the time `since`, are led to zero as a
    /// critically damped oscillator of the given frequency [rad/s] would go. Since, frequency, then gap and rate of each equation.
    std::vector<Number> closing;
};

/// A component of a marker's position along an axis of another marker (ground's origin if null).
struct MarkerComponent {
    MarkerHandle marker, reference;
    int axis = 0;
};

struct Driver {
    static constexpr const char* kind = "driver";
    std::string name;
    std::variant<std::string, MarkerComponent> target;  ///< a joint coordinate by name, or a component
    TimeLaw law;
};

/// The height of a road over the world's x axis: a sum of pieces.
struct RoadPiece {
    enum class Kind { bump, ramp, stairs, table, height, random };
    Kind kind = Kind::height;
    std::map<std::string, Number> numbers;  ///< by key of the model file
    std::optional<TableDefinition> table;
    Number height;  ///< of x
};
struct RoadDefinition {
    static constexpr const char* kind = "road";
    std::string name;
    std::vector<RoadPiece> pieces;
};

enum class StopType { limit, wall, stop, cable, clearance, slot };

/// A one-sided constraint: what it measures, the gap, never becomes negative.
struct Stop {
    static constexpr const char* kind = "stop";
    std::string name;
    StopType type = StopType::limit;
    MarkerHandle a, b;                       ///< all but limit
    std::string scalar;                      ///< limit: the joint coordinate or sensor
    std::optional<Number> minimum, maximum;  ///< limit
    std::optional<Number> length;  ///< stop, cable: the distance, if absent that at the reference configuration
    Number radius;                 ///< wall, stop: of a ball around the second marker; clearance: of the pin
    bool has_rim = false;          ///< wall: a disc about z of the second marker in place of the ball
    Number gap;                    ///< clearance, slot: play to each side
    Number restitution;            ///< 0: plastic, 1: elastic
    Number friction;               ///< all but cable: kinetic coefficient
    std::optional<Number> static_friction;  ///< if absent, the kinetic one
    std::string along;                      ///< limit: the coordinate that friction acts against
    std::optional<Number> latch;            ///< closes for good when reached slower than this
};

/// One of the two sides of a contact rule: bodies, and all bodies of some groups.
struct ContactSide {
    std::vector<BodyHandle> bodies;
    std::vector<std::string> groups;

    bool is_all() const { return bodies.empty() && groups.empty(); }
};

/// What happens where bodies touch. Of several rules for two bodies the last one counts.
struct ContactRule {
    static constexpr const char* kind = "contact";
    enum class Law { rigid, linear, hertz, hunt_crossley, exact_restitution, none };
    std::string name;
    Law law = Law::rigid;
    ContactSide first, second;              ///< that touch each other; empty: all bodies
    std::map<std::string, Number> numbers;  ///< friction, restitution, ... by key of the model file
    bool includes_joined = false;           ///< also bodies that a joint connects
};

struct Sensor {
    static constexpr const char* kind = "sensor";
    enum class Quantity {
        position,
        velocity,
        acceleration,
        angular_velocity,
        angular_acceleration,
        coordinate,
        rate,
        second_rate,
        reaction,
        force,
        kinetic_energy,
        potential_energy,
        work,
        total_energy,
        position_error,
        velocity_error,
        acceleration_error,
        contact,
        relative_error,
        complementarity_error,
        gap,
        contact_force,
        impulse,
        impact_loss,
        expression
    };
    std::string name;
    Quantity quantity = Quantity::position;
    MarkerHandle marker;
    MarkerHandle reference;  ///< measured relative to it and in its axes; ground's origin if null
    std::string scalar;      ///< coordinate, rate, second_rate
    JointHandle joint;       ///< reaction
    std::string driver;      ///< reaction of a driver
    ForceHandle force;
    StopHandle stop;  ///< gap, contact_force, impulse
    Handle<ContactRule> contact;
    bool in_marker_axes = false;  ///< reaction: axes of the joint's first marker instead of world axes
    MarkerHandle axes;            ///< of a vector's components, if they are not those of `reference` or of the world
    Number expression;
};

/// Edits that the running mechanism makes to itself when a condition passes through zero.
struct EventRule {
    static constexpr const char* kind = "event";
    enum class Direction { rises, falls, crosses };
    std::string name;
    Direction direction = Direction::rises;
    Number condition;                ///< of sensors, joint coordinates and their rates, and t
    std::vector<std::string> edits;  ///< in the words of io/edit_text.hpp
    bool once = false;
};

struct InitialValue {
    std::string scalar;
    Number value;
};

/// Bodies that are to be a component of their own, with what differs from the whole.
struct ComponentGroup {
    std::string name;
    std::vector<std::string> bodies;  ///< names; a `*` at the end stands for any rest
    std::string formulation, integrator, coordinates;
    std::optional<Number> step;
};

/// A number that belongs to the joint of that name.
struct JointNumber {
    std::string joint;
    Number value;
};

/// How components are held together; words as on the command line.
struct ModularDefaults {
    std::string division, gluing, coupling, course;
    std::optional<Number> tolerance, rho;
    std::vector<JointNumber> joint_rho;  ///< where `rho` of single joints differs
    std::optional<bool> use_iteration;
};

/// What `limber run` uses unless told otherwise.
struct SimulationDefaults {
    std::optional<Number> until, step, every;
    std::string formulation, integrator, coordinates;
    std::string impacts;  ///< word of the option of that name
    bool from_equilibrium = false;
    ModularDefaults modular;
    std::vector<ComponentGroup> components;
};

struct Model {
    Model();

    std::string title;
    bool planar = false;
    Number3 gravity;
    Parameters parameters;
    Table<TableDefinition> tables;
    Table<CurveDefinition> curves;
    Table<RoadDefinition> roads;
    Table<Body> bodies;  ///< the first is the ground
    Table<Marker> markers;
    Table<Joint> joints;
    Table<Driver> drivers;
    Table<Stop> stops;
    Table<Force> forces;
    Table<ContactRule> contacts;
    Table<Sensor> sensors;
    Table<EventRule> events;
    std::vector<InitialValue> initial_positions, initial_rates;
    SimulationDefaults simulation;

    BodyHandle ground() const;
    ForceHandle add(Force force) { return forces.add(std::move(force)); }
    /// Adds a body with its markers "name.origin", "name.com" (and "name.from", "name.to" of a rod).
    BodyHandle add_body(Body body);
    MarkerHandle add_marker(BodyHandle body, const std::string& name, Placement placement = {},
                            Marker::Kind place = Marker::Kind::body);
    /// "body.marker", or "body" for its origin. Throws ModelError with a suggestion.
    MarkerHandle marker(const std::string& name) const;
};

}  // namespace limber
