#include "limber/kinematics/relative/articulated_inertia.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "limber/math/rotation.hpp"

namespace limber {
namespace {

// A wrench about a point, about another: r from the new point to the old.
template <int D>
void move_wrench(const Vec<D>& r, TwistVec<D>& wrench) {
    wrench.template tail<angular_size<D>>() += moment<D>(r, Vec<D>(wrench.template head<D>()));
}

// A twist of a body's point, at a point r further on.
template <int D>
void move_twist(const Vec<D>& r, TwistVec<D>& twist) {
    twist.template head<D>() += cross<D>(AngularVec<D>(twist.template tail<angular_size<D>>()), r);
}

}  // namespace

template <int D>
ArticulatedInertia<D>::ArticulatedInertia(const Mechanism<D>& mechanism, const RelativeTree<D>& tree, VecX floor,
                                          std::vector<double> ball_inertia)
    : m_(mechanism), tree_(tree), floor_(std::move(floor)), ball_inertia_(std::move(ball_inertia)) {
    inertia_.assign(tree.nodes.size(), TwistMat::Zero());
    bias_.assign(tree.nodes.size(), TwistVec<D>::Zero());
    acceleration_ = bias_;
    u_ = VecX::Zero(tree.columns);
    sparse_ = u_;
    is_visited_.assign(tree.nodes.size(), false);
    for (const TreeNode<D>& node : tree.nodes) {
        if (node.column_count == 1) {
            place_.push_back(static_cast<int>(single_.size()));
            single_.emplace_back();
        } else {
            place_.push_back(static_cast<int>(general_.size()));
            general_.emplace_back();
            general_.back().s.setZero(T, node.column_count);
            general_.back().u.setZero(T, node.column_count);
            general_.back().inverse.setZero(node.column_count, node.column_count);
        }
    }
}

template <int D>
bool ArticulatedInertia<D>::factorize(const RelativeMotion<D>& motion, const VecX& q) {
    constexpr int A = angular_size<D>;
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
        const MechanismBody<D>& body = m_.bodies[tree_.nodes[i].body];
        inertia_[i].setZero();
        inertia_[i].template topLeftCorner<D, D>().diagonal().setConstant(body.mass);
        inertia_[i].template bottomRightCorner<A, A>() = world_inertia(body, motion.body[i]);
    }
    for (int i = static_cast<int>(tree_.nodes.size()) - 1; i >= 0; --i) {
        if (tree_.nodes[i].column_count == 1) {
            factorize_single(motion, i);
        } else if (!factorize_general(motion, q, i)) {
            return false;
        }
    }
    return true;
}

template <int D>
void ArticulatedInertia<D>::factorize_single(const RelativeMotion<D>& motion, int node) {
    const int c = tree_.nodes[node].first_column;
    SingleJoint& joint = single_[place_[node]];
    joint.s << motion.column[c].u, motion.column[c].w;
    const TwistVec<D> u = inertia_[node] * joint.s;
    joint.inverse = 1 / (joint.s.dot(u) + floor_[c]);
    joint.u = joint.inverse * u;
    if (tree_.nodes[node].parent >= 0) pass_on(motion, node, inertia_[node] - joint.u * u.transpose());
}

template <int D>
bool ArticulatedInertia<D>::factorize_general(const RelativeMotion<D>& motion, const VecX& q, int node) {
    const TreeNode<D>& at = tree_.nodes[node];
    Joint& joint = general_[place_[node]];
    const int count = at.column_count;
    for (int k = 0; k < count; ++k)
        joint.s.col(k) << motion.column[at.first_column + k].u, motion.column[at.first_column + k].w;
    if (count == 0) {
        if (at.parent >= 0) pass_on(motion, node, inertia_[node]);
        return true;
    }
    const Columns u = inertia_[node] * joint.s;
    Small d = joint.s.transpose() * u;
    for (int k = 0; k < count; ++k) d(k, k) += floor_[at.first_column + k];
    const auto first_ball = std::lower_bound(tree_.ball_columns.begin(), tree_.ball_columns.end(), at.first_column);
    for (auto it = first_ball; it != tree_.ball_columns.end() && *it < at.first_column + count; ++it) {
        const int k = *it - at.first_column;
        const Eigen::Vector4d p = q.template segment<4>(*it);
        d.template block<4, 4>(k, k) += ball_inertia_[it - tree_.ball_columns.begin()] * p * p.transpose();
    }
    const Eigen::LLT<Small> factor(d);
    if (factor.info() != Eigen::Success) return false;
    joint.inverse.setIdentity(count, count);
    factor.solveInPlace(joint.inverse);
    joint.u.noalias() = u * joint.inverse;
    if (at.parent >= 0) pass_on(motion, node, inertia_[node] - joint.u * u.transpose());
    return true;
}

