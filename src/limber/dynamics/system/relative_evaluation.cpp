// A relative system at one configuration: mass matrix, constraint rows and forces, gathered along the branches.

#include <algorithm>

#include "limber/dynamics/system/relative_scratch.hpp"

namespace limber {

template <int D>
const RelativeMotion<D>& RelativeSystem<D>::motion(const Evaluation& e) {
    return static_cast<const Scratch&>(e).motion;
}

template <int D>
MeasureContext<D> RelativeSystem<D>::context(const Scratch& s) const {
    return {s.features, s.memory, this->mechanism_->curves};
}

template <int D>
void RelativeSystem<D>::update_features(Scratch& s, const std::vector<int>& list) const {
    const Mechanism<D>& m = *this->mechanism_;
    const std::vector<int>& node_of_body = coordinates_.tree().node_of_body;
    for (const int i : list) {
        const Feature<D>& f = m.features[i];
        if (f.body < 0) {
            s.features.value[i] = f.local;
            continue;
        }
        const BodyState<D>& body = s.motion.body[node_of_body[f.body]];
        s.features.value[i] = body.axes * f.local;
        if (f.is_point) s.features.value[i] += body.position;
    }
}

template <int D>
void RelativeSystem<D>::update_residuals(Evaluation& e, double t, const VecX& q, std::span<const double> memory) const {
    auto& s = static_cast<Scratch&>(e);
    s.t = t;
    s.q = &q;
    s.memory = memory;
    coordinates_.update_positions(q, s.motion);
    s.motion_q = q;
    update_features(s, active_features_);
    rows_.evaluate_positions(context(s), t, s.row_values);
    for (int b = 0; b < balls_; ++b)
        s.phi[b] = 0.5 * (q.template segment<4>(coordinates_.tree().ball_columns[b]).squaredNorm() - 1);
    s.phi.tail(this->rows() - balls_) = s.row_values.phi;
}

template <int D>
void RelativeSystem<D>::update_positions(Evaluation& e, double t, const VecX& q, std::span<const double> memory) const {
    update_residuals(e, t, q, memory);
    auto& s = static_cast<Scratch&>(e);
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    std::fill(s.jacobian.begin(), s.jacobian.end(), 0.0);
    for (int b = 0; b < balls_; ++b)
        for (int k = 0; k < 4; ++k) s.jacobian[this->jacobian_pattern_.start[b] + k] = q[tree.ball_columns[b] + k];
    for (std::size_t i = 0; i < rows_.rows.size(); ++i) {
        const Row& row = rows_.rows[i];
        const TreeReach& reach = row_reach_[i];
        double* out = s.jacobian.data() + this->jacobian_pattern_.start[balls_ + i];
        for (std::size_t n = 0; n < reach.nodes.size(); ++n) {
            int node = reach.nodes[n];
            TwistVec<D> wrench = TwistVec<D>::Zero();
            for (int k = 0; k < row.slot_count; ++k) {
                if (reach.slot_node[k] != static_cast<int>(n)) continue;
                const int feature = rows_.slot_feature[row.first_slot + k];
                add_wrench(m.features[feature], s.features.value[feature], s.motion.body[node].position,
                           s.row_values.gradient[row.first_slot + k], wrench);
            }
            Vec<D> force = wrench.template head<D>();
            AngularVec<D> torque = wrench.template tail<A>();
            const int* place = reach.places[n].data();
            while (node != reach.ancestor) {
                const TreeNode<D>& at = tree.nodes[node];
                for (int c = at.first_column; c < at.first_column + at.column_count; ++c)
                    out[*place++] += s.motion.column[c].u.dot(force) + s.motion.column[c].w.dot(torque);
                if (at.parent >= 0)
                    torque += moment<D>(s.motion.body[node].position - s.motion.body[at.parent].position, force);
                node = at.parent;
            }
        }
    }
    if (with_matrices_) assemble_mass(s);
}

// Mass, first moment and inertia of every subtree about the centre of mass of its first body.
template <int D>
void RelativeSystem<D>::accumulate_inertia(Scratch& s) const {
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const MechanismBody<D>& body = m.bodies[tree.nodes[i].body];
        s.mass[i] = body.mass;
        s.first_moment[i].setZero();
        s.inertia[i] = world_inertia(body, s.motion.body[i]);
    }
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
        const int parent = tree.nodes[i].parent;
        if (parent < 0) continue;
        const Vec<D> r = s.motion.body[i].position - s.motion.body[parent].position;
        s.mass[parent] += s.mass[i];
        s.inertia[parent] += moved_inertia<D>(s.mass[i], s.first_moment[i], s.inertia[i], r);
        s.first_moment[parent] += s.first_moment[i] + s.mass[i] * r;
    }
}

