#pragma once
// Constraint rows over the twists of all bodies: G twist + time_partial = 0, row by row a wrench on each body
// concerned. Internal to the room. Holds scratch memory.

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "limber/kinematics/body_space/twist.hpp"
#include "limber/kinematics/body_space/worst_row.hpp"
#include "limber/math/linear_solver.hpp"

namespace limber {

template <int D>
class TwistConstraints {
public:
    TwistConstraints(const Mechanism<D>& mechanism, ConstraintSet<D> set);

    int row_count() const { return static_cast<int>(set.rows.size()); }
    int twist_count() const { return static_cast<int>(mechanism.bodies.size()) * twist_size<D>; }

    /// Features, rows and wrenches at a configuration and its velocities.
    void update(const BodyStates<D>& states, const std::vector<double>& memory, double t);
    /// Lets a row act on two of its bodies, by these wrenches about their centres of mass, and on no other; until the
    /// next update.
    void replace_row(int r, const std::array<int, 2>& bodies, const std::array<TwistVec<D>, 2>& wrenches);
    /// Makes all entries comparable: torques are divided by the length scale, and every row is multiplied by `scale`,
    /// so that its multiplier counts as a force (of rows that measure lengths) or as a torque over the length scale (of
    /// rows that measure angles).
    void make_comparable();
    /// The same, then every row divided by its norm.
    void normalise();
    /// Multiplies one row more.
    void scale_row(int r, double factor);

    /// matrix() is a sum of the following three, then factorised.
    void clear_matrix();
    /// sum over rows of weight * G_r^T G_r; velocity rows only if asked for.
    void add_normal_matrix(double weight, bool with_velocity_rows = true);
    /// The mass matrix; bodies without mass or inertia get `floor` times the mechanism's typical ones.
    void add_mass(const BodyStates<D>& states, double floor);
    void add_identity(double factor);
    bool factorize();
    /// Freedoms with nothing in the factorised matrix.
    int frozen_freedoms() const { return solver_->frozen_pivots(); }
    void solve(VecX& x) { solver_->solve(x); }

    void multiply_rows(const VecX& twists, VecX& result) const;
    void add_transposed(const VecX& multipliers, double factor, VecX& result) const;
    /// result += factor * G_r
    void add_row(int r, double factor, VecX& result) const;
    double dot_row(int r, const VecX& twists) const;

    /// Entries [begin, end) of a row: the bodies it acts on and the wrench of a unit multiplier on each.
    std::pair<int, int> entries(int r) const { return {body_start_[r], body_start_[r + 1]}; }
    int entry_body(int entry) const { return row_body_[entry]; }
    const TwistVec<D>& entry_wrench(int entry) const { return wrench_[entry]; }

    RowQuantity quantity_of(const Row& row) const;
    /// The row with the largest entry.
    WorstRow find_worst(const VecX& errors) const;

    const Mechanism<D>& mechanism;
    ConstraintSet<D> set;
    FeatureState<D> features;
    RowValues<D> values;
    VecX scale;  ///< of each row, from make_comparable(), normalise() and scale_row()

private:
    static constexpr int T = twist_size<D>;
    struct BodyPair {
        int entry_a, entry_b;
        std::array<int, T * T> place;
    };

    void connect();
    bool measures_angle(const Row& row) const;

    std::vector<int> body_start_{0}, row_body_;  // bodies of row r: row_body_[body_start_[r] .. body_start_[r+1])
    std::vector<TwistVec<D>> wrench_;            // beside row_body_
    std::vector<int> slot_entry_;                // slot -> index into row_body_, -1: ground
    SymmetricPattern pattern_;
    std::vector<std::array<int, T*(T + 1) / 2>> diagonal_place_;
    std::vector<BodyPair> pairs_;
    std::vector<int> pair_start_{0};
    std::vector<double> matrix_;
    std::unique_ptr<LinearSolver> solver_;
};

}  // namespace limber
