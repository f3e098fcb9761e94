#pragma once
// Articulated-body inertias (Featherstone 1983; Vereshchagin 1974): solves M x = b with the mass matrix M of relative
// coordinates in time proportional to the number of bodies, without forming M.
//
//   up    A_i = M_i + sum over children of (A - W W^T) moved,   S^T A S = L L^T,   W = A S L^-T
//   solve up    u = L^-1 (b - S^T p),   p_parent += moved (p + W u)
//         down  x = L^-T (u - W^T a_parent),   a = a_parent moved + S x
//
// The way up is half of M^-1: x^T M^-1 y is the dot product of the u of both. For an x with few entries it visits the
// bodies of these and their ancestors only.
//
// Two additions to S^T A S make it regular: mu p p^T for Euler parameters (their length then obeys M x = b by itself,
// apart from all else, since S p = 0), and a small multiple of the coordinate's typical inertia where there is no mass.

#include <span>

#include "limber/kinematics/relative/relative_coordinates.hpp"

namespace limber {

/// Bodies between those that a sparse vector acts on and the roots.
struct TreeBranch {
    std::vector<int> nodes;    ///< children before parents
    std::vector<int> columns;  ///< of these nodes, in their order
};

template <int D>
class ArticulatedInertia {
public:
    static constexpr int T = twist_size<D>;
    static constexpr int max_columns = D == 2 ? 3 : 7;

    /// floor: added to the diagonal of S^T A S, per coordinate; ball_inertia: mu, per ball.
    ArticulatedInertia(const Mechanism<D>& mechanism, const RelativeTree<D>& tree, VecX floor,
                       std::vector<double> ball_inertia);

    /// At the positions q of the motion. False if a number is not finite.
    bool factorize(const RelativeMotion<D>& motion, const VecX& q);
    /// b -> M^-1 b in place.
    void solve(VecX& b);

    TreeBranch find_branch(std::span<const int> columns);
    /// The way up, for a vector that is zero but in some columns of the branch: u in the order of branch.columns.
    void climb(const TreeBranch& branch, std::span<const int> columns, const double* values, double* u);
    /// The way down: u -> x in place.
    void descend(VecX& u);

private:
    static constexpr int A = angular_size<D>;
    using Columns = Eigen::Matrix<double, T, Eigen::Dynamic, 0, T, max_columns>;
    using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, max_columns, max_columns>;
    struct Node {
        int parent = -1, first_column = 0, column_count = 0;
        int place = 0;  // in single_ or general_
    };
    struct Joint {
        Columns s, w;
        Small factor;  // L, with one over its diagonal
    };
    struct SingleJoint {
        TwistVec<D> s, w;
        double inverse = 0;  // one over L
    };
    /// Of twists and wrenches about a centre of mass.
    struct Inertia {
        Mat<D> linear;
        Eigen::Matrix<double, D, A> mixed;
        AngularMat<D> angular;

        TwistVec<D> times(const TwistVec<D>& twist) const;
        void subtract_square(const TwistVec<D>& w);
        /// += other, about a centre that is r away from this one.
        void add_moved(const Inertia& other, const Vec<D>& r);
    };

    void factorize_single(const RelativeMotion<D>& motion, int node);
    bool factorize_general(const RelativeMotion<D>& motion, const VecX& q, int node);
    /// b of a node's columns -> u, and on to its parent.
    void climb_node(int node, const double* b, double* u);

    const Mechanism<D>& m_;
    const RelativeTree<D>& tree_;
    VecX floor_;
    std::vector<double> ball_inertia_;
    std::vector<Node> nodes_;
    std::vector<Inertia> inertia_;
    std::vector<Vec<D>> arm_;  // from the parent's centre
    std::vector<SingleJoint> single_;
    std::vector<Joint> general_;
    std::vector<TwistVec<D>> wrench_, acceleration_;
    // Zero between calls.
    VecX sparse_;
    std::vector<bool> is_visited_;
};

}  // namespace limber
