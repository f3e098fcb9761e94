// The tangent of a relative system: how inertia, applied and constraint forces change with positions and velocities.

#include <algorithm>

#include "limber/dynamics/system/relative_scratch.hpp"
#include "limber/math/rotation.hpp"

namespace limber {
namespace {

template <int D>
AngularVec<D> transposed_turn(const Mat<D>& dyad, const AngularVec<D>& w) {
    // sum (w x r) x g = B w - w tr B with B = sum r g^T
    if constexpr (D == 2) {
        return AngularVec<2>(-w[0] * dyad.trace());
    } else {
        return dyad * w - dyad.trace() * w;
    }
}

// sum r x (w x r') = (tr P - P) w with P = sum r' r^T, and its transpose.
template <int D>
AngularVec<D> turned(const Mat<D>& dyad, const AngularVec<D>& w) {
    if constexpr (D == 2) {
        return AngularVec<2>(w[0] * dyad.trace());
    } else {
        return dyad.trace() * w - dyad * w;
    }
}
template <int D>
AngularVec<D> turned_back(const Mat<D>& dyad, const AngularVec<D>& w) {
    if constexpr (D == 2) {
        return AngularVec<2>(w[0] * dyad.trace());
    } else {
        return dyad.trace() * w - dyad.transpose() * w;
    }
}

// The force g on a feature, as a load and as a dyad of arm and load about a centre.
template <int D>
void add_load(const Feature<D>& feature, const Vec<D>& value, const Vec<D>& centre, const Vec<D>& g, Vec<D>& load,
              Mat<D>& dyad) {
    if (feature.is_point) load += g;
    dyad += (feature.is_point ? Vec<D>(value - centre) : value) * g.transpose();
}

}  // namespace

template <int D>
void RelativeSystem<D>::compute_jacobian(const Scratch& s, int feature, const TreeReach& reach, int index, MatX& j,
                                         MatX* j_rate) const {
    const RelativeTree<D>& tree = coordinates_.tree();
    const Feature<D>& f = this->mechanism_->features[feature];
    int k = 0;
    for (int node = reach.nodes[index]; node != reach.ancestor; node = tree.nodes[node].parent) {
        const TreeNode<D>& at = tree.nodes[node];
        const BodyState<D>& body = s.motion.body[node];
        const Vec<D> arm = f.is_point ? Vec<D>(s.features.value[feature] - body.position) : s.features.value[feature];
        const Vec<D> arm_rate =
            f.is_point ? Vec<D>(s.features.rate[feature] - body.velocity) : s.features.rate[feature];
        for (int c = at.first_column; c < at.first_column + at.column_count; ++c, ++k) {
            const RelativeColumn<D>& column = s.motion.column[c];
            j.col(k) = cross<D>(column.w, arm);
            if (f.is_point) j.col(k) += column.u;
            if (j_rate == nullptr) continue;
            j_rate->col(k) = cross<D>(column.w_rate, arm) + cross<D>(column.w, arm_rate);
            if (f.is_point) j_rate->col(k) += column.u_rate;
        }
    }
}

// The geometric tangent (see below) of an element that acts within a subtree, on the columns it concerns.
template <int D>
void RelativeSystem<D>::add_internal_geometric(const Scratch& s, const TreeReach& reach, const int* features,
                                               const Vec<D>* gradients, double weight, const std::vector<int>& place,
                                               std::vector<double>& values) const {
    const RelativeTree<D>& tree = coordinates_.tree();
    const int stride = static_cast<int>(reach.columns.size());
    for (std::size_t n = 0; n < reach.nodes.size(); ++n) {
        int node = reach.nodes[n];
        Vec<D> load = Vec<D>::Zero();
        Mat<D> dyad = Mat<D>::Zero();
        for (std::size_t k = 0; k < reach.slot_node.size(); ++k) {
            if (reach.slot_node[k] != static_cast<int>(n)) continue;
            add_load(this->mechanism_->features[features[k]], s.features.value[features[k]],
                     s.motion.body[node].position, gradients[k], load, dyad);
        }
        const std::vector<int>& places = reach.places[n];
        std::size_t from = 0;
        while (node != reach.ancestor) {
            const TreeNode<D>& at = tree.nodes[node];
            for (int k = 0; k < at.column_count; ++k) {
                const RelativeColumn<D>& column = s.motion.column[at.first_column + k];
                const AngularVec<D> y = weight * (moment<D>(column.u, load) + transposed_turn<D>(dyad, column.w));
                const int* row = place.data() + static_cast<std::ptrdiff_t>(places[from + k]) * stride;
                for (int c = 0; c <= k; ++c)
                    values[row[places[from + c]]] += s.motion.column[at.first_column + c].w.dot(y);
                for (std::size_t c = from + at.column_count; c < places.size(); ++c)
                    values[row[places[c]]] += s.motion.column[reach.columns[places[c]]].w.dot(y);
            }
            from += at.column_count;
            if (at.parent >= 0)
                dyad += (s.motion.body[node].position - s.motion.body[at.parent].position) * load.transpose();
            node = at.parent;
        }
    }
}

template <int D>
void RelativeSystem<D>::add_row_tangent(Scratch& s, int index, double weight, std::vector<double>& values) const {
    const Row& row = rows_.rows[index];
    const TreeReach& reach = row_reach_[index];
    const std::vector<int>& place = row_place_[index];
    const int stride = static_cast<int>(reach.columns.size());
    MeasureHessian<D> hessian;
    int slot = 0;
    for (int k = row.first_term; k < row.first_term + row.term_count; ++k) {
        const Measure<D>& m = rows_.measures[rows_.terms[k].measure];
        compute_hessian(m, context(s), hessian);
        for (int i = 0; i < m.count; ++i)
            if (reach.slot_node[slot + i] >= 0)
                compute_jacobian(s, m.feature[i], reach, reach.slot_node[slot + i], s.jacobian_of[i], nullptr);
        for (int i = 0; i < m.count; ++i) {
            const int a = reach.slot_node[slot + i];
            if (a < 0) continue;
            const std::vector<int>& to = reach.places[a];
            for (int j = 0; j < m.count; ++j) {
                const int b = reach.slot_node[slot + j];
                if (b < 0) continue;
                const Mat<D> block = weight * rows_.terms[k].coefficient * hessian.block[i][j];
                if (block.isZero(0)) continue;
                const std::vector<int>& from = reach.places[b];
                for (std::size_t p = 0; p < to.size(); ++p) {
                    const Vec<D> left = block.transpose() * s.jacobian_of[i].col(static_cast<Eigen::Index>(p));
                    for (std::size_t r = 0; r < from.size(); ++r)
                        values[place[to[p] * stride + from[r]]] +=
                            (to[p] == from[r] ? 1.0 : 0.5) *
                            left.dot(s.jacobian_of[j].col(static_cast<Eigen::Index>(r)));
                }
            }
        }
        slot += m.count;
    }
    if (reach.ancestor >= 0)
        add_internal_geometric(s, reach, rows_.slot_feature.data() + row.first_slot,
                               s.row_values.gradient.data() + row.first_slot, weight, place, values);
}

template <int D>
void RelativeSystem<D>::add_force_tangent(Scratch& s, int index, double damping_weight, double stiffness_weight,
                                          std::vector<double>& values) const {
    const Mechanism<D>& m = *this->mechanism_;
    const auto& element = m.forces.elements[index];
    const TreeReach& reach = force_reach_[index];
    const std::vector<int>& place = force_place_[index];
    if (!m.forces.compute_blocks(index, m.constraints.measures, context(s), s.t, s.blocks,
                                 s.prediction.empty() ? nullptr : s.prediction.data()))
        return;
    const int stride = static_cast<int>(reach.columns.size());
    const int* slots = m.forces.slot_feature.data() + element.first_slot;
    for (int i = 0; i < element.slot_count; ++i)
        if (reach.slot_node[i] >= 0)
            compute_jacobian(s, slots[i], reach, reach.slot_node[i], s.jacobian_of[i], &s.rate_jacobian_of[i]);
    for (int i = 0; i < element.slot_count; ++i) {
        if (reach.slot_node[i] < 0) continue;
        const std::vector<int>& to = reach.places[reach.slot_node[i]];
        for (int j = 0; j < element.slot_count; ++j) {
            if (reach.slot_node[j] < 0) continue;
            const std::vector<int>& from = reach.places[reach.slot_node[j]];
            const Mat<D> by_value = stiffness_weight * s.blocks.k(i, j) + damping_weight * s.blocks.c(i, j);
            const Mat<D> by_rate = stiffness_weight * s.blocks.c(i, j);
            const bool is_damped = !by_rate.isZero(0);
            if (!is_damped && by_value.isZero(0)) continue;
            for (std::size_t p = 0; p < to.size(); ++p) {
                const auto column = s.jacobian_of[i].col(static_cast<Eigen::Index>(p));
                const Vec<D> left = by_value.transpose() * column;
                const Vec<D> left_rate = by_rate.transpose() * column;
                for (std::size_t r = 0; r < from.size(); ++r) {
                    const auto other = static_cast<Eigen::Index>(r);
                    double value = left.dot(s.jacobian_of[j].col(other));
                    if (is_damped) value += left_rate.dot(s.rate_jacobian_of[j].col(other));
                    values[place[to[p] * stride + from[r]]] += (to[p] == from[r] ? 1.0 : 0.5) * value;
                }
            }
        }
    }
}

// Forces that keep their direction while the bodies turn: with all gradients g (of inertia, applied and constraint
// forces) held,
//   d/dq_c of sum J_d(f) . g  =  w_c . sum J_d(f) x g     for c before d on the way from the root.
template <int D>
void RelativeSystem<D>::accumulate_loads(Scratch& s, const VecX& row_force) const {
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    const Vec<D> gravity = m.gravity_at(s.t);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const MechanismBody<D>& body = m.bodies[tree.nodes[i].body];
        const TwistVec<D>& rate = s.motion.twist_rate[i];
        const AngularVec<D>& omega = s.motion.body[i].angular_velocity;
        s.load[i] = body.mass * (rate.template head<D>() - gravity);
        if constexpr (D == 2) {
            s.dyad[i] = -0.5 * omega[0] * omega[0] * body.inertia(0, 0) * Mat2::Identity();
        } else {
            const Mat3 inertia = world_inertia(body, s.motion.body[i]);
            const Mat3 second_moment = 0.5 * inertia.trace() * Mat3::Identity() - inertia;
            const Mat3 turning = skew(rate.template tail<3>()) + skew(omega) * skew(omega);
            s.dyad[i] = second_moment * turning.transpose();
        }
    }
    const auto add = [&](int node, int feature, const Vec<D>& gradient, std::vector<Vec<D>>& load,
                         std::vector<Mat<D>>& dyad) {
        add_load(m.features[feature], s.features.value[feature], s.motion.body[node].position, gradient, load[node],
                 dyad[node]);
    };
    const auto accumulate = [&](std::vector<Vec<D>>& load, std::vector<Mat<D>>& dyad) {
        for (std::size_t i = tree.nodes.size(); i-- > 0;) {
            const int parent = tree.nodes[i].parent;
            if (parent < 0) continue;
            const Vec<D> r = s.motion.body[i].position - s.motion.body[parent].position;
            load[parent] += load[i];
            dyad[parent] += dyad[i] + r * load[i].transpose();
        }
    };
    const auto for_each_slot = [&](bool is_internal, const auto& visit) {
        for (std::size_t e = 0; e < force_reach_.size(); ++e) {
            const TreeReach& reach = force_reach_[e];
            if ((reach.ancestor >= 0) != is_internal) continue;
            const int first = m.forces.elements[e].first_slot;
            for (std::size_t k = 0; k < reach.slot_node.size(); ++k)
                if (reach.slot_node[k] >= 0)
                    visit(reach.nodes[reach.slot_node[k]], m.forces.slot_feature[first + k],
                          Vec<D>(-s.slot_force[first + k]));
        }
        for (std::size_t i = 0; i < rows_.rows.size(); ++i) {
            const TreeReach& reach = row_reach_[i];
            const double multiplier = row_force[balls_ + static_cast<int>(i)];
            if ((reach.ancestor >= 0) != is_internal || multiplier == 0 || !rows_.rows[i].is_holonomic()) continue;
            const int first = rows_.rows[i].first_slot;
            for (std::size_t k = 0; k < reach.slot_node.size(); ++k)
                if (reach.slot_node[k] >= 0)
                    visit(reach.nodes[reach.slot_node[k]], rows_.slot_feature[first + k],
                          Vec<D>(multiplier * s.row_values.gradient[first + k]));
        }
    };
    for_each_slot(false, [&](int node, int feature, const Vec<D>& g) { add(node, feature, g, s.load, s.dyad); });
    if (balls_ > 0) {
        s.ball_load = s.load;
        s.ball_dyad = s.dyad;
        for_each_slot(true,
                      [&](int node, int feature, const Vec<D>& g) { add(node, feature, g, s.ball_load, s.ball_dyad); });
        accumulate(s.ball_load, s.ball_dyad);
    }
    accumulate(s.load, s.dyad);
}

