#pragma once
// The one place where elements (rows and forces over features) meet a set of coordinates. Internal to the room.
//
// Everything a set of coordinates must offer is what this template calls: columns of features, values and rates of
// features, pull_back (J^T g), Jacobians, mass, weight, and import/export of body states.

#include "limber/dynamics/system/system.hpp"

namespace limber {

/// Columns met by a group of features and, for each feature, where its columns are among them.
struct ColumnUnion {
    std::vector<int> columns;     ///< sorted
    std::vector<int> slot_start;  ///< per slot, into map
    std::vector<int> map;         ///< column k of the slot's feature is columns[map[slot_start[slot] + k]]
};

template <class Set>
class SystemOf final : public MechanismSystem<Set::D> {
public:
    static constexpr int D = Set::D;

    explicit SystemOf(const std::shared_ptr<const Mechanism<D>>& mechanism) : SystemOf(mechanism, Set(*mechanism)) {}
    /// In the coordinates of `like`, whose mechanism has the same bodies, joints and features but may have other
    /// inertia.
    SystemOf(const std::shared_ptr<const Mechanism<D>>& mechanism, const SystemOf& like)
        : SystemOf(mechanism, Set(*mechanism, like.set_)) {}

    const char* coordinates_name() const override;
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
    void export_states_of(std::span<const int> bodies, const VecX& q, const VecX& v,
                          BodyStates<D>& states) const override;
    void export_twist_rates_of(std::span<const int> bodies, const VecX& q, const VecX& v, const VecX& a,
                               std::vector<TwistVec<D>>& rates) const override;

private:
    struct Scratch;  // the evaluation with features, row gradients, slot forces

    SystemOf(std::shared_ptr<const Mechanism<D>> mechanism, Set set);
    void gather_rows();
    ColumnUnion unite(const int* features, int count) const;
    void build_patterns();
    void find_constant_hessians();
    void compute_row_inertia();
    MeasureContext<D> context(const Evaluation& e) const;
    void add_row_hessian(Scratch& s, int row, double weight, std::vector<double>& values) const;
    void add_force_tangent(Scratch& s, int element, double damping_weight, double stiffness_weight,
                           std::vector<double>& values) const;
    void add_inertia_tangent(const Evaluation& e, double damping_weight, double stiffness_weight, const VecX& a,
                             std::vector<double>& values) const;

    Set set_;
    int normalisation_rows_ = 0;  // rows [0, normalisation_rows_) are the set's Euler-parameter norms
    ConstraintSet<D> rows_;       // all others, in the order of system rows
    std::vector<int> active_features_, memory_features_;
    std::vector<int> slot_map_start_, slot_map_;  // slot -> place of its feature's columns in the row
    // Rows with constant second derivatives: (place, value) lists; others have an empty list and need_hessian_ set.
    std::vector<int> hessian_start_, hessian_place_;
    std::vector<double> hessian_value_;
    std::vector<bool> has_varying_hessian_;
    std::vector<double> constant_mass_;
    std::vector<int> mass_places_;
    std::vector<ColumnUnion> force_columns_;
    std::vector<std::vector<int>> force_places_;  // columns x columns
    VecX constant_weight_;
    bool has_constant_gravity_ = true;
};

}  // namespace limber
