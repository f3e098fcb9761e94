#include "limber/kinematics/relative/relative_coordinates.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "limber/math/dense_factors.hpp"

namespace limber {
namespace {

using Kind = JointMotion::Kind;

// Multiplies axes from the right by a turn about one of them.
template <int D>
void turn(Mat<D>& axes, int axis, double angle) {
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    const int i = D == 2 ? 0 : (axis + 1) % 3;
    const int j = D == 2 ? 1 : (axis + 2) % 3;
    const Vec<D> first = axes.col(i);
    axes.col(i) = c * first + s * axes.col(j);
    axes.col(j) = c * axes.col(j) - s * first;
}

template <int D>
AngularVec<D> axis_of(const Mat<D>& axes, int axis) {
    if constexpr (D == 2) {
        return AngularVec<2>(1.0);
    } else {
        return axes.col(axis);
    }
}

Mat3 rotation_of(const Eigen::Vector4d& p) {
    return Quat(p[0], p[1], p[2], p[3]).normalized().toRotationMatrix();
}

// Column k of E(p) = [-e, e0 I + ~e].
Vec3 e_column(const Eigen::Vector4d& p, int k) {
    switch (k) {
        case 0: return {-p[1], -p[2], -p[3]};
        case 1: return {p[0], p[3], -p[2]};
        case 2: return {-p[3], p[0], p[1]};
        default: return {p[2], -p[1], p[0]};
    }
}

}  // namespace

template <int D>
RelativeCoordinates<D>::RelativeCoordinates(const Mechanism<D>& mechanism, RelativeTree<D> tree)
    : m_(mechanism), tree_(std::move(tree)) {}

template <int D>
RelativeMotion<D> RelativeCoordinates<D>::make_motion() const {
    RelativeMotion<D> motion;
    prepare(motion);
    return motion;
}

template <int D>
void RelativeCoordinates<D>::prepare(RelativeMotion<D>& motion) const {
    motion.body.assign(tree_.nodes.size(), {});
    motion.bias.assign(tree_.nodes.size(), TwistVec<D>::Zero());
    motion.twist_rate = motion.bias;
    motion.column.assign(tree_.columns, {});
    motion.frame_end.assign(tree_.nodes.size(), Vec<D>::Zero());
    motion.ball_axes.assign(tree_.ball_columns.size(), Mat<D>::Identity());
}

template <int D>
void RelativeCoordinates<D>::update_positions(const VecX& q, RelativeMotion<D>& m) const {
    int ball = 0;
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
        const TreeNode<D>& node = tree_.nodes[i];
        Vec<D> x = node.parent_point;
        Mat<D> axes = node.parent_axes;
        if (node.parent >= 0) {
            const BodyState<D>& parent = m.body[node.parent];
            x = parent.position + parent.axes * x;
            axes = parent.axes * axes;
        }
        int c = node.first_column;
        for (const JointMotion& motion : node.motions) {
            RelativeColumn<D>& column = m.column[c];
            column.point = x;
            switch (motion.kind) {
                case Kind::turn:
                    column.w = axis_of<D>(axes, motion.axis);
                    turn<D>(axes, motion.axis, q[c]);
                    break;
                case Kind::slide:
                    column.axis = axes.col(motion.axis);
                    x += q[c] * column.axis;
                    break;
                case Kind::screw:
                    column.axis = axes.col(motion.axis);
                    column.w = axis_of<D>(axes, motion.axis);
                    x += (motion.offset + motion.rise * q[c]) * column.axis;
                    turn<D>(axes, motion.axis, q[c]);
                    break;
                case Kind::ball:
                    if constexpr (D == 3) {
                        const Eigen::Vector4d p = q.template segment<4>(c);
                        const double factor = 2 / p.squaredNorm();
                        for (int k = 0; k < 4; ++k) {
                            m.column[c + k].w = axes * (factor * e_column(p, k));
                            m.column[c + k].point = x;
                        }
                        m.ball_axes[ball++] = axes;
                        axes = axes * rotation_of(p);
                        c += 3;
                    }
                    break;
            }
            ++c;
        }
        BodyState<D>& body = m.body[i];
        body.axes = axes * node.axes.transpose();
        body.position = x - body.axes * node.point;
        m.frame_end[i] = x;
        c = node.first_column;
        for (const JointMotion& motion : node.motions) {
            const int count = motion.kind == Kind::ball ? 4 : 1;
            for (int k = 0; k < count; ++k, ++c) {
                RelativeColumn<D>& column = m.column[c];
                if (motion.kind == Kind::slide) {
                    column.u = column.axis;
                } else {
                    column.u = cross<D>(column.w, body.position - column.point);
                    if (motion.kind == Kind::screw) column.u += motion.rise * column.axis;
                }
            }
        }
    }
}