// Within a ball no parameter comes before another: the formula above lacks the change of w_k itself.
template <int D>
void RelativeSystem<D>::add_ball_tangent(const Scratch& s, double stiffness_weight, std::vector<double>& values) const {
    if constexpr (D == 3) {
        const RelativeTree<D>& tree = coordinates_.tree();
        for (int b = 0; b < balls_; ++b) {
            const int first = tree.ball_columns[b];
            const int node = tree.node_of_column[first];
            // Torque of all gradients about the centre of the ball: axial part of the dyad, moved.
            const Mat3& dyad = s.ball_dyad[node];
            const Vec3 about_centre(dyad(1, 2) - dyad(2, 1), dyad(2, 0) - dyad(0, 2), dyad(0, 1) - dyad(1, 0));
            const Vec3 torque =
                about_centre + (s.motion.body[node].position - s.motion.column[first].point).cross(s.ball_load[node]);
            for (int k = 0; k < 4; ++k)
                for (int l = 0; l <= k; ++l) {
                    // The formula has been applied with l before k; the exact one is symmetric.
                    const double value = coordinates_.ball_curvature(b, k, l, *s.q, s.motion).dot(torque);
                    const double swapped = coordinates_.ball_curvature(b, l, k, *s.q, s.motion).dot(torque);
                    const auto& wk = s.motion.column[first + k];
                    const auto& wl = s.motion.column[first + l];
                    const auto y = [&](const RelativeColumn<D>& column) {
                        return Vec3(moment<D>(column.u, s.ball_load[node]) +
                                    transposed_turn<D>(s.ball_dyad[node], column.w));
                    };
                    // d J_k / d p_l = (d w_k / d p_l) x r + w_k x (w_l x r): the first kind of product is w_k . y_l.
                    const double exact = 0.5 * (value + wk.w.dot(y(wl)) + swapped + wl.w.dot(y(wk)));
                    const double applied = wl.w.dot(y(wk));
                    values[this->pattern_.find(first + k, first + l)] += stiffness_weight * (exact - applied);
                }
        }
    }
}