template <int D>
void RelativeSystem<D>::assemble_mass(Scratch& s) const {
    accumulate_inertia(s);
    const RelativeTree<D>& tree = coordinates_.tree();
    std::vector<double>& values = s.Evaluation::mass;
    const int* place = mass_place_.data();
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const TreeNode<D>& node = tree.nodes[i];
        for (int d = node.first_column; d < node.first_column + node.column_count; ++d) {
            const RelativeColumn<D>& column = s.motion.column[d];
            const Vec<D> linear = s.mass[i] * column.u + cross<D>(column.w, s.first_moment[i]);
            AngularVec<D> angular = s.inertia[i] * column.w + moment<D>(s.first_moment[i], column.u);
            for (int c = node.first_column; c <= d; ++c)
                values[*place++] = s.motion.column[c].u.dot(linear) + s.motion.column[c].w.dot(angular);
            int at = static_cast<int>(i);
            for (int up = node.parent; up >= 0; up = tree.nodes[up].parent) {
                angular += moment<D>(s.motion.body[at].position - s.motion.body[up].position, linear);
                const TreeNode<D>& ancestor = tree.nodes[up];
                for (int c = ancestor.first_column; c < ancestor.first_column + ancestor.column_count; ++c)
                    values[*place++] = s.motion.column[c].u.dot(linear) + s.motion.column[c].w.dot(angular);
                at = up;
            }
        }
    }
    for (int b = 0; b < balls_; ++b)
        for (int k = 0; k < 4; ++k) values[this->pattern_.start[tree.ball_columns[b] + k]] += spin_inertia_[b];
}

template <int D>
void RelativeSystem<D>::update_velocities(Evaluation& e, const VecX& v) const {
    auto& s = static_cast<Scratch&>(e);
    const Mechanism<D>& m = *this->mechanism_;
    const std::vector<int>& node_of_body = coordinates_.tree().node_of_body;
    s.v = &v;
    coordinates_.update_velocities(*s.q, v, s.motion);
    for (const int i : active_features_) {
        const Feature<D>& f = m.features[i];
        if (f.body < 0) continue;
        const int node = node_of_body[f.body];
        const BodyState<D>& body = s.motion.body[node];
        const AngularVec<D>& omega = body.angular_velocity;
        const AngularVec<D> alpha = s.motion.bias[node].template tail<A>();
        const Vec<D> arm = f.is_point ? Vec<D>(s.features.value[i] - body.position) : s.features.value[i];
        const Vec<D> turning = cross<D>(omega, arm);
        s.features.rate[i] = turning;
        s.features.bias[i] = cross<D>(omega, turning) + cross<D>(alpha, arm);
        if (f.is_point) {
            s.features.rate[i] += body.velocity;
            s.features.bias[i] += s.motion.bias[node].template head<D>();
        }
    }
    rows_.evaluate_velocities(context(s), s.t, s.row_values);
    for (int b = 0; b < balls_; ++b)
        s.bias[b] = v.template segment<4>(coordinates_.tree().ball_columns[b]).squaredNorm();
    const int rest = this->rows() - balls_;
    s.bias.tail(rest) = s.row_values.bias;
    s.time_partial.tail(rest) = s.row_values.time_partial;
    multiply(this->jacobian_pattern_, s.jacobian, v, s.rate);
    s.rate += s.time_partial;
    for (int i = this->holonomic_rows_; i < this->rows(); ++i) s.phi[i] = s.rate[i];
}

