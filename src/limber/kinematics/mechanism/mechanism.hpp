#pragma once
// A model turned into numbers and indices, still free of coordinates: bodies, features, constraint rows, forces.
//
// Every set of coordinates and every body-level computation (assembly, reactions, sensors) works on one Mechanism.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "limber/geometry/shape.hpp"
#include "limber/kinematics/elements/constraint_set.hpp"
#include "limber/kinematics/forces/contact_law.hpp"
#include "limber/kinematics/forces/force_set.hpp"
#include "limber/model/model.hpp"

namespace limber {

/// Angular quantities: one number in the plane, three in space.
template <int D>
inline constexpr int angular_size = D == 2 ? 1 : 3;
template <int D>
using AngularVec = Vec<angular_size<D>>;
template <int D>
using AngularMat = Mat<angular_size<D>>;

/// Pose and velocity of a body: its centre of mass and its axes.
template <int D>
struct BodyState {
    Vec<D> position = Vec<D>::Zero();
    Mat<D> axes = Mat<D>::Identity();
    Vec<D> velocity = Vec<D>::Zero();
    AngularVec<D> angular_velocity = AngularVec<D>::Zero();
};

template <int D>
struct MechanismBody {
    std::string name;
    BodyHandle handle;
    int node = -1;     ///< which piece of a flexible body; -1: the whole of a rigid one
    double along = 0;  ///< of a piece: where, as a part of the length
    /// Of the body in the model: "arm" of the piece "arm/3".
    std::string_view whole_name() const {
        return node < 0 ? std::string_view(name) : std::string_view(name).substr(0, name.rfind('/'));
    }
    double mass = 0;
    AngularMat<D> inertia = AngularMat<D>::Zero();  ///< about the centre of mass, body axes
    Vec<D> centre = Vec<D>::Zero();                 ///< of mass, in the body frame
    BodyState<D> reference;                         ///< as written in the model
    MarkerFeatures<D> frame;                        ///< features of the frame at the centre of mass, body axes
};

/// One step of the motion that a joint leaves free, from its first marker to its second: each acts in the axes that the
/// steps before have turned. A set of relative coordinates may describe the second body by them.
struct JointMotion {
    enum class Kind { turn, slide, screw, ball };
    Kind kind = Kind::turn;
    int axis = 0;                 ///< of the marker; turns in the plane need none
    double rise = 0, offset = 0;  ///< screw: advance per radian, and at angle zero
};

enum class ElementRole { joint, driver, stop, friction };
inline const char* element_role_name(ElementRole role) {
    switch (role) {
        case ElementRole::joint: return Joint::kind;
        case ElementRole::driver: return Driver::kind;
        case ElementRole::stop: return Stop::kind;
        case ElementRole::friction: return "friction";
    }
    return "";
}

/// A joint, driver or stop: the owner of some rows.
template <int D>
struct ConstraintElement {
    std::string name;
    ElementRole role = ElementRole::joint;
    /// Its name in Mechanism::element_index: "pin", "driver crank".
    std::string key() const {
        return role == ElementRole::joint ? name : std::string(element_role_name(role)) + " " + name;
    }
    int first_row = 0, row_count = 0;
    bool has_markers = false;
    MarkerFeatures<D> a, b;
    int body_a = -1, body_b = -1;
    std::optional<std::vector<JointMotion>> motions;  ///< equivalent to the rows, if there is such a form
    std::optional<bool> is_cut;                       ///< wish of the model: close a loop with this joint, or never
    int mesh = -1;  ///< gear or rack whose teeth meet at a known place: which of Mechanism::meshes
};

/// Two toothed wheels, or a wheel and a rack. Its row says what turns with what; the force that keeps it acts where the
/// teeth meet (body_space/gear_mesh.hpp). That place is fixed in the body that carries both, and follows from the axes
/// of their bearings.
struct GearMesh {
    int row = -1;
    bool has_rack = false;
    double ratio = 0;               ///< second coordinate over first one
    double tangent = 0;             ///< of the pressure angle
    std::array<int, 2> bearing{};   ///< the joints, as elements
    std::array<int, 2> wheel{};     ///< the bodies that mesh; -1: ground
    std::array<double, 2> sense{};  ///< 1: the wheel is its joint's second body, -1: the first
    std::array<int, 2> point{};     ///< on the axis of each, features
    std::array<int, 2> axis{};      ///< of each (of a rack: along its way), features; not of turns in the plane
    int place = -1;                 ///< feature that says where along the pitch line; -1: beside the first point
};

/// A row whose value, the gap, never becomes negative: while it is closed the row's flag is on.
struct StopRow {
    int row = -1;
    int element = -1;  ///< the stop
    MemorySlot<ContactMemory> flag;
    MemorySlot<ImpulseMemory> impulse;  ///< of impacts
    int exact_gap = -1;                 ///< measure of a distance whose row is not linear in it; -1: the row itself
    double restitution = 0;
    double latch_speed = -1;  ///< closes for good when reached slower than this; negative: never