template <int D>
void RelativeCoordinates<D>::update_velocities(const VecX& q, const VecX& v, RelativeMotion<D>& m) const {
    constexpr int A = angular_size<D>;
    int ball = 0;
    const TwistVec<D> at_rest = TwistVec<D>::Zero();
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
        const TreeNode<D>& node = tree_.nodes[i];
        const BodyState<D>& parent = node.parent >= 0 ? m.body[node.parent] : ground_;
        const TwistVec<D>& parent_bias = node.parent >= 0 ? m.bias[node.parent] : at_rest;
        const int first = node.first_column;
        AngularVec<D> omega = parent.angular_velocity;
        Vec<D> x_rate = parent.velocity;
        if (node.parent >= 0) x_rate += cross<D>(omega, parent.axes * node.parent_point);
        int c = first;
        for (const JointMotion& motion : node.motions) {
            RelativeColumn<D>& column = m.column[c];
            column.point_rate = x_rate;
            switch (motion.kind) {
                case Kind::turn:
                    column.w_rate = bracket<D>(omega, column.w);
                    omega += v[c] * column.w;
                    break;
                case Kind::slide:
                    column.u_rate = cross<D>(omega, column.axis);
                    x_rate += q[c] * column.u_rate + v[c] * column.axis;
                    break;
                case Kind::screw: {
                    const Vec<D> axis_rate = cross<D>(omega, column.axis);
                    column.w_rate = bracket<D>(omega, column.w);
                    column.u_rate = motion.rise * axis_rate;  // completed below
                    x_rate += (motion.offset + motion.rise * q[c]) * axis_rate + motion.rise * v[c] * column.axis;
                    omega += v[c] * column.w;
                    break;
                }
                case Kind::ball:
                    if constexpr (D == 3) {
                        const Eigen::Vector4d p = q.template segment<4>(c);
                        const Eigen::Vector4d p_rate = v.template segment<4>(c);
                        const double n = p.squaredNorm();
                        const double n_rate = 2 * p.dot(p_rate);
                        const Mat3& axes = m.ball_axes[ball++];
                        Vec3 own = Vec3::Zero();
                        for (int k = 0; k < 4; ++k) {
                            RelativeColumn<D>& part = m.column[c + k];
                            part.point_rate = x_rate;
                            part.w_rate =
                                omega.cross(part.w) + axes * (2 / n * e_column(p_rate, k)) - n_rate / n * part.w;
                            own += v[c + k] * part.w;
                        }
                        omega += own;
                        c += 3;
                    }
                    break;
            }
            ++c;
        }
        BodyState<D>& body = m.body[i];
        body.angular_velocity = omega;
        body.velocity = x_rate + cross<D>(omega, body.position - m.frame_end[i]);
        const Vec<D> r = body.position - parent.position;
        const AngularVec<D> parent_alpha = parent_bias.template tail<A>();
        AngularVec<D> alpha = parent_alpha;
        Vec<D> relative = Vec<D>::Zero();
        Vec<D> acceleration = parent_bias.template head<D>();
        if (node.parent >= 0)
            acceleration +=
                cross<D>(parent_alpha, r) + cross<D>(parent.angular_velocity, cross<D>(parent.angular_velocity, r));
        c = first;
        for (const JointMotion& motion : node.motions) {
            const int count = motion.kind == Kind::ball ? 4 : 1;
            for (int k = 0; k < count; ++k, ++c) {
                RelativeColumn<D>& column = m.column[c];
                if (motion.kind != Kind::slide) {
                    const Vec<D> turned = cross<D>(column.w_rate, body.position - column.point) +
                                          cross<D>(column.w, body.velocity - column.point_rate);
                    if (motion.kind == Kind::screw) {
                        column.u_rate += turned;
                    } else {
                        column.u_rate = turned;
                    }
                    alpha += v[c] * column.w_rate;
                }
                relative += v[c] * column.u;
                acceleration += v[c] * column.u_rate;
            }
        }
        if (node.parent >= 0) acceleration += cross<D>(parent.angular_velocity, relative);
        m.bias[i].template head<D>() = acceleration;
        m.bias[i].template tail<A>() = alpha;
    }
}

