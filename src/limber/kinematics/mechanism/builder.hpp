#pragma once
// Builds a Mechanism from a Model. Internal to the room.

#include <fmt/format.h>

#include "limber/kinematics/forces/road.hpp"
#include "limber/kinematics/forces/scalar_force.hpp"
#include "limber/kinematics/forces/vector_force.hpp"
#include "limber/kinematics/mechanism/mechanism.hpp"
#include "limber/model/evaluation.hpp"

namespace limber {

struct SectionNumbers;
template <int D>
struct BeamForce;

/// constant + sum of coefficient * measure.
struct ScalarSum {
    std::vector<RowTerm> terms;
    double constant = 0;
};

template <int D>
class MechanismBuilder {
public:
    explicit MechanismBuilder(const Model& model);
    /// Goes on with a mechanism that has some bodies of the model.
    MechanismBuilder(const Model& model, Mechanism<D> made);
    Mechanism<D> build();
    Mechanism<D> build_with(const Joint& joint);

private:
    // bodies and features
    void add_bodies();
    // beams, see beams.cpp
    struct BeamNodes {
        int first_body = 0;
        std::vector<double> nodes;   ///< arc lengths; before the beam is made: those that markers ask for
        std::vector<double> limits;  ///< between rigid segments
        std::vector<double> length;  ///< of beam that each node stands for
    };
    void find_beam_markers();
    void add_beam(BodyHandle handle);
    int add_beam_body(BodyHandle handle, double s, double mass, const Vec3& inertia);
    void add_elements(BodyHandle handle, const SectionNumbers& section, const std::vector<double>& ends, int order,
                      BeamNodes& nodes);
    void add_segments(BodyHandle handle, const SectionNumbers& section, const std::vector<double>& ends,
                      BeamNodes& nodes);
    void add_beam_force(BodyHandle beam, std::shared_ptr<BeamForce<D>> force, const std::vector<int>& slots,
                        double start, double end);
    int find_beam_body(std::uint32_t slot, double s) const;
    void place_beam_markers();
    MarkerFeatures<D> beam_marker(MarkerHandle handle);
    int feature(int body, bool is_point, const Vec<D>& local);
    const MarkerFeatures<D>& marker(MarkerHandle handle);
    int body_index(MarkerHandle handle) const;
    void find_used_features();
    void add_output_features();
    void set_scales();

    // measures
    int measure(MeasureKind kind, std::initializer_list<int> features, double length = 0);
    int angle(const std::string& name, int a1, int a2, int b);
    /// Lets a measure remember; it keeps that up to date.
    template <std::derived_from<MeasureMemory> Kind>
    void set_memory(int measure, const std::string& owner, double value) {
        const MemorySlot<Kind> slot = m_.template add_memory<Kind>(owner);
        slot.in(m_.initial_memory) = value;
        m_.memory_layout.blocks.back().measure = measure;
        m_.constraints.measures[measure].memory = slot;
    }
    MeasureContext<D> reference_context() const;
    double reference_value(int measure) const;
    double reference_value(const std::vector<RowTerm>& terms) const;

    // joints, see joints.cpp
    void add_joint(const Joint& joint);
    void add_motions(const Joint& joint);
    void add_closing_laws(const Joint& joint);
    ConstraintElement<D>& start_element(ElementRole role, const std::string& name, const MarkerPair* between = nullptr);
    void add_row(const std::vector<RowTerm>& terms, double rhs = 0, int law = -1);
    void share(int a, int b);
    void coincide();
    void parallel_axes();
    void align();
    void on_line();
    void on_plane();
    void add_rows(const std::string& name, const Fixed& joint);
    void add_rows(const std::string& name, const Revolute& joint);
    void add_rows(const std::string& name, const Prismatic& joint);
    void add_rows(const std::string& name, const Cylindrical& joint);
    void add_rows(const std::string& name, const Spherical& joint);
    void add_rows(const std::string& name, const Universal& joint);
    void add_rows(const std::string& name, const PlanarJoint& joint);
    void add_rows(const std::string& name, const Helical& joint);
    void add_rows(const std::string& name, const PointOnLine& joint);
    void add_rows(const std::string& name, const PointOnPlane& joint);
    void add_rows(const std::string& name, const DistanceJoint& joint);
    void add_rows(const std::string& name, const ParallelAxes& joint);
    void add_rows(const std::string& name, const PerpendicularAxes& joint);
    void add_rows(const std::string& name, const ConstantVelocity& joint);
    void add_rows(const std::string& name, const Gear& joint);
    void add_rows(const std::string& name, const RackAndPinion& joint);
    void add_rows(const std::string& name, const CoordinateCoupling& joint);
    void add_rows(const std::string& name, const PointOnCurve& joint);
    void add_rows(const std::string& name, const RollingDisc& joint);
    void add_rows(const std::string& name, const Skate& joint);
    void add_rows(const std::string& name, const VelocityJoint& joint);
    void add_rows(const std::string& name, const CustomJoint& joint);
    /// sum of coefficient * coordinate = offset, or what it is at the reference configuration
    void add_sum(const std::string& name, const std::vector<std::pair<double, std::string>>& sum,
                 const std::optional<Number>& offset);

    // teeth, see gears.cpp
    void add_meshes();
    std::optional<GearMesh> find_mesh(const Joint& joint, std::string& why_not);
    int find_bearing(const std::string& coordinate, bool is_rack) const;
    std::vector<int> rigid_groups() const;
    void note_origins();

