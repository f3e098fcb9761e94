#pragma once
// A compiled mechanism: coordinates, constraint rows, forces and sparsity patterns, ready for formulations.
//
//   M(q) a + J^T lambda = Q(q, v, t)          (velocity-dependent inertia forces are in Q)
//   Phi(q, t) = 0                              holonomic rows, the first holonomic_rows()
//   J v + time_partial = 0                     all rows; for velocity rows this is the constraint itself
//   J a + bias = 0
//
// A System never changes; any number of threads may share it. Everything computed goes into an Evaluation.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "limber/dynamics/system/state.hpp"
#include "limber/kinematics/body_space/twist.hpp"
#include "limber/math/sparse.hpp"

namespace limber {

/// Results of evaluating a system at one configuration. Scratch memory: one per thread.
struct Evaluation {
    virtual ~Evaluation() = default;

    double t = 0;
    const VecX* q = nullptr;
    const VecX* v = nullptr;
    std::span<const double> memory;
    std::span<const double> prediction;  ///< of stresses, for the next tangent (System::predict); empty: none

    VecX phi;           ///< residual of each row: Phi of holonomic rows; of velocity rows the rate
    VecX time_partial;  ///< d Phi / dt at fixed q
    VecX rate;          ///< J v + time_partial
    VecX bias;
    std::vector<double> jacobian;  ///< values of System::jacobian_pattern()
    std::vector<double> mass;      ///< values of System::pattern()
    VecX force;                    ///< Q
};

class System {
public:
    virtual ~System() = default;
    System() = default;
    System(const System&) = delete;
    System& operator=(const System&) = delete;

    int size() const { return pattern_.size; }
    int rows() const { return jacobian_pattern_.rows(); }
    int holonomic_rows() const { return holonomic_rows_; }
    const RowPattern& jacobian_pattern() const { return jacobian_pattern_; }
    /// Pattern of M, of tangent matrices and of J^T J.
    const SymmetricPattern& pattern() const { return pattern_; }
    bool has_constant_mass() const { return has_constant_mass_; }
    double length_scale() const { return length_scale_; }
    double mass_scale() const { return mass_scale_; }
    /// Inertia met in the direction of each row, about 1 / (J M^-1 J^T): the natural unit of its penalty.
    const VecX& row_inertia() const { return row_inertia_; }
    /// Inertia of each coordinate by itself: the diagonal of M, floored where there is no mass.
    const VecX& coordinate_inertia() const { return coordinate_inertia_; }
    /// "joint 'crank'", or "rigidity" for rows that belong to the coordinates.
    std::string row_name(int row) const;
    /// "joint 'crank' is off by 0.013", for messages about steps that fail.
    std::string describe_worst_row(const VecX& errors) const;
    const std::vector<std::string>& coordinate_notes() const { return coordinate_notes_; }
    const std::vector<double>& initial_memory() const { return initial_memory_; }
    virtual const char* coordinates_name() const = 0;

    virtual std::unique_ptr<Evaluation> make_evaluation() const = 0;

    /// phi of holonomic rows, jacobian, mass. q and memory must live as long as the evaluation is used.
    virtual void update_positions(Evaluation& e, double t, const VecX& q, std::span<const double> memory) const = 0;
    /// phi of holonomic rows only, for corrections with an old Jacobian.
    virtual void update_residuals(Evaluation& e, double t, const VecX& q, std::span<const double> memory) const = 0;
    /// rate, time_partial, bias; needs positions.
    virtual void update_velocities(Evaluation& e, const VecX& v) const = 0;
    /// force; needs velocities.
    virtual void update_forces(Evaluation& e) const = 0;

    void update(Evaluation& e, double t, const VecX& q, const VecX& v, std::span<const double> memory) const {
        update_positions(e, t, q, memory);
        update_velocities(e, v);
        update_forces(e);
    }

