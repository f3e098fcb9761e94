#pragma once
// Builds a Mechanism from a Model. Internal to the room.

#include <fmt/format.h>

#include "limber/kinematics/mechanism/mechanism.hpp"
#include "limber/model/evaluation.hpp"

namespace limber {

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
    int feature(int body, bool is_point, const Vec<D>& local);
    const MarkerFeatures<D>& marker(MarkerHandle handle);
    int body_index(MarkerHandle handle) const;
    void find_used_features();
    void add_output_features();
    void set_scales();

    // measures
    int measure(MeasureKind kind, std::initializer_list<int> features, double length = 0);
    int angle(int a1, int a2, int b);
    int new_memory(int measure, double value);
    MeasureContext<D> reference_context() const;
    double reference_value(int measure) const;
    double reference_value(const std::vector<RowTerm>& terms) const;

    // joints, see joints.cpp
    void add_joint(const Joint& joint);
    void add_motions(const Joint& joint);
    void lead_together(const Joint& joint);
    ConstraintElement<D>& start_element(ElementRole role, const std::string& name, const Joint* joint = nullptr);
    void add_row(const std::vector<RowTerm>& terms, double rhs = 0, int law = -1);
    void share(int a, int b);
    void coincide();
    void parallel_axes();
    void align();
    void on_line();
    void add_distance(const Joint& joint);
    void add_helical(const Joint& joint);
    void add_coupling(const Joint& joint);

    // teeth, see gears.cpp
    void add_meshes();
    std::optional<GearMesh> find_mesh(const Joint& joint, std::string& why_not);
    int find_bearing(const std::string& coordinate, bool is_rack) const;
    std::vector<int> rigid_groups() const;
    void note_origins();

    void add_curve(const Joint& joint);
    void add_rolling(const Joint& joint);
    void add_skate();
    void add_user_velocity(const Joint& joint);
    void add_driver(const Driver& driver);
    TimeFunction time_function(const TimeLaw& law, const std::string& what) const;
    int component_measure(const MarkerComponent& component);

    // stops, see stops.cpp
    void add_stop(const Stop& stop);
    void add_gap(const Stop& stop, const std::vector<RowTerm>& terms, double rhs, int exact_gap = -1);

    /// What the stop says about friction, for its last gap; nothing if it has none.
    std::optional<FrictionElement> stop_friction(const Stop& stop, double lever);
    /// Of the last gap, along axes of the first marker.
    void add_sliding_friction(const Stop& stop, std::array<int, 2> axes, double radius, RowKind kind,
                              bool is_round = false);
    void add_limit_friction(const Stop& stop, int coordinate);

    // scalars, see scalars.cpp
    int scalar(const std::string& name, const std::string& what);
    int find_or_make_scalar(const std::string& name);
    int joint_coordinate(const Joint& joint, const std::string& coordinate);
    int sensor_scalar(const std::string& name);
    /// Like scalar(), and sensors of expressions that are sums of scalars.
    ScalarSum scalar_sum(const std::string& name, const std::string& what);
    ScalarSum expression_sum(const Sensor& sensor, const std::string& what);
    ScalarSum column_sum(const std::string& column, const std::string& what);
    std::vector<std::string> scalar_names() const;

    // contacts, see contacts.cpp
    void add_contacts();
    void add_shapes(BodyHandle handle, int index);
    void add_shape(const ContactShape& shape, const Frame& body, int index, const std::string& what);
    std::optional<ContactLaw> contact_law(const ContactRule& rule) const;
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
    /// Along a measure; `free_value`: what the law counts from.
    void add_scalar_force(const std::string& name, const ScalarLaw& law, int measure, double sign, double free_value);
    void add_stick_row(int coordinate, FrictionElement& friction, const std::string& what);
    void add_slip_force(int coordinate, FrictionElement friction, const FrictionLaw& law);
    FrictionLaw compliant_friction(const JointFriction& friction, double lever, const std::string& what) const;
    int new_slip_memory();
    std::shared_ptr<const RoadProfile> road(Handle<RoadDefinition> handle);
    std::vector<std::string> law_inputs(const std::string& name, const ScalarLaw& law, std::vector<LawInput>& inputs);
    std::vector<int> measure_features(int measure) const;

    const Model& model_;
    ModelEvaluation evaluation_;
    Mechanism<D> m_;
    std::vector<int> body_of_slot_;  // slot of a body in the model -> its index here; -1: ground
    std::unordered_map<std::uint32_t, MarkerFeatures<D>> markers_;  // by slot in the model, once they are needed
    std::map<std::string, int> scalar_by_name_;
    std::map<std::string, std::shared_ptr<const RoadProfile>> roads_;
    std::map<std::tuple<int, bool, std::array<double, D>>, int> feature_index_;
    ConstraintElement<D>* element_ = nullptr;  // under construction
    std::vector<std::string> making_;          // scalars under construction, to stop circular definitions
};

}  // namespace limber