// Momenta of every subtree about the centre of mass c of its first body: with r the place of a mass point from c,
//   rate = sum m r',  second = sum m r'',  and the dyads  sum m r' r^T,  sum m r'' r^T.
template <int D>
void RelativeSystem<D>::accumulate_momenta(Scratch& s) const {
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        Momenta<D>& own = s.momenta[i];
        own.rate.setZero();
        own.second.setZero();
        const MechanismBody<D>& body = m.bodies[tree.nodes[i].body];
        const AngularVec<D>& omega = s.motion.body[i].angular_velocity;
        if constexpr (D == 2) {
            // Only the traces matter: r . r' = 0, r . r'' = -omega^2 r . r; and r x r' = omega r . r, r x r'' = alpha r
            // . r.
            const double inertia = body.inertia(0, 0);
            const double alpha = s.motion.twist_rate[i][2];
            own.rate_dyad << 0, -omega[0], omega[0], 0;
            own.rate_dyad *= 0.5 * inertia;
            own.second_dyad << -omega[0] * omega[0], -alpha, alpha, -omega[0] * omega[0];
            own.second_dyad *= 0.5 * inertia;
        } else {
            const Mat3 inertia = world_inertia(body, s.motion.body[i]);
            const Mat3 second_moment = 0.5 * inertia.trace() * Mat3::Identity() - inertia;
            const Vec3 alpha = s.motion.twist_rate[i].template tail<3>();
            const Mat3 spin = skew(omega);
            own.rate_dyad = spin * second_moment;
            own.second_dyad = skew(alpha) * second_moment + spin * own.rate_dyad;
        }
    }
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
        const int up = tree.nodes[i].parent;
        if (up < 0) continue;
        const Momenta<D>& own = s.momenta[i];
        Momenta<D>& parent = s.momenta[up];
        const double mass = s.mass[i];
        const Vec<D>& h = s.first_moment[i];
        const Vec<D> r = s.motion.body[i].position - s.motion.body[up].position;
        const Vec<D> r1 = s.motion.body[i].velocity - s.motion.body[up].velocity;
        const Vec<D> r2 = (s.motion.twist_rate[i] - s.motion.twist_rate[up]).template head<D>();
        parent.rate += own.rate + mass * r1;
        parent.second += own.second + mass * r2;
        parent.rate_dyad += own.rate_dyad + own.rate * r.transpose() + r1 * (h + mass * r).transpose();
        parent.second_dyad += own.second_dyad + own.second * r.transpose() + r2 * (h + mass * r).transpose();
    }
}