    /// values = mass_weight M + damping_weight C + stiffness_weight (K + sum_i row_force_i Phi_i,qq), symmetrised; K
    /// and C are the derivatives of inertia forces (at accelerations a) minus applied forces. Needs forces.
    virtual void assemble_tangent(Evaluation& e, double mass_weight, double damping_weight, double stiffness_weight,
                                  const VecX& row_force, const VecX& a, std::vector<double>& values) const = 0;
    /// The same without what the motion of Jacobians and inertias contributes: M, and K and C of the applied forces by
    /// the features they act on (Cuadrado and Dopico eqs. 28-34).
    virtual void assemble_approximate_tangent(Evaluation& e, double mass_weight, double damping_weight,
                                              double stiffness_weight, std::vector<double>& values) const = 0;
    /// What elements that turn need for good tangents of statics (AppliedForce::predict): how many numbers, and what
    /// they are after a change of q from here. Needs positions; velocities are then those of the change.
    virtual int prediction_size() const = 0;
    virtual void predict(Evaluation& e, const VecX& change, double* prediction) const = 0;

    /// values += sum_i weight_i J_i^T J_i
    void add_penalty(const Evaluation& e, const VecX& weight, std::vector<double>& values) const;

    /// Where q is after a time h at velocity v. Euler parameters go along great circles, so that they keep their
    /// length, and v turns with them; all other coordinates go straight on.
    void move(const VecX& q, double h, VecX& v, VecX& moved) const;
    /// Euler parameters mean the same with all signs changed: those of q, and their rates in v, on the side of `near`.
    void choose_signs_near(const VecX& near, VecX& q, VecX& v) const;

    /// Turns and curve places for a configuration that has been accepted.
    virtual void update_memory(Evaluation& e, const VecX& q, std::vector<double>& memory) const = 0;

protected:
    void finish_patterns(SymmetricPatternBuilder& builder);
    /// From what a unit force along the row does to the row's value, J M^-1 J^T.
    double find_row_inertia(double admittance) const;

    RowPattern jacobian_pattern_;
    SymmetricPattern pattern_;
    int holonomic_rows_ = 0;
    bool has_constant_mass_ = false;
    double length_scale_ = 1, mass_scale_ = 1;
    VecX row_inertia_, coordinate_inertia_;
    std::vector<std::string> row_names_, coordinate_notes_;
    std::vector<double> initial_memory_;
    std::vector<int> euler_parameters_;  // first column of each set of four
    // Lower triangle of the outer product of each row with itself.
    std::vector<int> outer_start_, outer_place_;
};

/// A system of planar (D = 2) or spatial bodies: knows its mechanism and speaks body poses and twists.
template <int D>
class MechanismSystem : public System {
public:
    explicit MechanismSystem(std::shared_ptr<const Mechanism<D>> mechanism) : mechanism_(std::move(mechanism)) {}

    const Mechanism<D>& mechanism() const { return *mechanism_; }
    virtual void export_states(const VecX& q, const VecX& v, BodyStates<D>& states) const = 0;
    virtual void export_twist_rates(const VecX& q, const VecX& v, const VecX& a,
                                    std::vector<TwistVec<D>>& rates) const = 0;
    virtual void import_states(const BodyStates<D>& states, VecX& q, VecX& v) const = 0;
    /// Accelerations of the coordinates at q and v, which belong to these states, for twists that change so.
    virtual void import_twist_rates(const BodyStates<D>& states, const std::vector<TwistVec<D>>& rates, const VecX& q,
                                    const VecX& v, VecX& a) const = 0;
    /// Of these bodies only, if that is less work; the lists have places for all.
    virtual void export_states_of(std::span<const int> /*bodies*/, const VecX& q, const VecX& v,
                                  BodyStates<D>& states) const {
        export_states(q, v, states);
    }
    virtual void export_twist_rates_of(std::span<const int> /*bodies*/, const VecX& q, const VecX& v, const VecX& a,
                                       std::vector<TwistVec<D>>& rates) const {
        export_twist_rates(q, v, a, rates);
    }

protected:
    std::shared_ptr<const Mechanism<D>> mechanism_;
};

enum class CoordinateKind { natural, reference_point, relative };

/// Throws ModelError for an unknown name.
CoordinateKind parse_coordinate_kind(const std::string& name);
std::vector<std::string> coordinate_kind_names();

/// Without matrices (relative coordinates only): see RelativeSystem.
template <int D>
std::shared_ptr<const MechanismSystem<D>> make_system(std::shared_ptr<const Mechanism<D>> mechanism,
                                                      CoordinateKind kind, bool with_matrices = true);

}  // namespace limber
