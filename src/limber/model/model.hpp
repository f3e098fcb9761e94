#pragma once
// The description of a mechanism: plain data, no coordinates, no matrices, no time step.
//
// Frames: every body has a body frame; markers are frames fixed to bodies; joints, forces and sensors refer to
// markers only. A marker's place is given in its body's frame, or in world axes at the reference configuration (the
// poses written in the model, before assembly). In a planar model all points lie in the plane z = 0, every marker's
// z axis is the plane's normal, and only x, y and the angle about z are used.

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "limber/model/beams.hpp"
#include "limber/model/contacts.hpp"
#include "limber/model/drivers.hpp"
#include "limber/model/events.hpp"
#include "limber/model/forces.hpp"
#include "limber/model/handles.hpp"
#include "limber/model/joints.hpp"
#include "limber/model/laws.hpp"
#include "limber/model/number.hpp"
#include "limber/model/placement.hpp"
#include "limber/model/roads.hpp"
#include "limber/model/sensors.hpp"
#include "limber/model/shapes.hpp"
#include "limber/model/simulation_defaults.hpp"
#include "limber/model/solids.hpp"
#include "limber/model/stops.hpp"
#include "limber/model/table.hpp"

namespace limber {

/// By which contact rules may name a body.
struct GroupNames {
    std::vector<std::string> names{};

    bool contains(const std::string& name) const { return std::find(names.begin(), names.end(), name) != names.end(); }
};

struct Body {
    static constexpr const char* kind = "body";
    std::string name{};
    std::vector<Solid> solids{};
    std::optional<Beam> beam{};  ///< flexible, in place of solids
    GivenMass given_mass{};
    Placement placement{};                              ///< at the reference configuration; not of rods and beams
    std::optional<std::vector<ContactShape>> shapes{};  ///< none: the solids
    GroupNames groups{};
    Number3 velocity{};                ///< [m/s] of the body's origin
    AngularVector angular_velocity{};  ///< [rad/s] world axes

    /// The one that fixes the body's frame, if there is any.
    const RodSolid* rod() const {
        for (const Solid& solid : solids)
            if (const auto* found = std::get_if<RodSolid>(&solid)) return found;
        return nullptr;
    }

    static void visit(auto& self, auto& visitor) {
        visitor.solids(self.solids);
        visitor.field(self.beam, {"beam", "flexible, in place of solids: a line with a section and a material"});
        GivenMass::visit(self.given_mass, visitor);
        visitor.placement(self.placement);
        visitor.field(self.shapes, {"shapes", "a list of shapes that touch other bodies (default: the solids)"});
        visitor.field(self.groups, {"group", "a name, or a list of names, by which contact rules may speak of it"});
        visitor.field(self.velocity, {"velocity", "of the body's origin at the start"});
        visitor.field(self.angular_velocity, {"angular-velocity", "at the start, world axes (plane: one number)"});
    }
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
    std::string name{};
    std::vector<Number3> points{};
    bool closed = false;

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.points, {"points", "list of points", true});
        visitor.field(self.closed, {"closed", "whether the last point joins the first (default no)"});
    }
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