// Mass matrix, change of the inertia forces, and geometric tangent, in one walk from every column c up to the root.
//
// A column d above moves the mass points of c's subtree by the field u + w x r (and so changes their velocities and
// accelerations by its time derivatives); with the momenta of c's subtree under its own column,
//   p = sum m J_c,  l = sum r x m J_c,  x = sum over r',  y = sum over r'',
// the inertia forces that c feels change by
//   by q_d:   u''.p + w''.l + w'.x + w.y          by v_d:   2 (u'.p + w'.l) + w.x
// and those that d feels change, by q_c and v_c, by u.F + w.N with the force and torque F, N of c's subtree.
template <int D>
void RelativeSystem<D>::add_tree_tangent(Scratch& s, double mass_weight, double damping_weight, double stiffness_weight,
                                         std::vector<double>& values) const {
    const RelativeTree<D>& tree = coordinates_.tree();
    // What each column d multiplies p, l and x with.
    for (int d = 0; d < tree.columns; ++d) {
        const RelativeColumn<D>& column = s.motion.column[d];
        ColumnMix<D>& mix = s.mix[d];
        mix.with_p = mass_weight * column.u + 0.5 * stiffness_weight * column.u_second + damping_weight * column.u_rate;
        mix.with_l = mass_weight * column.w + 0.5 * stiffness_weight * column.w_second + damping_weight * column.w_rate;
        mix.with_x = 0.5 * stiffness_weight * column.w_rate + 0.5 * damping_weight * column.w;
    }
    const int* place = mass_place_.data();
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const TreeNode<D>& node = tree.nodes[i];
        const Momenta<D>& momenta = s.momenta[i];
        const double mass = s.mass[i];
        const Vec<D>& h = s.first_moment[i];
        for (int c = node.first_column; c < node.first_column + node.column_count; ++c) {
            const RelativeColumn<D>& k = s.motion.column[c];
            const Vec<D> p = mass * k.u + cross<D>(k.w, h);
            AngularVec<D> l = s.inertia[i] * k.w + moment<D>(h, k.u);
            AngularVec<D> x = 2 * (moment<D>(momenta.rate, k.u) + turned_back<D>(momenta.rate_dyad, k.w));
            AngularVec<D> y = moment<D>(momenta.second, k.u) + turned_back<D>(momenta.second_dyad, k.w);
            // Half of the force and torque of the subtree by q_c and v_c.
            const Vec<D> force =
                0.5 * stiffness_weight *
                    (mass * k.u_second + cross<D>(k.w_second, h) + 2 * cross<D>(k.w_rate, momenta.rate) +
                     cross<D>(k.w, momenta.second)) +
                damping_weight * (mass * k.u_rate + cross<D>(k.w_rate, h) + cross<D>(k.w, momenta.rate));
            AngularVec<D> torque =
                0.5 * stiffness_weight *
                    (moment<D>(h, k.u_second) + s.inertia[i] * k.w_second + 2 * turned<D>(momenta.rate_dyad, k.w_rate) +
                     turned<D>(momenta.second_dyad, k.w)) +
                damping_weight * (moment<D>(h, k.u_rate) + s.inertia[i] * k.w_rate + turned<D>(momenta.rate_dyad, k.w));
            const AngularVec<D> geometric =
                stiffness_weight * (moment<D>(k.u, s.load[i]) + transposed_turn<D>(s.dyad[i], k.w));
            const auto value = [&](int d, const AngularVec<D>& sum) {
                const RelativeColumn<D>& column = s.motion.column[d];
                const ColumnMix<D>& mix = s.mix[d];
                return mix.with_p.dot(p) + mix.with_l.dot(l) + mix.with_x.dot(x) + column.w.dot(sum) +
                       column.u.dot(force);
            };
            AngularVec<D> sum = 0.5 * stiffness_weight * y + torque + geometric;
            for (int d = node.first_column; d <= c; ++d) values[*place++] += value(d, sum);
            int at = static_cast<int>(i);
            for (int up = node.parent; up >= 0; up = tree.nodes[up].parent) {
                const Vec<D> r = s.motion.body[at].position - s.motion.body[up].position;
                const Vec<D> r1 = s.motion.body[at].velocity - s.motion.body[up].velocity;
                const Vec<D> r2 = (s.motion.twist_rate[at] - s.motion.twist_rate[up]).template head<D>();
                l += moment<D>(r, p);
                x += 2 * moment<D>(r1, p);
                y += moment<D>(r2, p);
                torque += moment<D>(r, force);
                sum = 0.5 * stiffness_weight * y + torque + geometric;
                const TreeNode<D>& ancestor = tree.nodes[up];
                for (int d = ancestor.first_column; d < ancestor.first_column + ancestor.column_count; ++d)
                    values[*place++] += value(d, sum);
                at = up;
            }
        }
    }
}