template <int D>
void RelativeCoordinates<D>::update_twist_rates(const VecX& a, RelativeMotion<D>& m) const {
    constexpr int A = angular_size<D>;
    // What the accelerations add to the biases travels down the tree like a velocity.
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
        const TreeNode<D>& node = tree_.nodes[i];
        TwistVec<D> sum = TwistVec<D>::Zero();
        if (node.parent >= 0) {
            sum = m.twist_rate[node.parent] - m.bias[node.parent];
            sum.template head<D>() += cross<D>(AngularVec<D>(sum.template tail<A>()),
                                               Vec<D>(m.body[i].position - m.body[node.parent].position));
        }
        for (int c = node.first_column; c < node.first_column + node.column_count; ++c) {
            sum.template head<D>() += a[c] * m.column[c].u;
            sum.template tail<A>() += a[c] * m.column[c].w;
        }
        m.twist_rate[i] = m.bias[i] + sum;
    }
}

template <int D>
void RelativeCoordinates<D>::update_second_derivatives(const VecX& q, const VecX& v, const VecX& a,
                                                       RelativeMotion<D>& m) const {
    constexpr int A = angular_size<D>;
    int ball = 0;
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
        const TreeNode<D>& node = tree_.nodes[i];
        AngularVec<D> omega = AngularVec<D>::Zero();
        AngularVec<D> alpha = AngularVec<D>::Zero();
        Vec<D> x_second = Vec<D>::Zero();
        if (node.parent >= 0) {
            const BodyState<D>& parent = m.body[node.parent];
            const Vec<D> arm = parent.axes * node.parent_point;
            omega = parent.angular_velocity;
            alpha = m.twist_rate[node.parent].template tail<A>();
            x_second = m.twist_rate[node.parent].template head<D>() + cross<D>(alpha, arm) +
                       cross<D>(omega, cross<D>(omega, arm));
        }
        int c = node.first_column;
        for (const JointMotion& motion : node.motions) {
            RelativeColumn<D>& column = m.column[c];
            column.point_second = x_second;
            const auto advance = [&](double distance, double rate, double second) {
                const Vec<D> axis_rate = cross<D>(omega, column.axis);
                const Vec<D> axis_second = cross<D>(alpha, column.axis) + cross<D>(omega, axis_rate);
                x_second += distance * axis_second + 2 * rate * axis_rate + second * column.axis;
                return axis_second;
            };
            const auto turn_by = [&](const RelativeColumn<D>& part, double rate, double second) {
                alpha += rate * part.w_rate + second * part.w;
                omega += rate * part.w;
            };
            switch (motion.kind) {
                case Kind::turn:
                    column.w_second = bracket<D>(alpha, column.w) + bracket<D>(omega, column.w_rate);
                    turn_by(column, v[c], a[c]);
                    break;
                case Kind::slide: column.u_second = advance(q[c], v[c], a[c]); break;
                case Kind::screw:
                    column.w_second = bracket<D>(alpha, column.w) + bracket<D>(omega, column.w_rate);
                    column.u_second = motion.rise * advance(motion.offset + motion.rise * q[c], motion.rise * v[c],
                                                            motion.rise * a[c]);
                    turn_by(column, v[c], a[c]);
                    break;
                case Kind::ball:
                    if constexpr (D == 3) {
                        const Eigen::Vector4d p = q.template segment<4>(c);
                        const Eigen::Vector4d p1 = v.template segment<4>(c);
                        const Eigen::Vector4d p2 = a.template segment<4>(c);
                        const double n = p.squaredNorm();
                        const double n1 = 2 * p.dot(p1);
                        const double n2 = 2 * (p.dot(p2) + p1.squaredNorm());
                        const Mat3& axes = m.ball_axes[ball++];
                        for (int k = 0; k < 4; ++k) {
                            RelativeColumn<D>& part = m.column[c + k];
                            part.point_second = x_second;
                            const Vec3 local1 = 2 / n * e_column(p1, k) - 2 * n1 / (n * n) * e_column(p, k);
                            const Vec3 local2 = 2 / n * e_column(p2, k) - 4 * n1 / (n * n) * e_column(p1, k) +
                                                2 * (2 * n1 * n1 / (n * n * n) - n2 / (n * n)) * e_column(p, k);
                            part.w_second = alpha.cross(part.w) + omega.cross(omega.cross(part.w)) +
                                            2 * omega.cross(axes * local1) + axes * local2;
                        }
                        for (int k = 0; k < 4; ++k) turn_by(m.column[c + k], v[c + k], a[c + k]);
                        c += 3;
                    }
                    break;
            }
            ++c;
        }
        const BodyState<D>& body = m.body[i];
        const Vec<D> centre_second = m.twist_rate[i].template head<D>();
        c = node.first_column;
        for (const JointMotion& motion : node.motions) {
            const int count = motion.kind == Kind::ball ? 4 : 1;
            for (int k = 0; k < count; ++k, ++c) {
                if (motion.kind == Kind::slide) continue;
                RelativeColumn<D>& column = m.column[c];
                const Vec<D> turned = cross<D>(column.w_second, body.position - column.point) +
                                      2 * cross<D>(column.w_rate, body.velocity - column.point_rate) +
                                      cross<D>(column.w, centre_second - column.point_second);
                if (motion.kind == Kind::screw) {
                    column.u_second += turned;
                } else {
                    column.u_second = turned;
                }
            }
        }
    }
}

