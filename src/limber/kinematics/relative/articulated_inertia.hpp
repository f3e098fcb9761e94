#pragma once
// Articulated-body inertias (Featherstone 1983; Vereshchagin 1974): solves M x = b with the mass matrix M of relative coordinates in
// time proportional to the number of bodies, without forming M.
//
//   up    A_i = M_i + sum over children of (A - U D^-1 U^T) moved,   U = A S,   D = S^T A S
//   solve up    u = b - S^T p,   p_parent += moved (p + U D^-1 u)
//         down  x = D^-1 (u - U^T a_parent),   a = a_parent moved + S x
//
// Two additions to D make it regular: mu p p^T for Euler parameters (their length then obeys M x = b by itself, apart from all
// else, since S p = 0), and a small multiple of the coordinate's typical inertia where there is no mass.

#include <span>

#include "limber/kinematics/relative/relative_coordinates.hpp"

namespace limber {

template <int D>
class ArticulatedInertia {
public:
    static constexpr int T = twist_size<D>;
    static constexpr int max_columns = D == 2 ? 3 : 7;

    /// floor: added to the diagonal of D, per coordinate; ball_inertia: mu, per ball.
    ArticulatedInertia(const Mechanism<D>& mechanism, const RelativeTree<D>& tree, VecX floor,
                       std::vector<double> ball_inertia);

    /// At the positions q of the motion. False if a number is not finite.
    bool factorize(const RelativeMotion<D>& motion, const VecX& q);
    /// b -> M^-1 b in place.
    void solve(const RelativeMotion<D>& motion, VecX& b);
    /// x^T M^-1 x for an x that is zero but in some columns. Visits the bodies of these columns and their ancestors only.
    double measure_admittance(const RelativeMotion<D>& motion, std::span<const int> columns, const double* values);

private:
    using TwistMat = Eigen::Matrix<double, T, T>;
    using Columns = Eigen::Matrix<double, T, Eigen::Dynamic, 0, T, max_columns>;
    using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, max_columns, max_columns>;
    struct Joint {
        Columns s, u;   // S and U D^-1
        Small inverse;  // D^-1
    };
    struct SingleJoint {
        TwistVec<D> s, u;
        double inverse = 0;
    };

    void factorize_single(const RelativeMotion<D>& motion, int node);
    bool factorize_general(const RelativeMotion<D>& motion, const VecX& q, int node);
    void climb(const RelativeMotion<D>& motion, const VecX& b, int node);
    void pass_on(const RelativeMotion<D>& motion, int node, const TwistMat& inertia);

    const Mechanism<D>& m_;
    const RelativeTree<D>& tree_;
    VecX floor_;
    std::vector<double> ball_inertia_;
    std::vector<TwistMat> inertia_;
    std::vector<int> place_;  // of a node in single_ or general_
    std::vector<SingleJoint> single_;
    std::vector<Joint> general_;
    std::vector<TwistVec<D>> bias_, acceleration_;
    VecX u_;
    // Scratch of measure_admittance; the last two are zero between calls.
    std::vector<int> visited_;
    std::vector<bool> is_visited_;
    VecX sparse_;
};

}  // namespace limber
