#pragma once
// Joint reactions from the motion of the bodies, the same for every formulation and every set of coordinates.
//
// Newton and Euler for each body: inertia wrench - applied wrench = sum of the wrenches of its joints. The
// multipliers of all rows follow by least squares; where they are not unique (redundant constraints) the smallest
// are taken, with torques divided by the mechanism's length scale.
//
// Gears and racks act where their teeth meet (gear_mesh.hpp) wherever that is known, so bearings carry the tooth force.
// With a pressure angle the side to which it leans follows from a first solution.
//
// Sign: the reaction of a joint is what its first body does to its second body, at the point of the second marker,
// in world axes. A multiplier counts as the generalised force that pushes its row's value up.

#include <memory>
#include <utility>
#include <vector>

#include "limber/kinematics/body_space/gear_mesh.hpp"
#include "limber/kinematics/body_space/twist_constraints.hpp"

namespace limber {

template <int D>
class ReactionSolver {
public:
    explicit ReactionSolver(const Mechanism<D>& mechanism);

    /// Where multipliers are not unique these rows carry next to nothing of what others can.
    void spare(std::vector<int> rows) { spared_ = std::move(rows); }

    /// Returns the part of the wrenches that no joint can exert, relative to the whole: zero for a consistent
    /// motion. `known` are wrenches on the bodies from elsewhere, about their centres of mass; empty: there are none.
    double solve(const BodyStates<D>& states, const std::vector<double>& memory, double t,
                 const std::vector<TwistVec<D>>& twist_rates, const VecX& known = {});

    /// The same for sudden changes of the twists: reaction() then gives impulses, and so are those known.
    double solve_impulses(const BodyStates<D>& states, const std::vector<double>& memory, double t,
                          const std::vector<TwistVec<D>>& twist_changes, const VecX& known = {});

    /// Whether the joint has a force and a torque; otherwise its multiplier is all there is.
    static bool has_wrench(const ConstraintElement<D>& element) { return element.has_markers || element.mesh >= 0; }
    /// Force (D numbers) and torque of a joint on its second body, of a gear on its second wheel; about
    /// reaction_point().
    TwistVec<D> reaction(int element) const;
    Vec<D> reaction_point(int element) const;
    /// Bodies that an element may push; -1: the ground. Empty: it has no rows.
    std::vector<int> find_bodies(int element) const;
    /// Force and torque of an element on one of them, about a point; on the ground, the opposite of what it does to all
    /// others of `bodies`.
    TwistVec<D> reaction_on(int element, int body, const std::vector<int>& bodies, const Vec<D>& at) const;
    /// The multiplier of a joint's or driver's row.
    double multiplier(int element, int row) const;
    /// What a unit multiplier of a row does to a body, about a point.
    TwistVec<D> row_wrench(int row, int body, const Vec<D>& at) const;
    /// The multiplier of any row of the mechanism.
    double row_multiplier(int row) const { return multipliers_[row]; }
    /// Power that rheonomic rows (drivers) put into the mechanism.
    double driver_power() const;

private:
    double solve_wrenches(double size);
    void update(const BodyStates<D>& states, const std::vector<double>& memory, double t);
    void place_tooth_forces(const BodyStates<D>& states);
    /// Which way teeth push, of the last solution. False: as assumed for it.
    bool find_flanks();

    const Mechanism<D>& m_;
    TwistConstraints<D> constraints_;
    std::vector<int> spared_;
    std::vector<Vec<D>> slot_force_;
    std::vector<int> mesh_features_;
    std::vector<ToothForce<D>> teeth_;  // of each mesh; `along` is the whole force of a unit multiplier
    std::vector<double> flank_;         // sign of its multiplier; 0: not known, or of no matter
    VecX multipliers_, wrench_, x_, rows_;
};

/// Wrenches of all applied forces and of gravity on the bodies, about their centres of mass. `features` must be up
/// to date.
template <int D>
void add_applied_wrenches(const Mechanism<D>& mechanism, const BodyStates<D>& states, const FeatureState<D>& features,
                          const std::vector<double>& memory, double t, std::vector<Vec<D>>& slot_force, double factor,
                          VecX& wrench);

}  // namespace limber