// Wrenches of the bodies, gathered towards the roots, along the coordinates.
template <int D>
void RelativeSystem<D>::add_wrenches(Scratch& s, VecX& forces) const {
    const RelativeTree<D>& tree = coordinates_.tree();
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
        const TreeNode<D>& node = tree.nodes[i];
        const Vec<D> force = s.wrench[i].template head<D>();
        const AngularVec<D> torque = s.wrench[i].template tail<A>();
        for (int c = node.first_column; c < node.first_column + node.column_count; ++c)
            forces[c] += s.motion.column[c].u.dot(force) + s.motion.column[c].w.dot(torque);
        if (node.parent < 0) continue;
        s.wrench[node.parent].template head<D>() += force;
        s.wrench[node.parent].template tail<A>() +=
            torque + moment<D>(s.motion.body[i].position - s.motion.body[node.parent].position, force);
    }
}

// Gravity and forces, added to the wrenches of the bodies.
template <int D>
void RelativeSystem<D>::apply_loads(Scratch& s) const {
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    const Vec<D> gravity = m.gravity_at(s.t);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i)
        s.wrench[i].template head<D>() += m.bodies[tree.nodes[i].body].mass * gravity;
    m.forces.evaluate(m.constraints.measures, context(s), s.t, s.slot_force);
    for (std::size_t slot = 0; slot < s.slot_force.size(); ++slot) {
        const int f = m.forces.slot_feature[slot];
        const int body = m.features[f].body;
        if (body < 0) continue;
        const int node = tree.node_of_body[body];
        add_wrench(m.features[f], s.features.value[f], s.motion.body[node].position, s.slot_force[slot],
                   s.wrench[node]);
    }
}

template <int D>
void RelativeSystem<D>::update_forces(Evaluation& e) const {
    auto& s = static_cast<Scratch&>(e);
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    for (std::size_t i = 0; i < tree.nodes.size(); ++i)
        s.wrench[i] = -inertia_wrench(m.bodies[tree.nodes[i].body], s.motion.body[i], s.motion.bias[i]);
    apply_loads(s);
    s.force.setZero();
    add_wrenches(s, s.force);
}

template <int D>
void RelativeSystem<D>::compute_inverse_dynamics(Evaluation& e, const VecX& a, VecX& forces) const {
    auto& s = static_cast<Scratch&>(e);
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    coordinates_.update_twist_rates(a, s.motion);
    forces = -s.force;
    // What the accelerations add to the inertia forces at zero accelerations, which Q contains.
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const MechanismBody<D>& body = m.bodies[tree.nodes[i].body];
        const TwistVec<D> added = s.motion.twist_rate[i] - s.motion.bias[i];
        s.wrench[i].template head<D>() = body.mass * added.template head<D>();
        s.wrench[i].template tail<A>() = world_inertia(body, s.motion.body[i]) * added.template tail<A>();
    }
    add_wrenches(s, forces);
}

template <int D>
void RelativeSystem<D>::set_body_momenta(Scratch& s) const {
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const MechanismBody<D>& body = m.bodies[tree.nodes[i].body];
        const BodyState<D>& state = s.motion.body[i];
        s.wrench[i].template head<D>() = body.mass * state.velocity;
        s.wrench[i].template tail<A>() = world_inertia(body, state) * state.angular_velocity;
    }
}

template <int D>
void RelativeSystem<D>::compute_momenta(Evaluation& e, VecX& momenta) const {
    auto& s = static_cast<Scratch&>(e);
    set_body_momenta(s);
    momenta.setZero(this->size());
    add_wrenches(s, momenta);
}