template <int D>
Vec3 RelativeCoordinates<D>::ball_curvature(int ball, int k, int l, const VecX& q, const RelativeMotion<D>& m) const {
    if constexpr (D == 2) {
        return Vec3::Zero();
    } else {
        const Eigen::Vector4d p = q.template segment<4>(tree_.ball_columns[ball]);
        const double n = p.squaredNorm();
        return m.ball_axes[ball] *
               (2 / n * e_column(Eigen::Vector4d::Unit(l), k) - 4 * p[l] / (n * n) * e_column(p, k));
    }
}

// ---------------------------------------------------------------- bodies

template <int D>
void RelativeCoordinates<D>::import_states(const BodyStates<D>& states, VecX& q, VecX& v) const {
    q = v = VecX::Zero(tree_.columns);
    for (const TreeNode<D>& node : tree_.nodes) {
        const BodyState<D>& body = states[node.body];
        Vec<D> x = node.parent_point;
        Mat<D> axes = node.parent_axes;
        if (node.parent >= 0) {
            const BodyState<D>& parent = states[tree_.nodes[node.parent].body];
            x = parent.position + parent.axes * x;
            axes = parent.axes * axes;
        }
        // What is left to do, seen from the joint's moving frame.
        Mat<D> left = axes.transpose() * body.axes * node.axes;
        Vec<D> way = axes.transpose() * (body.position + body.axes * node.point - x);
        int c = node.first_column;
        const auto angle_about = [&](int axis, std::size_t index) {
            if constexpr (D == 2) {
                return std::atan2(left(1, 0), left(0, 0));
            } else {
                // A column that the turns still to come leave alone.
                int j = (axis + 1) % 3;
                if (index + 1 < node.motions.size() && node.motions[index + 1].kind == Kind::turn)
                    j = node.motions[index + 1].axis;
                const Vec3 side = Vec3::Unit(axis).cross(Vec3::Unit(j));
                return std::atan2(left.col(j).dot(side), left(j, j));
            }
        };
        const auto turn_back = [&](const Mat<D>& rotation) {
            left = rotation.transpose() * left;
            way = rotation.transpose() * way;
        };
        for (std::size_t i = 0; i < node.motions.size(); ++i) {
            const JointMotion& motion = node.motions[i];
            Mat<D> rotation = Mat<D>::Identity();
            switch (motion.kind) {
                case Kind::turn:
                    q[c] = angle_about(motion.axis, i);
                    turn<D>(rotation, motion.axis, q[c]);
                    turn_back(rotation);
                    break;
                case Kind::slide:
                    q[c] = way[motion.axis];
                    way[motion.axis] = 0;
                    break;
                case Kind::screw: {
                    q[c] = angle_about(motion.axis, i);
                    // The advance tells how many turns there were.
                    if (motion.rise != 0) {
                        const double by_advance = (way[motion.axis] - motion.offset) / motion.rise;
                        q[c] += 2 * pi * std::round((by_advance - q[c]) / (2 * pi));
                    }
                    way[motion.axis] -= motion.offset + motion.rise * q[c];
                    turn<D>(rotation, motion.axis, q[c]);
                    turn_back(rotation);
                    break;
                }
                case Kind::ball:
                    if constexpr (D == 3) {
                        const Quat p(left);
                        q.template segment<4>(c) = Eigen::Vector4d(p.w(), p.x(), p.y(), p.z());
                        turn_back(Mat3(left));  // a copy: it is turned back itself
                        c += 3;
                    }
                    break;
            }
            ++c;
        }
    }
    // Rates: what each joint must add to the twist that its parent gives.
    RelativeMotion<D> motion = make_motion();
    update_positions(q, motion);
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
        const TreeNode<D>& node = tree_.nodes[i];
        if (node.column_count == 0) continue;
        const BodyState<D>& body = states[node.body];
        TwistVec<D> twist;
        twist << body.velocity, body.angular_velocity;
        if (node.parent >= 0) {
            const BodyState<D>& parent = states[tree_.nodes[node.parent].body];
            twist.template head<D>() -=
                parent.velocity + cross<D>(parent.angular_velocity, body.position - parent.position);
            twist.template tail<angular_size<D>>() -= parent.angular_velocity;
        }
        v.segment(node.first_column, node.column_count) = share_out(node, motion, twist);
    }
}

