#include "limber/kinematics/relative/articulated_inertia.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "limber/math/rotation.hpp"

namespace limber {

// ---------------------------------------------------------------- inertias

template <int D>
TwistVec<D> ArticulatedInertia<D>::Inertia::times(const TwistVec<D>& twist) const {
    const Vec<D> u = twist.template head<D>();
    const AngularVec<D> w = twist.template tail<A>();
    TwistVec<D> wrench;
    wrench.template head<D>() = linear * u + mixed * w;
    wrench.template tail<A>() = mixed.transpose() * u + angular * w;
    return wrench;
}

template <int D>
void ArticulatedInertia<D>::Inertia::subtract_square(const TwistVec<D>& w) {
    const Vec<D> force = w.template head<D>();
    const AngularVec<D> torque = w.template tail<A>();
    linear.noalias() -= force * force.transpose();
    mixed.noalias() -= force * torque.transpose();
    angular.noalias() -= torque * torque.transpose();
}

// X^T other X with X = [1, -~r; 0, 1]: velocity of the other centre from the twist of this one.
template <int D>
void ArticulatedInertia<D>::Inertia::add_moved(const Inertia& other, const Vec<D>& r) {
    linear += other.linear;
    if constexpr (D == 2) {
        const Vec2 turn = perp(r);
        const Vec2 linear_turn = other.linear * turn;
        mixed += other.mixed + linear_turn;
        angular(0, 0) += other.angular(0, 0) + 2 * other.mixed.col(0).dot(turn) + turn.dot(linear_turn);
    } else {
        Mat3 linear_turn;
        Mat3 turned;
        Mat3 turned_twice;
        // Row k of linear (-~r) is r x row k of linear, which is symmetric.
        for (int k = 0; k < 3; ++k) linear_turn.row(k) = r.cross(Vec3(other.linear.col(k))).transpose();
        for (int k = 0; k < 3; ++k) turned.col(k) = r.cross(Vec3(other.mixed.col(k)));
        for (int k = 0; k < 3; ++k) turned_twice.col(k) = r.cross(Vec3(linear_turn.col(k)));
        mixed += other.mixed + linear_turn;
        angular += other.angular + turned + turned.transpose() + turned_twice;
    }
}

// ---------------------------------------------------------------- factorisation

template <int D>
ArticulatedInertia<D>::ArticulatedInertia(const Mechanism<D>& mechanism, const RelativeTree<D>& tree, VecX floor,
                                          std::vector<double> ball_inertia)
    : m_(mechanism), tree_(tree), floor_(std::move(floor)), ball_inertia_(std::move(ball_inertia)) {
    inertia_.resize(tree.nodes.size());
    arm_.assign(tree.nodes.size(), Vec<D>::Zero());
    wrench_.assign(tree.nodes.size(), TwistVec<D>::Zero());
    acceleration_ = wrench_;
    sparse_ = VecX::Zero(tree.columns);
    is_visited_.assign(tree.nodes.size(), false);
    for (const TreeNode<D>& node : tree.nodes) {
        Node& own = nodes_.emplace_back(Node{node.parent, node.first_column, node.column_count, 0});
        if (node.column_count == 1) {
            own.place = static_cast<int>(single_.size());
            single_.emplace_back();
        } else {
            own.place = static_cast<int>(general_.size());
            Joint& joint = general_.emplace_back();
            joint.s.setZero(T, node.column_count);
            joint.w.setZero(T, node.column_count);
            joint.factor.setZero(node.column_count, node.column_count);
        }
    }
}

template <int D>
bool ArticulatedInertia<D>::factorize(const RelativeMotion<D>& motion, const VecX& q) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const MechanismBody<D>& body = m_.bodies[tree_.nodes[i].body];
        inertia_[i].linear = body.mass * Mat<D>::Identity();
        inertia_[i].mixed.setZero();
        inertia_[i].angular = world_inertia(body, motion.body[i]);
        if (nodes_[i].parent >= 0) arm_[i] = motion.body[i].position - motion.body[nodes_[i].parent].position;
    }
    for (int i = static_cast<int>(nodes_.size()) - 1; i >= 0; --i) {
        if (nodes_[i].column_count == 1) {
            factorize_single(motion, i);
        } else if (!factorize_general(motion, q, i)) {
            return false;
        }
        if (nodes_[i].parent >= 0) inertia_[nodes_[i].parent].add_moved(inertia_[i], arm_[i]);
    }
    return true;
}

template <int D>
void ArticulatedInertia<D>::factorize_single(const RelativeMotion<D>& motion, int node) {
    const int c = nodes_[node].first_column;
    SingleJoint& joint = single_[nodes_[node].place];
    joint.s << motion.column[c].u, motion.column[c].w;
    const TwistVec<D> u = inertia_[node].times(joint.s);
    joint.inverse = 1 / std::sqrt(joint.s.dot(u) + floor_[c]);
    joint.w = joint.inverse * u;
    inertia_[node].subtract_square(joint.w);
}