// inertia: what the subtree still shows to its parent, about the node's centre of mass.
template <int D>
void ArticulatedInertia<D>::pass_on(const RelativeMotion<D>& motion, int node, const TwistMat& inertia) {
    const int parent = tree_.nodes[node].parent;
    const Vec<D> r = motion.body[node].position - motion.body[parent].position;
    // X^T inertia X with X = [1, -~r; 0, 1]: velocity of the node's centre from the parent's twist.
    if constexpr (D == 2) {
        const Vec2 turn = perp(r);
        TwistMat moved = inertia;
        moved.template block<2, 1>(0, 2) += inertia.template block<2, 2>(0, 0) * turn;
        moved.template block<1, 2>(2, 0) = moved.template block<2, 1>(0, 2).transpose();
        moved(2, 2) +=
            2 * inertia.template block<2, 1>(0, 2).dot(turn) + turn.dot(inertia.template block<2, 2>(0, 0) * turn);
        inertia_[parent] += moved;
    } else {
        const Mat3 turn = -skew(r);
        const Mat3 linear = inertia.template block<3, 3>(0, 0);
        const Mat3 mixed = inertia.template block<3, 3>(0, 3);
        const Mat3 linear_turn = linear * turn;
        const Mat3 cross_term = turn.transpose() * mixed;
        inertia_[parent].template block<3, 3>(0, 0) += linear;
        inertia_[parent].template block<3, 3>(0, 3) += mixed + linear_turn;
        inertia_[parent].template block<3, 3>(3, 0) += (mixed + linear_turn).transpose();
        inertia_[parent].template block<3, 3>(3, 3) +=
            inertia.template block<3, 3>(3, 3) + cross_term + cross_term.transpose() + turn.transpose() * linear_turn;
    }
}

// u of a node, and on to its parent.
template <int D>
void ArticulatedInertia<D>::climb(const RelativeMotion<D>& motion, const VecX& b, int i) {
    const TreeNode<D>& node = tree_.nodes[i];
    const int c = node.first_column;
    TwistVec<D> p = bias_[i];
    if (node.column_count == 1) {
        const SingleJoint& joint = single_[place_[i]];
        u_[c] = b[c] - joint.s.dot(bias_[i]);
        p += joint.u * u_[c];
    } else if (node.column_count > 0) {
        const Joint& joint = general_[place_[i]];
        for (int k = 0; k < node.column_count; ++k) {
            u_[c + k] = b[c + k] - joint.s.col(k).dot(bias_[i]);
            p += joint.u.col(k) * u_[c + k];
        }
    }
    if (node.parent < 0) return;
    move_wrench<D>(motion.body[i].position - motion.body[node.parent].position, p);
    bias_[node.parent] += p;
}

template <int D>
double ArticulatedInertia<D>::measure_admittance(const RelativeMotion<D>& motion, std::span<const int> columns,
                                                 const double* values) {
    visited_.clear();
    for (std::size_t k = 0; k < columns.size(); ++k) {
        sparse_[columns[k]] = values[k];
        for (int i = tree_.node_of_column[columns[k]]; i >= 0 && !is_visited_[i]; i = tree_.nodes[i].parent) {
            is_visited_[i] = true;
            bias_[i].setZero();
            visited_.push_back(i);
        }
    }
    // Children come after their parents.
    std::sort(visited_.begin(), visited_.end(), std::greater<>());
    double sum = 0;
    for (const int i : visited_) {
        climb(motion, sparse_, i);
        is_visited_[i] = false;
        const int c = tree_.nodes[i].first_column;
        const int count = tree_.nodes[i].column_count;
        if (count == 1) {
            sum += u_[c] * single_[place_[i]].inverse * u_[c];
        } else if (count > 0) {
            sum += u_.segment(c, count).dot(general_[place_[i]].inverse * u_.segment(c, count));
        }
    }
    for (const int column : columns) sparse_[column] = 0;
    return sum;
}

template <int D>
void ArticulatedInertia<D>::solve(const RelativeMotion<D>& motion, VecX& b) {
    for (auto& p : bias_) p.setZero();
    for (int i = static_cast<int>(tree_.nodes.size()) - 1; i >= 0; --i) climb(motion, b, i);
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
        const TreeNode<D>& node = tree_.nodes[i];
        const int c = node.first_column;
        TwistVec<D> a = TwistVec<D>::Zero();
        if (node.parent >= 0) {
            a = acceleration_[node.parent];
            move_twist<D>(motion.body[i].position - motion.body[node.parent].position, a);
        }
        if (node.column_count == 1) {
            const SingleJoint& joint = single_[place_[i]];
            b[c] = joint.inverse * u_[c] - joint.u.dot(a);
            a += joint.s * b[c];
        } else if (node.column_count > 0) {
            const Joint& joint = general_[place_[i]];
            const int count = node.column_count;
            for (int k = 0; k < count; ++k) {
                double sum = -joint.u.col(k).dot(a);
                for (int j = 0; j < count; ++j) sum += joint.inverse(k, j) * u_[c + j];
                b[c + k] = sum;
            }
            for (int k = 0; k < count; ++k) a += joint.s.col(k) * b[c + k];
        }
        acceleration_[i] = a;
    }
}

template class ArticulatedInertia<2>;
template class ArticulatedInertia<3>;

}  // namespace limber
