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
#include <tuple>
#include <variant>
#include <vector>

#include "limber/math/frame.hpp"
#include "limber/model/beams.hpp"
#include "limber/model/drivers.hpp"
#include "limber/model/forces.hpp"
#include "limber/model/handles.hpp"
#include "limber/model/joints.hpp"
#include "limber/model/laws.hpp"
#include "limber/model/number.hpp"
#include "limber/model/roads.hpp"
#include "limber/model/sensors.hpp"
#include "limber/model/simulation_defaults.hpp"
#include "limber/model/stops.hpp"
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
    /// Flexible, in place of solids and ends.
    std::optional<Beam> beam{};
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
        body,   ///< placement in the body's frame
        world,  ///< placement in world axes at the reference configuration; at the point of marker `base` if there is
                ///< one
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

struct CurveDefinition {
    static constexpr const char* kind = "curve";
    std::string name;
    std::vector<Number3> points;
    bool closed = false;
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

    bool operator==(const InitialValue&) const = default;
};

/// Where a joint gets markers of its own, one on each body.
struct JointPlace {
    std::optional<Number3>
        at{};  ///< world axes at the reference configuration; none: where the markers are that the joint names
    MarkerHandle at_marker{};       ///< or where this one is
    std::optional<Number3> axis{};  ///< z of both markers (plane: x)
    std::optional<Number3> x{};     ///< x of both, where it matters; goes with `axis`, in space only
};

/// Where nothing else is said.
Number3 default_gravity(bool planar);

/// In space, with the earth's gravity against z.
struct Model {
    Model();
    /// In the xy plane, with the earth's gravity against y.
    static Model in_plane();

    std::string title;
    bool planar = false;
    Number3 gravity;
    /// [rad/s] Rate of the circular orbit whose frame is the world, in place of gravity: x away from the centre, y
    /// along the flight, z along the normal of the orbit.
    std::optional<Number> orbit;
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
    StartVelocities initial_velocities = StartVelocities::on_joints;
    SimulationDefaults simulation;

    BodyHandle ground() const;
    BodyHandle add(Body body) { return add_body(std::move(body)); }
    DriverHandle add(Driver driver) { return drivers.add(std::move(driver)); }
    ContactHandle add(ContactRule rule) { return contacts.add(std::move(rule)); }
    /// Of any type: model.add(Spring{...}), model.add(Revolute{...}), model.add(Position{...}).
    SensorHandle add(Sensor sensor) { return sensors.add(std::move(sensor)); }
    ForceHandle add(Force force) { return forces.add(std::move(force)); }
    StopHandle add(Stop stop) { return stops.add(std::move(stop)); }
    JointHandle add(Joint joint) { return joints.add(std::move(joint)); }
    /// The bodies are those of the markers that the joint names.
    JointHandle add(Joint joint, const JointPlace& place);
    /// Adds a body with its markers "name.origin", "name.com" (and "name.from", "name.to" of a rod).
    BodyHandle add_body(Body body);
    MarkerHandle add_marker(BodyHandle body, const std::string& name, Placement placement = {},
                            Marker::Kind place = Marker::Kind::body);
    /// One of the two markers that a joint gets of its own; not added yet.
    Marker make_joint_marker(MarkerHandle given, const std::string& joint, const JointPlace& place) const;
    /// "body.marker", or "body" for its origin. Throws ModelError with a suggestion.
    MarkerHandle marker(const std::string& name) const;

    /// All tables of elements.
    template <class Self>
    static auto tables_of(Self& self) {
        return std::tie(self.tables, self.curves, self.roads, self.bodies, self.markers, self.joints, self.drivers,
                        self.stops, self.forces, self.sensors, self.events, self.contacts);
    }
    template <class Element>
    const Table<Element>& table() const {
        return std::get<const Table<Element>&>(tables_of(*this));
    }
};

}  // namespace limber