template <int D>
void RelativeSystem<D>::predict(Evaluation& e, const VecX& change, double* prediction) const {
    update_velocities(e, change);
    const Mechanism<D>& m = *this->mechanism_;
    m.forces.predict(m.constraints.measures, context(static_cast<Scratch&>(e)), e.t, prediction);
}

template <int D>
void RelativeSystem<D>::assemble_tangent(Evaluation& e, double mass_weight, double damping_weight,
                                         double stiffness_weight, const VecX& row_force, const VecX& a,
                                         std::vector<double>& values) const {
    auto& s = static_cast<Scratch&>(e);
    const Mechanism<D>& m = *this->mechanism_;
    if (!e.prediction.empty())
        m.forces.evaluate(m.constraints.measures, context(s), s.t, s.slot_force, e.prediction.data());
    std::fill(values.begin(), values.end(), 0.0);
    coordinates_.update_twist_rates(a, s.motion);
    coordinates_.update_second_derivatives(*s.q, *s.v, a, s.motion);
    for (int b = 0; b < balls_; ++b)
        for (int k = 0; k < 4; ++k) {
            const int c = coordinates_.tree().ball_columns[b] + k;
            values[this->pattern_.start[c]] += stiffness_weight * row_force[b] + mass_weight * spin_inertia_[b];
        }
    for (std::size_t i = 0; i < rows_.rows.size(); ++i)
        if (rows_.rows[i].is_holonomic())
            add_row_tangent(s, static_cast<int>(i), stiffness_weight * row_force[balls_ + static_cast<int>(i)], values);
    for (std::size_t i = 0; i < force_reach_.size(); ++i) {
        const auto& element = this->mechanism_->forces.elements[i];
        if (force_reach_[i].ancestor >= 0)
            add_internal_geometric(
                s, force_reach_[i], this->mechanism_->forces.slot_feature.data() + element.first_slot,
                s.slot_force.data() + element.first_slot, -stiffness_weight, force_place_[i], values);
        add_force_tangent(s, static_cast<int>(i), damping_weight, stiffness_weight, values);
    }
    accumulate_loads(s, row_force);
    accumulate_momenta(s);
    add_tree_tangent(s, mass_weight, damping_weight, stiffness_weight, values);
    add_ball_tangent(s, stiffness_weight, values);
}

template <int D>
void RelativeSystem<D>::assemble_approximate_tangent(Evaluation& e, double mass_weight, double damping_weight,
                                                     double stiffness_weight, std::vector<double>& values) const {
    auto& s = static_cast<Scratch&>(e);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = mass_weight * s.Evaluation::mass[k];
    for (std::size_t i = 0; i < force_reach_.size(); ++i)
        add_force_tangent(s, static_cast<int>(i), damping_weight, stiffness_weight, values);
}

template void RelativeSystem<2>::assemble_tangent(Evaluation&, double, double, double, const VecX&, const VecX&,
                                                  std::vector<double>&) const;
template void RelativeSystem<3>::assemble_tangent(Evaluation&, double, double, double, const VecX&, const VecX&,
                                                  std::vector<double>&) const;
template void RelativeSystem<2>::predict(Evaluation&, const VecX&, double*) const;
template void RelativeSystem<3>::predict(Evaluation&, const VecX&, double*) const;
template void RelativeSystem<2>::assemble_approximate_tangent(Evaluation&, double, double, double,
                                                              std::vector<double>&) const;
template void RelativeSystem<3>::assemble_approximate_tangent(Evaluation&, double, double, double,
                                                              std::vector<double>&) const;

}  // namespace limber
