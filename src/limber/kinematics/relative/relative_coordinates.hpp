#pragma once
// Relative coordinates: the turns and slides of the joints of a spanning forest.
//
// With c the centre of mass of the body that a coordinate moves first, the velocity that a unit rate of the coordinate
// gives to a point x of the body's subtree is the column
//
//   J(x) = u + w x (x - c)
//
// and w, u and their first and second time derivatives (along the actual motion) are all that formulations need:
// masses, forces, Jacobians and exact tangents are sums of products of columns.
//
// Everything is in world axes and about centres of mass, so nothing grows with the distance from the origin.
//
// A ball has Euler parameters p as coordinates, w_k = 2 E(p)_k / |p|^2 with E = [-e, e0 I + ~e]: orientations do not
// depend on the length of p, and a row 1/2 (p.p - 1) = 0 keeps it.

#include <string>
#include <vector>

#include "limber/kinematics/body_space/twist.hpp"
#include "limber/kinematics/relative/tree.hpp"

namespace limber {

// Inertia of mass, first moment h and inertia I moved by r (new reference = old - r): what was at x is now at x + r.
template <int D>
inline AngularMat<D> moved_inertia(double mass, const Vec<D>& h, const AngularMat<D>& inertia, const Vec<D>& r) {
    if constexpr (D == 2) {
        return inertia + AngularMat<2>::Constant(mass * r.squaredNorm() + 2 * h.dot(r));
    } else {
        const Mat3 dyad = r * h.transpose();
        const double trace = mass * r.squaredNorm() + 2 * h.dot(r);
        return inertia + trace * Mat3::Identity() - mass * r * r.transpose() - dyad - dyad.transpose();
    }
}

template <int D>
struct RelativeColumn {
    AngularVec<D> w = AngularVec<D>::Zero(), w_rate = AngularVec<D>::Zero(), w_second = AngularVec<D>::Zero();
    Vec<D> u = Vec<D>::Zero(), u_rate = Vec<D>::Zero(), u_second = Vec<D>::Zero();
    Vec<D> axis = Vec<D>::Zero();   ///< direction of a slide or screw
    Vec<D> point = Vec<D>::Zero();  ///< origin of the joint's moving frame before this motion
    Vec<D> point_rate = Vec<D>::Zero(), point_second = Vec<D>::Zero();
};

/// Where the bodies are and how they move; indexed by node. Scratch memory.
template <int D>
struct RelativeMotion {
    std::vector<BodyState<D>> body;
    std::vector<TwistVec<D>> bias;        ///< twist rate at zero accelerations of the coordinates
    std::vector<TwistVec<D>> twist_rate;  ///< at given accelerations
    std::vector<RelativeColumn<D>> column;
    std::vector<Vec<D>> frame_end;  ///< origin of the joint's frame on the body
    std::vector<Mat<D>> ball_axes;  ///< per ball: axes before it turns
};

template <int D>
class RelativeCoordinates {
public:
    explicit RelativeCoordinates(const Mechanism<D>& mechanism)
        : RelativeCoordinates(mechanism, choose_tree(mechanism)) {}
    /// A forest chosen for the same bodies and joints, perhaps with other inertia, on which the choice depends.
    RelativeCoordinates(const Mechanism<D>& mechanism, RelativeTree<D> tree);

    const RelativeTree<D>& tree() const { return tree_; }
    int size() const { return tree_.columns; }

    RelativeMotion<D> make_motion() const;
    /// Sizes a motion for these coordinates; costs nothing if it has been one of theirs.
    void prepare(RelativeMotion<D>& motion) const;
    /// Poses, w and u.
    void update_positions(const VecX& q, RelativeMotion<D>& motion) const;
    /// Twists, biases, first derivatives of w and u; needs positions.
    void update_velocities(const VecX& q, const VecX& v, RelativeMotion<D>& motion) const;
    /// Twist rates; needs velocities.
    void update_twist_rates(const VecX& a, RelativeMotion<D>& motion) const;
    /// Second derivatives of w and u; needs twist rates.
    void update_second_derivatives(const VecX& q, const VecX& v, const VecX& a, RelativeMotion<D>& motion) const;

    /// Coordinates of given poses and rates of given twists (by body of the mechanism).
    void import_states(const BodyStates<D>& states, VecX& q, VecX& v) const;
    /// Accelerations at q and v, which belong to these states, for twists that change so.
    void import_twist_rates(const BodyStates<D>& states, const std::vector<TwistVec<D>>& rates, const VecX& q,
                            const VecX& v, VecX& a) const;
    void export_states(const VecX& q, const VecX& v, BodyStates<D>& states) const;

    /// d w_k / d p_l of a ball, in world axes, at the positions of the motion.
    Vec3 ball_curvature(int ball, int k, int l, const VecX& q, const RelativeMotion<D>& motion) const;

    /// "wheel on axle by revolute 'hub'" and the like; joints that close loops.
    std::vector<std::string> describe() const;

private:
    /// Rates of a node's coordinates that give it this twist relative to its parent.
    VecX share_out(const TreeNode<D>& node, const RelativeMotion<D>& motion, const TwistVec<D>& twist) const;

    const Mechanism<D>& m_;
    RelativeTree<D> tree_;
    BodyState<D> ground_;  // at rest
};

}  // namespace limber
