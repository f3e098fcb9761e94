#pragma once
// Strains of an element of a beam from its nodes, their rates, and what stresses do to the nodes (beam_force.hpp has
// the equations), for plain numbers and for numbers with derivatives.

#include <array>
#include <cmath>

#include "limber/kinematics/forces/beam_force.hpp"
#include "limber/math/rotation_vector.hpp"

namespace limber {

template <int D, class T>
using VectorOf = Eigen::Matrix<T, D, 1>;
template <int D, class T>
using MatrixOf = Eigen::Matrix<T, D, D>;
/// Turns: one number in the plane, a vector in space.
template <int D>
inline constexpr int turn_size = D == 2 ? 1 : 3;
template <int D, class T>
using TurnOf = Eigen::Matrix<T, turn_size<D>, 1>;

template <int D, class T>
struct NodeMotion {
    VectorOf<D, T> place, velocity;
    MatrixOf<D, T> axes;
    TurnOf<D, T> turning;  ///< angular velocity
};

template <int D, class T>
struct NodeLoad {
    VectorOf<D, T> force = VectorOf<D, T>::Zero();
    TurnOf<D, T> moment = TurnOf<D, T>::Zero();
};

/// At one place after the other: move_to, then what is asked.
template <int D, class T>
class BeamElement {
public:
    using Vector = VectorOf<D, T>;
    using Turn = TurnOf<D, T>;
    using Strain = Eigen::Matrix<T, strain_size<D>, 1>;

    BeamElement(const BeamForce<D>& beam, const NodeMotion<D, T>* nodes)
        : count_(beam.node_count), centre_(beam.centre_node()), nodes_(nodes) {
        for (int k = 0; k < count_; ++k) {
            const MatrixOf<D, T> relative = nodes[centre_].axes.transpose() * nodes[k].axes;
            if constexpr (D == 2) {
                using std::atan2;
                turn_[k][0] = k == centre_ ? T(0) : atan2(relative(1, 0), relative(0, 0));
            } else {
                turn_[k] = k == centre_ ? Turn(Turn::Zero()) : Turn(log_rotation<T>(relative));
            }
        }
    }

    void move_to(const BeamPoint<D>& point) {
        point_ = &point;
        Vector tangent = Vector::Zero();
        turn_here_ = Turn::Zero();
        slope_ = Turn::Zero();
        for (int k = 0; k < count_; ++k) {
            tangent += nodes_[k].place * T(point.slope[k]);
            turn_here_ += turn_[k] * T(point.shape[k]);
            slope_ += turn_[k] * T(point.slope[k]);
        }
        if constexpr (D == 2) {
            using std::cos;
            using std::sin;
            const T c = cos(turn_here_[0]);
            const T s = sin(turn_here_[0]);
            exp_ << c, -s, s, c;
            curvature_ = slope_;
        } else {
            const auto c = stumpff_of<T>(turn_here_.squaredNorm());
            const Matrix3<T> turn = skew_of<T>(turn_here_);
            const Matrix3<T> square = turn * turn;
            const Matrix3<T> slope = skew_of<T>(slope_);
            exp_ = Matrix3<T>::Identity() + turn * c[1] + square * c[2];
            j_ = Matrix3<T>::Identity() - turn * c[2] + square * c[3];
            // How J changes along the beam: x' = 2 psi . psi'.
            const T x = T(2) * turn_here_.dot(slope_);
            const T c2 = x * (c[4] - T(0.5) * c[3]);
            const T c3 = x * T(0.5) * (T(3) * c[5] - c[4]);
            j_slope_ = square * c3 - turn * c2 - slope * c[2] + (slope * turn + turn * slope) * c[3];
            curvature_ = j_ * slope_;
        }
        axes_ = nodes_[centre_].axes * exp_;
        stretch_ = axes_.transpose() * tangent;
    }

    Strain strain() const {
        Strain strain;
        strain << stretch_, curvature_;
        return strain;
    }