template <int D>
bool ArticulatedInertia<D>::factorize_general(const RelativeMotion<D>& motion, const VecX& q, int node) {
    const auto& [parent, first, count, place] = nodes_[node];
    Joint& joint = general_[place];
    for (int k = 0; k < count; ++k) {
        joint.s.col(k) << motion.column[first + k].u, motion.column[first + k].w;
        joint.w.col(k) = inertia_[node].times(joint.s.col(k));
    }
    Small& factor = joint.factor;
    for (int k = 0; k < count; ++k) {
        for (int j = 0; j <= k; ++j) factor(k, j) = joint.s.col(k).dot(joint.w.col(j));
        factor(k, k) += floor_[first + k];
    }
    const auto first_ball = std::lower_bound(tree_.ball_columns.begin(), tree_.ball_columns.end(), first);
    for (auto it = first_ball; it != tree_.ball_columns.end() && *it < first + count; ++it) {
        const double inertia = ball_inertia_[it - tree_.ball_columns.begin()];
        for (int k = 0; k < 4; ++k)
            for (int j = 0; j <= k; ++j) factor(*it - first + k, *it - first + j) += inertia * q[*it + k] * q[*it + j];
    }
    // Cholesky's method, column by column, and the columns of W along with it.
    for (int j = 0; j < count; ++j) {
        for (int k = 0; k < j; ++k) {
            for (int i = j; i < count; ++i) factor(i, j) -= factor(i, k) * factor(j, k);
            joint.w.col(j) -= factor(j, k) * joint.w.col(k);
        }
        if (!(factor(j, j) > 0)) return false;
        const double inverse = 1 / std::sqrt(factor(j, j));
        factor(j, j) = inverse;
        for (int i = j + 1; i < count; ++i) factor(i, j) *= inverse;
        joint.w.col(j) *= inverse;
        inertia_[node].subtract_square(joint.w.col(j));
    }
    return true;
}

// ---------------------------------------------------------------- solution

template <int D>
void ArticulatedInertia<D>::climb_node(int i, const double* b, double* u) {
    const auto& [parent, first, count, place] = nodes_[i];
    TwistVec<D> p = wrench_[i];
    if (count == 1) {
        const SingleJoint& joint = single_[place];
        u[0] = joint.inverse * (b[0] - joint.s.dot(p));
        p += joint.w * u[0];
    } else {
        const Joint& joint = general_[place];
        for (int k = 0; k < count; ++k) {
            double rest = b[k] - joint.s.col(k).dot(wrench_[i]);
            for (int j = 0; j < k; ++j) rest -= joint.factor(k, j) * u[j];
            u[k] = joint.factor(k, k) * rest;
            p += joint.w.col(k) * u[k];
        }
    }
    if (parent < 0) return;
    wrench_[parent] += p;
    wrench_[parent].template tail<A>() += moment<D>(arm_[i], Vec<D>(p.template head<D>()));
}

template <int D>
void ArticulatedInertia<D>::descend(VecX& u) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const auto& [parent, first, count, place] = nodes_[i];
        TwistVec<D> a = TwistVec<D>::Zero();
        if (parent >= 0) {
            a = acceleration_[parent];
            a.template head<D>() += cross<D>(AngularVec<D>(a.template tail<A>()), arm_[i]);
        }
        double* x = u.data() + first;
        if (count == 1) {
            const SingleJoint& joint = single_[place];
            x[0] = joint.inverse * (x[0] - joint.w.dot(a));
            a += joint.s * x[0];
        } else {
            const Joint& joint = general_[place];
            for (int k = 0; k < count; ++k) x[k] -= joint.w.col(k).dot(a);
            for (int k = count - 1; k >= 0; --k) {
                for (int j = k + 1; j < count; ++j) x[k] -= joint.factor(j, k) * x[j];
                x[k] *= joint.factor(k, k);
                a += joint.s.col(k) * x[k];
            }
        }
        acceleration_[i] = a;
    }
}

template <int D>
void ArticulatedInertia<D>::solve(VecX& b) {
    for (auto& wrench : wrench_) wrench.setZero();
    for (int i = static_cast<int>(nodes_.size()) - 1; i >= 0; --i) {
        double* own = b.data() + nodes_[i].first_column;
        climb_node(i, own, own);
    }
    descend(b);
}

template <int D>
TreeBranch ArticulatedInertia<D>::find_branch(std::span<const int> columns) {
    TreeBranch branch;
    for (const int column : columns)
        for (int i = tree_.node_of_column[column]; i >= 0 && !is_visited_[i]; i = nodes_[i].parent) {
            is_visited_[i] = true;
            branch.nodes.push_back(i);
        }
    for (const int i : branch.nodes) is_visited_[i] = false;
    std::sort(branch.nodes.begin(), branch.nodes.end(), std::greater<>());
    for (const int i : branch.nodes)
        for (int k = 0; k < nodes_[i].column_count; ++k) branch.columns.push_back(nodes_[i].first_column + k);
    return branch;
}

template <int D>
void ArticulatedInertia<D>::climb(const TreeBranch& branch, std::span<const int> columns, const double* values,
                                  double* u) {
    for (std::size_t k = 0; k < columns.size(); ++k) sparse_[columns[k]] = values[k];
    for (const int i : branch.nodes) wrench_[i].setZero();
    for (const int i : branch.nodes) {
        climb_node(i, sparse_.data() + nodes_[i].first_column, u);
        u += nodes_[i].column_count;
    }
    for (const int column : columns) sparse_[column] = 0;
}

template class ArticulatedInertia<2>;
template class ArticulatedInertia<3>;

}  // namespace limber
