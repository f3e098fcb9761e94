#pragma once
// A mechanism in relative coordinates (see kinematics/relative). Masses, forces, Jacobians and tangents are gathered
// along the branches of the forest (Cuadrado and Dopico eqs. 3-19, written about centres of mass).
//
// Elements that act between bodies of one subtree and do not notice common motion of both (closures, springs) concern
// only the coordinates below the bodies' common ancestor.

#include "limber/dynamics/system/system.hpp"
#include "limber/kinematics/relative/relative_coordinates.hpp"

namespace limber {

/// Bodies that an element acts on and the coordinates it concerns.
struct TreeReach {
    int ancestor = -1;           ///< node above which the element is not felt; -1: the ground
    std::vector<int> columns;    ///< sorted
    std::vector<int> nodes;      ///< distinct nodes of its slots
    std::vector<int> slot_node;  ///< per slot: index into nodes, -1: ground
    /// Per node: columns met on the way up to the ancestor, as places among `columns`.
    std::vector<std::vector<int>> places;
};

template <int D>
class RelativeSystem final : public MechanismSystem<D> {
public:
    /// Without matrices: no mass matrix and no tangents, cost and memory grow linearly with the number of bodies.
    RelativeSystem(const std::shared_ptr<const Mechanism<D>>& mechanism, bool with_matrices);
    /// In the coordinates of `like`, whose mechanism has the same bodies and joints but may have other inertia.
    RelativeSystem(const std::shared_ptr<const Mechanism<D>>& mechanism, const RelativeSystem& like);

    const RelativeCoordinates<D>& coordinates() const { return coordinates_; }
    static const RelativeMotion<D>& motion(const Evaluation& e);

    /// Forces along the coordinates that accelerations a need beside the applied ones, M a - Q, by Newton and Euler for
    /// every body and one sweep towards the roots: linear in the number of bodies. Needs forces.
    void compute_inverse_dynamics(Evaluation& e, const VecX& a, VecX& forces) const;

    /// Canonical momenta p = M v of the coordinates. Needs velocities.
    void compute_momenta(Evaluation& e, VecX& momenta) const;
    /// Their rates without constraint forces: applied forces, and what the motion of the columns makes of the momenta
    /// of the bodies. No acceleration is computed. Needs velocities.
    void compute_momentum_rates(Evaluation& e, VecX& rates) const;

    const char* coordinates_name() const override { return "relative"; }
    std::unique_ptr<Evaluation> make_evaluation() const override;
    void update_positions(Evaluation& e, double t, const VecX& q, std::span<const double> memory) const override;
    void update_residuals(Evaluation& e, double t, const VecX& q, std::span<const double> memory) const override;
    void update_velocities(Evaluation& e, const VecX& v) const override;
    void update_forces(Evaluation& e) const override;
    void assemble_tangent(Evaluation& e, double mass_weight, double damping_weight, double stiffness_weight,
                          const VecX& row_force, const VecX& a, std::vector<double>& values) const override;
    void assemble_approximate_tangent(Evaluation& e, double mass_weight, double damping_weight, double stiffness_weight,
                                      std::vector<double>& values) const override;
    int prediction_size() const override { return this->mechanism_->forces.prediction_size(); }
    void predict(Evaluation& e, const VecX& change, double* prediction) const override;
    void update_memory(Evaluation& e, const VecX& q, std::vector<double>& memory) const override;
    void export_states(const VecX& q, const VecX& v, BodyStates<D>& states) const override;
    void export_twist_rates(const VecX& q, const VecX& v, const VecX& a,
                            std::vector<TwistVec<D>>& rates) const override;
    void import_states(const BodyStates<D>& states, VecX& q, VecX& v) const override;
    void import_twist_rates(const BodyStates<D>& states, const std::vector<TwistVec<D>>& rates, const VecX& q,
                            const VecX& v, VecX& a) const override;

private:
    static constexpr int A = angular_size<D>;
    static constexpr int T = twist_size<D>;
    struct Scratch;

    RelativeSystem(const std::shared_ptr<const Mechanism<D>>& mechanism, RelativeTree<D> tree, bool with_matrices);
    void gather_rows();
    bool is_felt_by_common_motion(const Row& row) const;
    TreeReach reach_of(const int* features, int count, bool is_internal) const;
    void build_patterns();
    void find_spin_inertia();
    void compute_row_inertia();

    MeasureContext<D> context(const Scratch& s) const;
    void apply_loads(Scratch& s) const;
    void add_wrenches(Scratch& s, VecX& forces) const;
    void set_body_momenta(Scratch& s) const;
    void update_features(Scratch& s, const std::vector<int>& list) const;
    void accumulate_inertia(Scratch& s) const;
    void assemble_mass(Scratch& s) const;
    void add_ball_tangent(const Scratch& s, double stiffness_weight, std::vector<double>& values) const;
    void accumulate_loads(Scratch& s, const VecX& row_force) const;
    void accumulate_momenta(Scratch& s) const;
    void add_tree_tangent(Scratch& s, double mass_weight, double damping_weight, double stiffness_weight,
                          std::vector<double>& values) const;
    void add_internal_geometric(const Scratch& s, const TreeReach& reach, const int* features, const Vec<D>* gradients,
                                double weight, const std::vector<int>& place, std::vector<double>& values) const;
    void add_row_tangent(Scratch& s, int row, double weight, std::vector<double>& values) const;
    void add_force_tangent(Scratch& s, int element, double damping_weight, double stiffness_weight,
                           std::vector<double>& values) const;
    /// Columns of the Jacobian of a feature (and of its rate) on the way up from its body.
    void compute_jacobian(const Scratch& s, int feature, const TreeReach& reach, int index, MatX& j,
                          MatX* j_rate) const;

    RelativeCoordinates<D> coordinates_;
    bool with_matrices_;
    int balls_ = 0;  // rows [0, balls_) keep the lengths of Euler parameters
    std::vector<double> spin_inertia_;
    ConstraintSet<D> rows_;  // all others, in the order of system rows
    std::vector<int> active_features_, memory_features_;
    std::vector<TreeReach> row_reach_, force_reach_;
    std::vector<int> mass_place_;                            // in the order in which assemble_mass meets the entries
    std::vector<std::vector<int>> row_place_, force_place_;  // columns x columns of each reach
};

}  // namespace limber