    void add_driver(const Driver& driver);
    TimeFunction time_function(const TimeLaw& law, const std::string& what) const;
    /// A component of a marker's position along an axis of another marker (ground's origin if null).
    int component_measure(MarkerHandle marker, MarkerHandle reference, int axis);

    // stops, see stops.cpp
    void add_stop(const Stop& stop);
    void add_gaps(const std::string& name, const Limit& limit);
    void add_gaps(const std::string& name, const Wall& wall);
    void add_gaps(const std::string& name, const KeepApart& stop);
    void add_gaps(const std::string& name, const Cable& cable);
    void add_gaps(const std::string& name, const Clearance& clearance);
    void add_gaps(const std::string& name, const Slot& slot);
    void add_gap(const std::string& name, const StopImpact& impact, const std::vector<RowTerm>& terms, double rhs,
                 int exact_gap = -1);
    /// sign 1: the two points are at least `length` apart; -1: at most.
    void add_distance_gap(const std::string& name, const StopImpact& impact, double length, double sign);
    double positive_number(const std::string& stop, const Number& number, const char* key) const;
    double stop_length(const std::string& name, const std::optional<Number>& length) const;

    /// What the stop says about friction, for its last gap; nothing if it has none.
    std::optional<FrictionElement> stop_friction(const std::string& name, const StopFriction& friction, double lever);
    /// Of the last gap, along axes of the first marker.
    void add_sliding_friction(const std::string& name, const StopFriction& friction, std::array<int, 2> axes,
                              double radius, RowKind kind, bool is_round = false);
    void add_limit_friction(const std::string& name, const Limit& limit, int coordinate);

    // scalars, see scalars.cpp
    int scalar(const std::string& name, const std::string& what);
    int find_or_make_scalar(const std::string& name);
    int joint_coordinate(const Joint& joint, const std::string& coordinate);
    int sensor_scalar(const std::string& name);
    /// A scalar, "crank.angle", or a rate, "crank.angle.rate" or a sensor of one; its measure is -1 if there is none.
    LawInput law_input(const std::string& name);
    /// Like scalar(), and sensors of expressions that are sums of scalars.
    ScalarSum scalar_sum(const std::string& name, const std::string& what);
    ScalarSum expression_sum(const std::string& sensor, const Number& expression, const std::string& what);
    ScalarSum column_sum(const std::string& column, const std::string& what);
    std::vector<std::string> scalar_names() const;

    // contacts, see contacts.cpp
    void add_contacts();
    void add_shapes(BodyHandle handle, int index);
    void add_shape(const ContactShape& shape, const Frame& body, int index, const std::string& what);
    /// Whether the ground and each body belong to a side of a rule.
    std::vector<bool> members(const ContactSide& side, const std::string& rule) const;
    void refuse_surfaces_that_meet() const;
    void add_compliant_contacts();

    // forces, see forces.cpp
    void add_force(const Force& force);
    void add_force(const std::string& name, const Spring& spring);
    void add_force(const std::string& name, const TorsionSpring& spring);
    void add_force(const std::string& name, const Motor& motor);
    void add_force(const std::string& name, const Servo& servo);
    void add_force(const std::string& name, const PointForce& force);
    void add_force(const std::string& name, const Torque& torque);
    void add_force(const std::string& name, const Bushing& bushing);
    void add_force(const std::string& name, const Drag& drag);
    void add_force(const std::string& name, const Pull& pull);
    void add_force(const std::string& name, const Tyre& tyre);
    void add_force(const std::string& name, const JointFriction& friction);
    void add_force(const std::string& name, const LineLoad& load);
    void add_force(const std::string& name, const CustomForce& force);
    /// Along a measure; `free_value`: what the law counts from.
    void add_scalar_force(const std::string& name, const ScalarLaw& law, int measure, double sign, double free_value);
    void add_stick_row(int coordinate, FrictionElement& friction, const std::string& what);
    void add_slip_force(int coordinate, FrictionElement friction, const FrictionLaw& law);
    FrictionLaw compliant_friction(const JointFriction& friction, double lever, const std::string& what) const;
    void add_friction_memory(FrictionElement& friction);
    std::shared_ptr<const RoadProfile> road(Handle<RoadDefinition> handle);
    std::vector<std::string> law_inputs(const std::string& name, const ScalarLaw& law, std::vector<LawInput>& inputs);
    std::vector<int> measure_features(int measure) const;
    // see vector_forces.cpp
    int world_component(int point, int axis);
    /// Adds the features of what it depends on to the slots of its force. `point`: whose place it may name.
    MotionVector<D> motion_vector(const Number3& components, int point, std::vector<int>& slots,
                                  const std::string& what);
    void add_gravity();
    void add_orbit(double rate);

    const Model& model_;
    ModelEvaluation evaluation_;
    Mechanism<D> m_;
    std::map<std::uint32_t, BeamNodes> beams_;  // by slot of the body in the model
    std::vector<int> body_of_slot_;             // slot of a body in the model -> its index here; -1: ground
    std::unordered_map<std::uint32_t, MarkerFeatures<D>> markers_;  // by slot in the model, once they are needed
    std::map<std::string, int> scalar_by_name_;
    std::map<std::string, std::shared_ptr<const RoadProfile>> roads_;
    std::map<std::tuple<int, bool, std::array<double, D>>, int> feature_index_;
    ConstraintElement<D>* element_ = nullptr;  // under construction
    std::vector<std::string> making_;          // scalars under construction, to stop circular definitions
};

}  // namespace limber