    // What the velocities of the nodes make of the strains.
    Strain strain_rate() const {
        Vector tangent_rate = Vector::Zero();
        Turn rate = Turn::Zero(), rate_slope = Turn::Zero();
        for (int k = 0; k < count_; ++k) {
            tangent_rate += nodes_[k].velocity * T(point_->slope[k]);
            const Turn turn_rate = relative_rate(k);
            rate += turn_rate * T(point_->shape[k]);
            rate_slope += turn_rate * T(point_->slope[k]);
        }
        Strain strain;
        if constexpr (D == 2) {
            const T spin = rate[0] + nodes_[centre_].turning[0];
            strain << Vector(axes_.transpose() * tangent_rate) + spin * Vector(stretch_[1], -stretch_[0]), rate_slope;
        } else {
            const Turn turned = j_ * rate;
            const Turn spin = turned + exp_.transpose() * (nodes_[centre_].axes.transpose() * nodes_[centre_].turning);
            strain << Vector(axes_.transpose() * tangent_rate + stretch_.cross(spin)),
                Turn(j_ * rate_slope + j_slope_ * rate + curvature_.cross(turned));
        }
        return strain;
    }

    // The nodes' part of what these stresses do here, against the strains.
    void add_loads(const Strain& stress, NodeLoad<D, T>* loads) const {
        const T weight(-point_->length);
        const Vector n = stress.template head<D>() * weight;
        const Turn m = stress.template tail<turn_size<D>>() * weight;
        const Vector force = axes_ * n;
        Turn by_turn, by_slope, common;
        if constexpr (D == 2) {
            common[0] = n[0] * stretch_[1] - n[1] * stretch_[0];
            by_turn = common;
            by_slope = m;
        } else {
            const Turn bend = n.cross(stretch_);
            by_turn = j_.transpose() * (bend + m.cross(curvature_)) + j_slope_.transpose() * m;
            by_slope = j_.transpose() * m;
            common = axes_ * bend;
        }
        loads[centre_].moment += common;
        for (int k = 0; k < count_; ++k) {
            loads[k].force += force * T(point_->slope[k]);
            if (k == centre_) continue;
            const Turn moment = by_relative_turn(k, by_turn * T(point_->shape[k]) + by_slope * T(point_->slope[k]));
            loads[k].moment += moment;
            loads[centre_].moment -= moment;
        }
    }

private:
    // J^-T of space, applied to a moment in the axes of the centre node and turned into the world's.
    Turn by_relative_turn(int k, const Turn& moment) const {
        if constexpr (D == 2) {
            return moment;
        } else {
            const Turn& psi = turn_[k];
            const T factor = inverse_factor(psi);
            const Turn once = psi.cross(moment);
            return nodes_[centre_].axes * (moment + T(0.5) * once + factor * psi.cross(once));
        }
    }
    Turn relative_rate(int k) const {
        if (k == centre_) return Turn::Zero();
        const Turn spin = nodes_[k].turning - nodes_[centre_].turning;
        if constexpr (D == 2) {
            return spin;
        } else {
            const Turn local = nodes_[centre_].axes.transpose() * spin;
            const Turn& psi = turn_[k];
            const Turn once = psi.cross(local);
            return local - T(0.5) * once + inverse_factor(psi) * psi.cross(once);
        }
    }
    static T inverse_factor(const Turn& psi) {
        const auto c = stumpff_of<T>(psi.squaredNorm());
        return (c[3] - T(2) * c[4]) / (T(2) * c[2]);
    }

    int count_, centre_;
    const NodeMotion<D, T>* nodes_;
    std::array<Turn, max_beam_nodes> turn_;  // psi_k
    const BeamPoint<D>* point_ = nullptr;
    Turn turn_here_, slope_, curvature_;
    MatrixOf<D, T> exp_, axes_, j_, j_slope_;
    Vector stretch_;  // R^T r'
};

}  // namespace limber