// A column gives the point x of its subtree the velocity u + w x (x - c), so with the momentum L of the subtree and its
// angular momentum H about c
//   p = u . L + w . H,     p' = u . F + w . T + u' . L + w' . H - w . (c' x L)
template <int D>
void RelativeSystem<D>::compute_momentum_rates(Evaluation& e, VecX& rates) const {
    auto& s = static_cast<Scratch&>(e);
    const RelativeTree<D>& tree = coordinates_.tree();
    rates.setZero(this->size());
    set_body_momenta(s);
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
        const TreeNode<D>& node = tree.nodes[i];
        const Vec<D> linear = s.wrench[i].template head<D>();
        const AngularVec<D> angular = s.wrench[i].template tail<A>();
        const AngularVec<D> carried = moment<D>(s.motion.body[i].velocity, linear);
        for (int c = node.first_column; c < node.first_column + node.column_count; ++c) {
            const RelativeColumn<D>& column = s.motion.column[c];
            rates[c] += column.u_rate.dot(linear) + column.w_rate.dot(angular) - column.w.dot(carried);
        }
        if (node.parent < 0) continue;
        s.wrench[node.parent].template head<D>() += linear;
        s.wrench[node.parent].template tail<A>() +=
            angular + moment<D>(s.motion.body[i].position - s.motion.body[node.parent].position, linear);
    }
    for (auto& wrench : s.wrench) wrench.setZero();
    apply_loads(s);
    add_wrenches(s, rates);
}

template <int D>
void RelativeSystem<D>::update_memory(Evaluation& e, const VecX& q, std::vector<double>& memory) const {
    const Mechanism<D>& m = *this->mechanism_;
    if (memory.empty()) return;
    auto& s = static_cast<Scratch&>(e);
    // Mostly the end of a step that has just been evaluated.
    if (s.motion_q != q) {
        coordinates_.update_positions(q, s.motion);
        s.motion_q = q;
    }
    update_features(s, memory_features_);
    refresh_memory(m, s.features, memory);
}

template const RelativeMotion<2>& RelativeSystem<2>::motion(const Evaluation&);
template MeasureContext<2> RelativeSystem<2>::context(const Scratch&) const;
template void RelativeSystem<2>::accumulate_inertia(Scratch&) const;
template void RelativeSystem<2>::update_residuals(Evaluation&, double, const VecX&, std::span<const double>) const;
template void RelativeSystem<2>::update_positions(Evaluation&, double, const VecX&, std::span<const double>) const;
template void RelativeSystem<2>::update_velocities(Evaluation&, const VecX&) const;
template void RelativeSystem<2>::update_forces(Evaluation&) const;
template void RelativeSystem<2>::compute_inverse_dynamics(Evaluation&, const VecX&, VecX&) const;
template void RelativeSystem<2>::compute_momenta(Evaluation&, VecX&) const;
template void RelativeSystem<2>::compute_momentum_rates(Evaluation&, VecX&) const;
template void RelativeSystem<2>::update_memory(Evaluation&, const VecX&, std::vector<double>&) const;
template const RelativeMotion<3>& RelativeSystem<3>::motion(const Evaluation&);
template MeasureContext<3> RelativeSystem<3>::context(const Scratch&) const;
template void RelativeSystem<3>::accumulate_inertia(Scratch&) const;
template void RelativeSystem<3>::update_residuals(Evaluation&, double, const VecX&, std::span<const double>) const;
template void RelativeSystem<3>::update_positions(Evaluation&, double, const VecX&, std::span<const double>) const;
template void RelativeSystem<3>::update_velocities(Evaluation&, const VecX&) const;
template void RelativeSystem<3>::update_forces(Evaluation&) const;
template void RelativeSystem<3>::compute_inverse_dynamics(Evaluation&, const VecX&, VecX&) const;
template void RelativeSystem<3>::compute_momenta(Evaluation&, VecX&) const;
template void RelativeSystem<3>::compute_momentum_rates(Evaluation&, VecX&) const;
template void RelativeSystem<3>::update_memory(Evaluation&, const VecX&, std::vector<double>&) const;

}  // namespace limber