    bool is_closed(std::span<const double> memory) const { return flag.in(memory) != ContactFlag::open; }
    bool is_latched(std::span<const double> memory) const { return flag.in(memory) == ContactFlag::latched; }
};

/// Dry friction along some velocity rows: while it sticks the rows are on, while it slips a force acts
/// (SlipForce). The force is the coefficient times a load: that of a contact, or of a joint.
struct FrictionElement {
    std::string name;
    int first_row = 0, row_count = 0;
    MemorySlot<StickMemory> stick;  ///< flag of the rows
    MemorySlot<SlipMemory> slip;    ///< the force
    MemorySlot<BristleMemory> bristles;
    double kinetic = 0, at_rest = 0;  ///< force, or torque, over load
    int contact = -1;                 ///< index into Mechanism::stops
    int joint = -1;                   ///< element whose reaction is the load
    double arm = 0;                   ///< moments of the reaction count as 2 M / arm; 0: not at all
    double preload = 0;               ///< added to the reaction
    int compliant = -1;               ///< force element whose law finds the force from the load; it has no rows
};

/// The part of a beam that one of its elements is.
struct BeamSpan {
    BodyHandle beam;
    int force = -1;             ///< in the list of forces
    double start = 0, end = 0;  ///< arc lengths
};

/// Where a marker on a flexible body is: on which piece, and where there, body axes.
template <int D>
struct PieceMarker {
    int body = -1;
    Vec<D> point = Vec<D>::Zero();
    Mat<D> axes = Mat<D>::Identity();
};

/// Two features that a joint makes equal: a set of coordinates may use one in place of the other.
struct SharedFeature {
    int a = -1, b = -1;
    int element = -1;  ///< the joint
};

/// A joint coordinate or another scalar known by name.
struct NamedScalar {
    std::string name;
    int measure = -1;
};

struct InitialMeasure {
    int measure = -1;
    double value = 0;
};

/// A shape fixed to a body. Planar shapes stand in space, centred about z = 0.
struct CollisionShape {
    int body = -1;  ///< -1: ground
    Frame place;    ///< from the centre of mass, in body axes; for the ground in the world
    std::shared_ptr<const Shape> shape;
};

/// Which bodies obey a law when they touch. Bodies are counted from 1; 0 is the ground.
struct ContactRuleNumbers {
    std::string name;
    std::optional<ContactLaw> law;  ///< empty: no contact
    std::vector<bool> is_first, is_second;
    bool includes_joined = false;
    MemorySlot<ImpulseMemory> impulse;  ///< of a rigid rule
};

template <int D>
struct Mechanism {
    std::vector<MechanismBody<D>> bodies;  ///< without the ground
    std::vector<Feature<D>> features;
    std::vector<int> used_features;  ///< by rows, forces and named scalars; the rest is for output
    FeatureState<D> reference;       ///< values at the reference configuration

    ConstraintSet<D> constraints;
    std::vector<ConstraintElement<D>> elements;
    std::vector<SharedFeature> shared;
    std::vector<GearMesh> meshes;
    std::vector<std::string> notes;  ///< what is legal but deserves a look

    std::vector<StopRow> stops;  ///< in the order of their rows
    std::vector<FrictionElement> friction;
    MemorySlot<ImpactLossMemory> impact_loss;            ///< of stops and rigid contacts
    MemorySlot<ContactResidualMemory> contact_residual;  ///< of rigid contacts
    MemorySlot<DriverWorkMemory> driver_work;            ///< where rigid bodies may touch

    ForceSet<D> forces;
    std::vector<BeamSpan> beam_spans;                               ///< beam by beam, from start to end
    std::unordered_map<std::string, PieceMarker<D>> piece_markers;  ///< by marker name; of flexible bodies
    std::array<TimeFunction, D> gravity;

    std::vector<CollisionShape> shapes;
    std::vector<ContactRuleNumbers> contact_rules;
    std::vector<std::pair<int, int>> joined_bodies;  ///< by joints; smaller index first, sorted

    std::vector<MeasuredCurve<D>> curves;
    std::vector<NamedScalar> scalars;
    MemoryLayout memory_layout;
    std::vector<double> initial_memory;
    std::vector<InitialMeasure> initial_positions, initial_rates;

    std::map<std::string, MarkerFeatures<D>> sensor_markers;  ///< by marker name
    /// By name; drivers as "driver name", stops as "stop name".
    std::unordered_map<std::string, int> force_index, element_index;

    double length_scale = 1;  ///< a typical size of the mechanism
    double mass_scale = 1;    ///< a typical mass

    template <class Kind>
    MemorySlot<Kind> add_memory(std::string owner) {
        return memory_layout.add<Kind>(std::move(owner), initial_memory);
    }
    /// The initial memory with all rows on, for what must not depend on which contacts are closed.
    std::vector<double> memory_with_all_rows() const;
    const Measure<D>& measure(int i) const { return constraints.measures[i]; }
    Vec<D> gravity_at(double t) const {
        Vec<D> g;
        for (int k = 0; k < D; ++k) g[k] = gravity[k].value(t);
        return g;
    }
    int find_scalar(const std::string& name) const;
    /// The rule for two bodies (-1: ground), -1 if they do not touch.
    int find_contact_rule(int a, int b) const;
    bool has_rigid_contacts() const;
    bool has_contact_bristles() const;
};

/// Brings turns and places on curves up to date; inputs stay as they are. `features` must be up to date.
template <int D>
void refresh_memory(const Mechanism<D>& mechanism, const FeatureState<D>& features, std::vector<double>& memory);

/// What separates a stop from contact; negative: violated.
template <int D>
double compute_gap(const Mechanism<D>& mechanism, const StopRow& gap, const MeasureContext<D>& context);

/// The memory with all contacts of stops open.
template <int D>
std::vector<double> with_open_contacts(const Mechanism<D>& mechanism, std::vector<double> memory);

/// Throws ModelError for everything that is wrong with the model.
template <int D>
Mechanism<D> make_mechanism(const Model& model);
/// One more joint of the model, between two markers whose bodies the mechanism has; the rest stays as it is.
template <int D>
Mechanism<D> with_joint(Mechanism<D> mechanism, const Model& model, const Joint& joint);

/// "crank.angle" of "crank.angle.rate"; other names as they are.
std::string without_rate(const std::string& name);
/// Names of the coordinates a joint has: {"angle"}, {"angle", "displacement"}, ...

}  // namespace limber