template <int D>
VecX RelativeCoordinates<D>::share_out(const TreeNode<D>& node, const RelativeMotion<D>& motion,
                                       const TwistVec<D>& twist) const {
    Eigen::MatrixXd columns(twist_size<D>, node.column_count);
    for (int k = 0; k < node.column_count; ++k) {
        const RelativeColumn<D>& column = motion.column[node.first_column + k];
        columns.col(k) << column.u, column.w;
    }
    return solve_least_norm(columns, VecX(twist));
}

// As update_twist_rates(), the other way round. Four Euler parameters turn a body in three ways: of their accelerations
// that do so, the smallest, and along p what keeps its length.
template <int D>
void RelativeCoordinates<D>::import_twist_rates(const BodyStates<D>& /*states*/, const std::vector<TwistVec<D>>& rates,
                                                const VecX& q, const VecX& v, VecX& a) const {
    RelativeMotion<D> m = make_motion();
    update_positions(q, m);
    update_velocities(q, v, m);
    a = VecX::Zero(tree_.columns);
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
        const TreeNode<D>& node = tree_.nodes[i];
        TwistVec<D> added = rates[node.body] - m.bias[i];
        if (node.parent >= 0) {
            const TwistVec<D> above = rates[tree_.nodes[node.parent].body] - m.bias[node.parent];
            added -= above;
            added.template head<D>() -= cross<D>(AngularVec<D>(above.template tail<angular_size<D>>()),
                                                 Vec<D>(m.body[i].position - m.body[node.parent].position));
        }
        if (node.column_count > 0) a.segment(node.first_column, node.column_count) = share_out(node, m, added);
    }
    for (const int c : tree_.ball_columns) {
        const Eigen::Vector4d p = q.template segment<4>(c);
        a.template segment<4>(c) -= v.template segment<4>(c).squaredNorm() / p.squaredNorm() * p;
    }
}

template <int D>
void RelativeCoordinates<D>::export_states(const VecX& q, const VecX& v, BodyStates<D>& states) const {
    // Asked for in every step where there are stops or components: no memory is to be made for it.
    thread_local RelativeMotion<D> motion;
    prepare(motion);
    update_positions(q, motion);
    update_velocities(q, v, motion);
    states.resize(tree_.nodes.size());
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) states[tree_.nodes[i].body] = motion.body[i];
}

template <int D>
std::vector<std::string> RelativeCoordinates<D>::describe() const {
    std::vector<std::string> notes;
    std::vector<std::string> closures;
    for (std::size_t e = 0; e < m_.elements.size(); ++e)
        if (!tree_.is_tree_element[e] && m_.elements[e].role == ElementRole::joint)
            closures.push_back(m_.elements[e].name);
    if (!closures.empty()) notes.push_back(fmt::format("kept by their equations: {}", fmt::join(closures, ", ")));
    for (const TreeNode<D>& node : tree_.nodes) {
        const std::string parent = node.parent < 0 ? "ground" : m_.bodies[tree_.nodes[node.parent].body].name;
        notes.push_back(node.element < 0 ? fmt::format("{} floats", m_.bodies[node.body].name)
                                         : fmt::format("{} on {} by '{}'", m_.bodies[node.body].name, parent,
                                                       m_.elements[node.element].name));
    }
    return notes;
}

template class RelativeCoordinates<2>;
template class RelativeCoordinates<3>;

}  // namespace limber
