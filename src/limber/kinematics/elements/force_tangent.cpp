// Derivatives of the forces by the places and velocities of the features they act on.

#include <cmath>

#include "limber/kinematics/elements/force_parts.hpp"

namespace limber {

using namespace force_parts;

namespace {

// Force on the centre, and the moment T as 1/2 T x e_k on the axes.
template <int D>
void tyre_blocks(const ForceElement<D>& e, const MeasureContext<D>& context, const int* slots, ForceBlocks<D>& blocks) {
    TyreTangent tangent;
    const TyreWrench w =
        evaluate_tyre(e.tyre, D == 2, in_space<D>(context.features.value[slots[0]]), wheel_axis(e, context, slots),
                      in_space<D>(context.features.rate[slots[0]]), tangent);
    blocks.k(0, 0) = -tangent.by_centre.template topLeftCorner<D, D>();
    blocks.c(0, 0) = -tangent.by_velocity.template topLeftCorner<D, D>();
    if constexpr (D == 3) {
        const int axis = e.slot_count - 1;
        blocks.k(0, axis) = -tangent.by_axis.template topRows<3>();
        for (int k = 1; k < e.slot_count; ++k) {
            const Mat3 turn = 0.5 * skew(context.features.value[slots[k]]);
            blocks.k(k, 0) = turn * tangent.by_centre.template bottomRows<3>();
            blocks.c(k, 0) = turn * tangent.by_velocity.template bottomRows<3>();
            blocks.k(k, axis) += turn * tangent.by_axis.template bottomRows<3>();
            blocks.k(k, k) -= half_turn<3>(w.moment);
        }
    }
}

// What the moment of a contact point adds to the blocks: the force on an axis e is T x e / 2 (on those of a with the
// other sign), and an axis that moves at e' contributes e x e' / 2 to the angular velocity.
template <int D>
void add_turning_blocks(const CompliantPoint& p, const MeasureContext<D>& context, const int* slots,
                        const Vec<2 * D + 2>& weight, ForceBlocks<D>& blocks) {
    const auto half_axis = [&](int slot) {
        const double sign = slot > D ? 1 : -1;
        return Mat3(0.5 * sign * skew(in_space<D>(context.features.value[slots[slot]])));
    };
    const auto is_axis = [](int slot) { return slot % (D + 1) != 0; };
    for (int i = 0; i < blocks.slots; ++i) {
        if (!is_axis(i)) continue;
        const Mat3 lever = half_axis(i);
        for (int j = 0; j < blocks.slots; ++j) {
            Mat3 by_rate = weight[j] * p.torque_by_velocity;
            if (is_axis(j)) by_rate += p.torque_by_turning * half_axis(j);
            blocks.k(i, j) += weight[j] * (lever * p.torque_by_place).template topLeftCorner<D, D>();
            blocks.c(i, j) += (lever * by_rate).template topLeftCorner<D, D>();
        }
    }
}

template <int D>
void contact_blocks(const ForceElement<D>& e, const MeasureContext<D>& context, const int* slots, double t,
                    ForceBlocks<D>& blocks) {
    const MovingFrame a = moving_frame(context, slots);
    const MovingFrame b = moving_frame(context, slots + D + 1);
    CompliantPoints points;
    find_points(e, context, t, a, b, points);
    for (int c = 0; c < points.count; ++c) {
        const CompliantPoint& p = points.points[c];
        Vec<2 * D + 2> weight;
        weight << -share<D>(a, p.point), share<D>(b, p.point);
        for (int i = 0; i < e.slot_count; ++i)
            for (int j = 0; j < e.slot_count; ++j) {
                blocks.k(i, j) -= weight[i] * weight[j] * p.by_place.template topLeftCorner<D, D>();
                blocks.c(i, j) -= weight[i] * weight[j] * p.by_velocity.template topLeftCorner<D, D>();
            }
        if (e.contact->law.resists_turning()) add_turning_blocks(p, context, slots, weight, blocks);
    }
}

}  // namespace

// F_a = force(x, v, inputs) g_a with g = d measure / df, so
//   dF_a/df_b    = force H_ab + force_x g_a g_b^T + force_v g_a (H fdot)_b^T + sum force_input g_a (d input / df_b)^T
//   dF_a/dfdot_b = force_v g_a g_b^T + sum force_input g_a (d input / dfdot_b)^T
template <int D>
void ForceSet<D>::scalar_blocks(const ForceElement<D>& e, const std::vector<Measure<D>>& measures,
                                const MeasureContext<D>& context, double t, ForceBlocks<D>& blocks) const {
    const Measure<D>& m = measures[e.measure];
    const ScalarState s = scalar_state(e, measures, context);
    const std::span<const double> inputs = s.input_span(e.inputs.size());
    double force = 0;
    double by_x = 0;
    double by_v = 0;
    if (e.kind == ForceKind::friction) {
        const FrictionForce friction = compliant_friction(e, measures, context, t);
        force = friction.force;
        by_x = friction.by_x;
        by_v = friction.by_v;
    } else if (e.kind == ForceKind::servo) {
        bool saturated = false;
        force = servo_force(e, s.x, s.v, t, &saturated);
        by_x = saturated ? 0 : -e.gain;
        by_v = saturated ? 0 : -e.rate_gain;
    } else {
        const BoundLaw::Value value = e.law.evaluate(s.x, s.v, t, inputs);
        force = e.sign * value.force;
        by_x = e.sign * value.by_x;
        by_v = e.sign * value.by_v;
    }
    MeasureGradient<D> g;
    MeasureHessian<D> h;
    compute_gradient(m, context, g.data());
    compute_hessian(m, context, h);
    for (int b = 0; b < m.count; ++b) {
        Vec<D> h_rate = Vec<D>::Zero();
        for (int k = 0; k < m.count; ++k) h_rate += h.block[b][k] * context.features.rate[m.feature[k]];
        for (int a = 0; a < m.count; ++a) {
            blocks.k(a, b) -= force * h.block[a][b] + g[a] * (by_x * g[b] + by_v * h_rate).transpose();
            blocks.c(a, b) -= by_v * g[a] * g[b].transpose();
        }
    }
    int slot = m.count;
    for (std::size_t i = 0; i < e.inputs.size(); ++i) {
        const Measure<D>& input = measures[e.inputs[i].measure];
        const double by_input =
            e.kind == ForceKind::servo ? 0 : e.sign * e.law.by_input(static_cast<int>(i), s.x, s.v, t, inputs);
        MeasureGradient<D> gi;
        compute_gradient(input, context, gi.data());
        if (e.inputs[i].is_rate) compute_hessian(input, context, h);
        for (int b = 0; b < input.count; ++b, ++slot) {
            Vec<D> h_rate = Vec<D>::Zero();
            if (e.inputs[i].is_rate)
                for (int k = 0; k < input.count; ++k) h_rate += h.block[b][k] * context.features.rate[input.feature[k]];
            for (int a = 0; a < m.count; ++a) {
                if (e.inputs[i].is_rate) {
                    blocks.k(a, slot) -= by_input * g[a] * h_rate.transpose();
                    blocks.c(a, slot) -= by_input * g[a] * gi[b].transpose();
                } else {
                    blocks.k(a, slot) -= by_input * g[a] * gi[b].transpose();
                }
            }
        }
    }
}

// F_a = sum_i w_i g_ia with w = -K x - C xdot, so
//   K_ab = sum_ij g_ia (K_ij g_jb + C_ij (H_j fdot)_b)^T - sum_i w_i H_i,ab,   C_ab = sum_ij g_ia C_ij g_jb^T
template <int D>
void ForceSet<D>::bushing_blocks(const ForceElement<D>& e, const std::vector<Measure<D>>& measures,
                                 const MeasureContext<D>& context, ForceBlocks<D>& blocks) const {
    constexpr int max_terms = 2 * max_bushing_components;
    struct Term {
        int component, count;
        std::array<int, max_measure_features> slot;
        MeasureGradient<D> gradient, gradient_rate;  // of coefficient * measure
    };
    std::array<Term, max_terms> terms;
    int count = 0;
    const int* slots = slot_feature.data() + e.first_slot;
    const Components w = bushing_forces(e, measures, context);
    MeasureHessian<D> h;
    for (std::size_t i = 0; i < e.components.size(); ++i)
        for (const RowTerm& row_term : e.components[i]) {
            const Measure<D>& m = measures[row_term.measure];
            Term& term = terms[count++];
            term.component = static_cast<int>(i);
            term.count = m.count;
            for (int a = 0; a < m.count; ++a) term.slot[a] = slot_of(slots, m.feature[a]);
            compute_gradient(m, context, term.gradient.data());
            compute_hessian(m, context, h);
            for (int a = 0; a < m.count; ++a) {
                term.gradient[a] *= row_term.coefficient;
                term.gradient_rate[a].setZero();
                for (int b = 0; b < m.count; ++b) {
                    term.gradient_rate[a] += row_term.coefficient * h.block[a][b] * context.features.rate[m.feature[b]];
                    blocks.k(term.slot[a], term.slot[b]) -= w[term.component] * row_term.coefficient * h.block[a][b];
                }
            }
        }
    for (int p = 0; p < count; ++p)
        for (int q = 0; q < count; ++q) {
            const Term& left = terms[p];
            const Term& right = terms[q];
            const double k = e.stiffness(left.component, right.component);
            const double c = e.damping(left.component, right.component);
            if (k == 0 && c == 0) continue;
            for (int a = 0; a < left.count; ++a)
                for (int b = 0; b < right.count; ++b) {
                    blocks.k(left.slot[a], right.slot[b]) +=
                        left.gradient[a] * (k * right.gradient[b] + c * right.gradient_rate[b]).transpose();
                    blocks.c(left.slot[a], right.slot[b]) += c * left.gradient[a] * right.gradient[b].transpose();
                }
        }
}

template <int D>
bool ForceSet<D>::compute_blocks(int element, const std::vector<Measure<D>>& measures, const MeasureContext<D>& context,
                                 double t, ForceBlocks<D>& blocks) const {
    const ForceElement<D>& e = elements[element];
    const int* slots = slot_feature.data() + e.first_slot;
    blocks.start(e.slot_count);
    switch (e.kind) {
        case ForceKind::scalar:
        case ForceKind::servo: scalar_blocks(e, measures, context, t, blocks); return true;
        case ForceKind::vector: {
            if (!e.in_marker_axes) return false;
            const Vec3 f = components(e, t);
            for (int k = 0; k < D; ++k) blocks.k(0, 1 + k) = -f[k] * Mat<D>::Identity();
            return true;
        }
        case ForceKind::couple: {
            const Mat<D> turn = half_turn<D>(couple_vector(e, context, slots, t));
            for (int k = 0; k < D; ++k) blocks.k(k, k) = -turn;
            if (D == 3 && e.in_marker_axes) {
                // T = sum w_j e_j, so T x e_k depends on e_j too: d(T x e_k) = w_j de_j x e_k = -w_j e_k x de_j.
                const Vec3 w = components(e, t);
                for (int k = 0; k < D; ++k) {
                    Vec3 axis = Vec3::Zero();
                    axis.template head<D>() = context.features.value[slots[k]];
                    for (int j = 0; j < D; ++j) blocks.k(k, j) += half_turn<D>(w[j] * axis);
                }
            }
            return true;
        }
        case ForceKind::bushing: bushing_blocks(e, measures, context, blocks); return true;
        case ForceKind::drag: {
            const Vec<D> v = context.features.rate[slots[0]] - e.medium;
            const double speed = v.norm();
            blocks.c(0, 0) = (e.linear + e.quadratic * speed) * Mat<D>::Identity();
            if (speed > 0) blocks.c(0, 0) += e.quadratic / speed * v * v.transpose();
            return true;
        }
        case ForceKind::pull:
            blocks.k(0, 0) = e.gain * Mat<D>::Identity();
            blocks.c(0, 0) = e.rate_gain * Mat<D>::Identity();
            return true;
        // The stepper finds the force by a fixed point; what the turning of its direction contributes is left to
        // Newton's method.
        case ForceKind::friction:
            if (!e.friction.is_compliant()) return false;
            scalar_blocks(e, measures, context, t, blocks);
            return true;
        case ForceKind::tyre: tyre_blocks(e, context, slots, blocks); return true;
        case ForceKind::contact: contact_blocks(e, context, slots, t, blocks); return true;
        case ForceKind::wrench: {
            const Mat<D> turn = wrench_turn(e, context);
            for (int k = 1; k < e.slot_count; ++k) blocks.k(k, k) = -turn;
            return true;
        }
    }
    return false;
}

template void ForceSet<2>::scalar_blocks(const ForceElement<2>& e, const std::vector<Measure<2>>& measures,
                                         const MeasureContext<2>& context, double t, ForceBlocks<2>& blocks) const;
template void ForceSet<3>::scalar_blocks(const ForceElement<3>& e, const std::vector<Measure<3>>& measures,
                                         const MeasureContext<3>& context, double t, ForceBlocks<3>& blocks) const;
template void ForceSet<2>::bushing_blocks(const ForceElement<2>& e, const std::vector<Measure<2>>& measures,
                                          const MeasureContext<2>& context, ForceBlocks<2>& blocks) const;
template void ForceSet<3>::bushing_blocks(const ForceElement<3>& e, const std::vector<Measure<3>>& measures,
                                          const MeasureContext<3>& context, ForceBlocks<3>& blocks) const;
template bool ForceSet<2>::compute_blocks(int element, const std::vector<Measure<2>>& measures,
                                          const MeasureContext<2>& context, double t, ForceBlocks<2>& blocks) const;
template bool ForceSet<3>::compute_blocks(int element, const std::vector<Measure<3>>& measures,
                                          const MeasureContext<3>& context, double t, ForceBlocks<3>& blocks) const;

}  // namespace limber
