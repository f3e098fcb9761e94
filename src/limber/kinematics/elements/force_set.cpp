#include "limber/kinematics/elements/force_set.hpp"

#include <algorithm>
#include <cmath>

#include "limber/math/rotation.hpp"

namespace limber {
namespace {

// Matrix T with T e = 1/2 t x e: turns a torque into forces on axes.
template <int D>
Mat<D> half_turn(const Vec3& torque) {
    if constexpr (D == 2) {
        Mat2 m;
        m << 0, -0.5 * torque.z(), 0.5 * torque.z(), 0;
        return m;
    } else {
        return 0.5 * skew(torque);
    }
}

template <int D>
Vec3 components(const ForceElement<D>& e, double t) {
    return {e.component[0].value(t), e.component[1].value(t), e.component[2].value(t)};
}

// The wheel's axis is z of its marker: the last slot.
template <int D>
Vec3 wheel_axis(const ForceElement<D>& e, const MeasureContext<D>& context, const int* slots) {
    return D == 3 ? in_space<D>(context.features.value[slots[e.slot_count - 1]]) : Vec3(Vec3::UnitZ());
}

template <int D>
TyreWrench tyre_wrench(const ForceElement<D>& e, const MeasureContext<D>& context, const int* slots) {
    return evaluate_tyre(e.tyre, D == 2, in_space<D>(context.features.value[slots[0]]), wheel_axis(e, context, slots),
                         in_space<D>(context.features.rate[slots[0]]));
}

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

// The frame that a point and the axes after it make.
template <int D>
MovingFrame moving_frame(const MeasureContext<D>& context, const int* slots) {
    MovingFrame m;
    m.frame.position = in_space<D>(context.features.value[slots[0]]);
    m.velocity = in_space<D>(context.features.rate[slots[0]]);
    for (int k = 0; k < D; ++k) {
        m.frame.axes.col(k) = in_space<D>(context.features.value[slots[1 + k]]);
        m.angular_velocity += 0.5 * m.frame.axes.col(k).cross(in_space<D>(context.features.rate[slots[1 + k]]));
    }
    return m;
}

// Numbers r with p = x + sum r_k e_k, after a 1 for x itself.
template <int D>
Vec<D + 1> share(const MovingFrame& m, const Vec3& point) {
    Vec<D + 1> r;
    r << 1, m.frame.local_point(point).template head<D>();
    return r;
}

template <int D>
void find_points(const ForceElement<D>& e, const MeasureContext<D>& context, double t, const MovingFrame& a,
                 const MovingFrame& b, CompliantPoints& points) {
    SurfaceBristles bristles;
    double passed = 0;
    if (e.bristle_memory >= 0) {
        const double* memory = context.memory.data() + e.bristle_memory;
        bristles = {Eigen::Map<const Vec3>(memory + bristle_bend), memory[bristle_rest]};
        passed = std::max(0.0, t - memory[bristle_time]);
    }
    evaluate_contact(*e.contact, a, b, D == 2, bristles, passed, points);
}

template <int D>
void contact_forces(const ForceElement<D>& e, const MeasureContext<D>& context, const int* slots, double t,
                    Vec<D>* out) {
    const MovingFrame a = moving_frame(context, slots);
    const MovingFrame b = moving_frame(context, slots + D + 1);
    CompliantPoints points;
    find_points(e, context, t, a, b, points);
    for (int i = 0; i < e.slot_count; ++i) out[i].setZero();
    for (int c = 0; c < points.count; ++c) {
        const CompliantPoint& p = points.points[c];
        const Vec<D + 1> on_a = share<D>(a, p.point);
        const Vec<D + 1> on_b = share<D>(b, p.point);
        const Mat<D> turn = half_turn<D>(p.torque);
        for (int i = 0; i <= D; ++i) {
            out[i] -= on_a[i] * p.force.template head<D>();
            out[D + 1 + i] += on_b[i] * p.force.template head<D>();
            if (i == 0) continue;
            out[i] -= turn * context.features.value[slots[i]];
            out[D + 1 + i] += turn * context.features.value[slots[D + 1 + i]];
        }
    }
}

// What the moment of a contact point adds to the blocks: the force on an axis e is T x e / 2 (on those of a with the other sign), and an axis that
// moves at e' contributes e x e' / 2 to the angular velocity.
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

/// Sum of one number over the points of a contact.
template <int D>
double contact_sum(const ForceElement<D>& e, const MeasureContext<D>& context, const int* slots, double t,
                   double (*number)(const CompliantPoint&)) {
    CompliantPoints points;
    find_points(e, context, t, moving_frame(context, slots), moving_frame(context, slots + D + 1), points);
    double sum = 0;
    for (int c = 0; c < points.count; ++c) sum += number(points.points[c]);
    return sum;
}

// Torque of a couple in world axes. In the plane only z counts.
template <int D>
Vec3 couple_vector(const ForceElement<D>& e, const MeasureContext<D>& c, const int* slots, double t) {
    const Vec3 w = components(e, t);
    if (D == 2 || !e.in_marker_axes) return w;
    Vec3 torque = Vec3::Zero();
    for (int k = 0; k < D; ++k) torque.template head<D>() += w[k] * c.features.value[slots[k]];
    return torque;
}

inline constexpr int max_bushing_components = 6;
using Components = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, max_bushing_components, 1>;

// The measures of a bushing share its features, and each has one slot.
int slot_of(const int* slots, int feature) {
    int slot = 0;
    while (slots[slot] != feature) ++slot;
    return slot;
}

// Displacements of a bushing and their rates.
template <int D>
void bushing_state(const ForceElement<D>& e, const std::vector<Measure<D>>& measures, const MeasureContext<D>& c,
                   Components& x, Components& v) {
    const auto n = static_cast<Eigen::Index>(e.components.size());
    x.setZero(n);
    v.setZero(n);
    for (Eigen::Index i = 0; i < n; ++i)
        for (const RowTerm& term : e.components[i]) {
            x[i] += term.coefficient * compute_value(measures[term.measure], c);
            v[i] += term.coefficient * compute_rate(measures[term.measure], c);
        }
}

template <int D>
Vec<D> pull_force(const ForceElement<D>& e, const MeasureContext<D>& c, int feature) {
    Vec<D> target;
    for (int k = 0; k < D; ++k) target[k] = c.memory[e.target_memory + k];
    return e.gain * (target - c.features.value[feature]) - e.rate_gain * c.features.rate[feature];
}

template <int D>
Vec<D> wrench_force(const ForceElement<D>& e, const MeasureContext<D>& c) {
    return Eigen::Map<const Vec<D>>(c.memory.data() + e.wrench_memory);
}

template <int D>
Mat<D> wrench_turn(const ForceElement<D>& e, const MeasureContext<D>& c) {
    const double* torque = c.memory.data() + e.wrench_memory + D;
    return half_turn<D>(D == 2 ? Vec3(0, 0, torque[0]) : Vec3(Eigen::Map<const Vec3>(torque)));
}

template <int D>
Components bushing_forces(const ForceElement<D>& e, const std::vector<Measure<D>>& measures,
                          const MeasureContext<D>& c) {
    Components x;
    Components v;
    bushing_state(e, measures, c, x, v);
    Components w(x.size());
    w.noalias() = -e.stiffness * x;
    w.noalias() -= e.damping * v;
    return w;
}

// Force of a slipping contact, or load of a compliant law: linear between two instants.
double slip_force_at(const double* memory, double t) {
    const double length = memory[slip_time_after] - memory[slip_time];
    const double share = length > 0 ? std::clamp((t - memory[slip_time]) / length, 0.0, 1.0) : 1;
    return memory[slip_force] + share * (memory[slip_force_after] - memory[slip_force]);
}

Bristles bristles_in(const double* memory) {
    return {memory[slip_bend], memory[slip_place], memory[slip_rest]};
}

}  // namespace

template <int D>
void ForceSet<D>::add(ForceElement<D> element, const std::vector<int>& slots) {
    element.first_slot = static_cast<int>(slot_feature.size());
    element.slot_count = static_cast<int>(slots.size());
    slot_feature.insert(slot_feature.end(), slots.begin(), slots.end());
    elements.push_back(std::move(element));
}

template <int D>
bool ForceSet<D>::is_felt_by_common_motion(const ForceElement<D>& e, const std::vector<Measure<D>>& measures) const {
    const auto is_component = [&](int measure) { return measures[measure].kind == MeasureKind::component; };
    if (e.kind == ForceKind::vector || e.kind == ForceKind::couple || e.kind == ForceKind::drag ||
        e.kind == ForceKind::pull || e.kind == ForceKind::tyre || e.kind == ForceKind::contact ||
        e.kind == ForceKind::wrench)
        return true;
    if (e.measure >= 0 && is_component(e.measure)) return true;
    for (const LawInput& input : e.inputs)
        if (is_component(input.measure)) return true;
    for (const auto& component : e.components)
        for (const RowTerm& term : component)
            if (is_component(term.measure)) return true;
    return false;
}

template <int D>
int ForceSet<D>::max_slots() const {
    int most = 0;
    for (const auto& e : elements) most = std::max(most, e.slot_count);
    return most;
}

template <int D>
FrictionForce ForceSet<D>::compliant_friction(const ForceElement<D>& e, const std::vector<Measure<D>>& measures,
                                              const MeasureContext<D>& context, double t) const {
    const double* memory = context.memory.data() + e.slip_memory;
    return evaluate_friction(e.friction, slip_force_at(memory, t), compute_value(measures[e.measure], context),
                             compute_rate(measures[e.measure], context), bristles_in(memory),
                             std::max(0.0, t - memory[slip_time]));
}

template <int D>
void ForceSet<D>::advance_friction(int element, const std::vector<Measure<D>>& measures,
                                   const MeasureContext<D>& context, double t, std::vector<double>& memory) const {
    const ForceElement<D>& e = elements[element];
    if (e.kind == ForceKind::contact) return advance_contact(e, context, t, memory);
    double* slip = memory.data() + e.slip_memory;
    const Bristles end = advance_bristles(e.friction, compute_value(measures[e.measure], context),
                                          compute_rate(measures[e.measure], context), bristles_in(slip),
                                          std::max(0.0, t - slip[slip_time]));
    slip[slip_bend] = end.bend;
    slip[slip_place] = end.place;
    slip[slip_rest] = end.rest;
    slip[slip_time] = slip[slip_time_after] = t;
}

template <int D>
auto ForceSet<D>::slip_force_of(const ForceElement<D>& e, const std::vector<Measure<D>>& measures,
                                const MeasureContext<D>& context, double t) const -> SlipForce {
    SlipForce slip;
    const double* memory = context.memory.data() + e.slip_memory;
    if (memory[slip_is_on] == 0) return slip;
    const int* slots = slot_feature.data() + e.first_slot;
    slip.directions = e.measure >= 0 ? 1 : D - 1;
    for (int d = 0; d < slip.directions; ++d) {
        if (e.measure >= 0) {
            compute_gradient(measures[e.measure], context, slip.gradient[d].data());
        } else {
            compute_sliding_gradient(context.features, slots, e.slip_rows[d], slip.gradient[d].data());
        }
        for (int k = 0; k < e.slot_count; ++k) slip.rate[d] += slip.gradient[d][k].dot(context.features.rate[slots[k]]);
    }
    if (e.friction.is_compliant()) {
        slip.force[0] = compliant_friction(e, measures, context, t).force;
        return slip;
    }
    const double force = slip_force_at(memory, t);
    for (int d = 0; d < slip.directions; ++d) slip.force[d] = -force * memory[slip_direction + d];
    return slip;
}

template <int D>
typename ForceSet<D>::ScalarState ForceSet<D>::scalar_state(const ForceElement<D>& e,
                                                            const std::vector<Measure<D>>& measures,
                                                            const MeasureContext<D>& context) const {
    ScalarState state{};
    const Measure<D>& m = measures[e.measure];
    state.x = compute_value(m, context) - e.free_value;
    state.v = compute_rate(m, context);
    for (std::size_t i = 0; i < e.inputs.size(); ++i) {
        const Measure<D>& input = measures[e.inputs[i].measure];
        state.inputs[i] = e.inputs[i].is_rate ? compute_rate(input, context) : compute_value(input, context);
    }
    return state;
}

template <int D>
double ForceSet<D>::servo_force(const ForceElement<D>& e, double x, double v, double t, bool* saturated) const {
    const Taylor2 target = e.target.at(t);
    const double force = e.gain * (target.value - x) + e.rate_gain * (target.first - v);
    *saturated = e.limit > 0 && std::abs(force) > e.limit;
    return *saturated ? std::copysign(e.limit, force) : force;
}

template <int D>
double ForceSet<D>::scalar_force(int element, const std::vector<Measure<D>>& measures, const MeasureContext<D>& context,
                                 double t) const {
    const ForceElement<D>& e = elements[element];
    if (e.kind == ForceKind::scalar) {
        const ScalarState s = scalar_state(e, measures, context);
        return e.law.force(s.x, s.v, t, s.input_span(e.inputs.size()));
    }
    if (e.kind == ForceKind::servo) {
        const ScalarState s = scalar_state(e, measures, context);
        bool saturated = false;
        return servo_force(e, s.x, s.v, t, &saturated);
    }
    if (e.kind == ForceKind::bushing) return bushing_forces(e, measures, context).template head<D>().norm();
    if (e.kind == ForceKind::drag) {
        const Vec<D> v = context.features.rate[slot_feature[e.first_slot]] - e.medium;
        return (e.linear + e.quadratic * v.norm()) * v.norm();
    }
    if (e.kind == ForceKind::pull) return pull_force(e, context, slot_feature[e.first_slot]).norm();
    if (e.kind == ForceKind::tyre) return tyre_wrench(e, context, slot_feature.data() + e.first_slot).normal;
    if (e.kind == ForceKind::contact)
        return contact_sum(e, context, slot_feature.data() + e.first_slot, t,
                           [](const CompliantPoint& p) { return p.normal; });
    if (e.kind == ForceKind::wrench) return wrench_force(e, context).norm();
    if (e.kind == ForceKind::friction) {
        const SlipForce slip = slip_force_of(e, measures, context, t);
        return e.measure >= 0 ? slip.force[0] : std::hypot(slip.force[0], slip.force[1]);
    }
    return components(e, t).norm();
}

template <int D>
void ForceSet<D>::find_contact_points(int element, const MeasureContext<D>& context, double t,
                                      CompliantPoints& points) const {
    const int* slots = &slot_feature[elements[element].first_slot];
    find_points(elements[element], context, t, moving_frame(context, slots), moving_frame(context, slots + D + 1),
                points);
}

template <int D>
void ForceSet<D>::advance_contact(const ForceElement<D>& e, const MeasureContext<D>& context, double t,
                                  std::vector<double>& memory) const {
    const int* slots = slot_feature.data() + e.first_slot;
    CompliantPoints points;
    find_points(e, context, t, moving_frame(context, slots), moving_frame(context, slots + D + 1), points);
    const SurfaceBristles end = mean_bristles(points);
    double* bristles = memory.data() + e.bristle_memory;
    bristles[bristle_time] = t;
    Eigen::Map<Vec3>(bristles + bristle_bend) = end.bend;
    bristles[bristle_rest] = end.rest;
}

template <int D>
void ForceSet<D>::evaluate(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t,
                           std::vector<Vec<D>>& slot_force) const {
    for (const ForceElement<D>& e : elements) {
        Vec<D>* out = slot_force.data() + e.first_slot;
        const int* slots = slot_feature.data() + e.first_slot;
        switch (e.kind) {
            case ForceKind::scalar:
            case ForceKind::servo: {
                const ScalarState s = scalar_state(e, measures, context);
                bool saturated = false;
                const double force = e.kind == ForceKind::servo
                                         ? servo_force(e, s.x, s.v, t, &saturated)
                                         : e.sign * e.law.force(s.x, s.v, t, s.input_span(e.inputs.size()));
                MeasureGradient<D> g;
                const Measure<D>& m = measures[e.measure];
                compute_gradient(m, context, g.data());
                for (int i = 0; i < m.count; ++i) out[i] = force * g[i];
                for (int i = m.count; i < e.slot_count; ++i) out[i].setZero();
                break;
            }
            case ForceKind::vector: {
                const Vec3 f = components(e, t);
                if (e.in_marker_axes) {
                    out[0].setZero();
                    for (int k = 0; k < D; ++k) out[0] += f[k] * context.features.value[slots[1 + k]];
                } else {
                    out[0] = f.template head<D>();
                }
                for (int k = 1; k < e.slot_count; ++k) out[k].setZero();
                break;
            }
            case ForceKind::couple: {
                const Mat<D> turn = half_turn<D>(couple_vector(e, context, slots, t));
                for (int k = 0; k < D; ++k) out[k] = turn * context.features.value[slots[k]];
                break;
            }
            case ForceKind::bushing: {
                const Components w = bushing_forces(e, measures, context);
                MeasureGradient<D> g;
                std::fill(out, out + e.slot_count, Vec<D>::Zero());
                for (std::size_t i = 0; i < e.components.size(); ++i)
                    for (const RowTerm& term : e.components[i]) {
                        const Measure<D>& m = measures[term.measure];
                        compute_gradient(m, context, g.data());
                        for (int k = 0; k < m.count; ++k)
                            out[slot_of(slots, m.feature[k])] +=
                                w[static_cast<Eigen::Index>(i)] * term.coefficient * g[k];
                    }
                break;
            }
            case ForceKind::drag: {
                const Vec<D> v = context.features.rate[slots[0]] - e.medium;
                out[0] = -(e.linear + e.quadratic * v.norm()) * v;
                break;
            }
            case ForceKind::pull: out[0] = pull_force(e, context, slots[0]); break;
            case ForceKind::friction: {
                for (int k = 0; k < e.slot_count; ++k) out[k].setZero();
                const SlipForce slip = slip_force_of(e, measures, context, t);
                for (int d = 0; d < slip.directions; ++d)
                    for (int k = 0; k < e.slot_count; ++k) out[k] += slip.force[d] * slip.gradient[d][k];
                break;
            }
            case ForceKind::contact: contact_forces(e, context, slots, t, out); break;
            case ForceKind::tyre: {
                const TyreWrench w = tyre_wrench(e, context, slots);
                out[0] = w.force.template head<D>();
                const Mat<D> turn = half_turn<D>(w.moment);
                for (int k = 1; k < e.slot_count; ++k) out[k] = turn * context.features.value[slots[k]];
                break;
            }
            case ForceKind::wrench: {
                out[0] = wrench_force(e, context);
                const Mat<D> turn = wrench_turn(e, context);
                for (int k = 1; k < e.slot_count; ++k) out[k] = turn * context.features.value[slots[k]];
                break;
            }
        }
    }
}

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
        // The stepper finds the force by a fixed point; what the turning of its direction contributes is left to Newton's method.
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

template <int D>
double ForceSet<D>::potential(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context,
                              double t) const {
    double sum = 0;
    for (const ForceElement<D>& e : elements) {
        const int* slots = slot_feature.data() + e.first_slot;
        if (e.kind == ForceKind::scalar) {
            const double x = compute_value(measures[e.measure], context) - e.free_value;
            sum -= e.sign * e.law.potential(x);
        } else if (e.kind == ForceKind::bushing) {
            Components x;
            Components v;
            bushing_state(e, measures, context, x, v);
            sum += 0.25 * x.dot((e.stiffness + e.stiffness.transpose()) * x);
        } else if (e.kind == ForceKind::contact) {
            sum += contact_sum(e, context, slots, t, [](const CompliantPoint& p) { return p.elastic_energy; });
        } else if (e.kind == ForceKind::vector && !e.in_marker_axes) {
            // A constant force in world axes has the potential -F . p; one that changes with time does work.
            for (int k = 0; k < D; ++k)
                if (e.component[k].is_constant()) sum -= e.component[k].value(t) * context.features.value[slots[0]][k];
        }
    }
    return sum;
}

template <int D>
void ForceSet<D>::evaluate_without_potential(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context,
                                             double t, std::vector<Vec<D>>& slot_force) const {
    evaluate(measures, context, t, slot_force);
    MeasureGradient<D> g;
    for (const ForceElement<D>& e : elements) {
        Vec<D>* out = slot_force.data() + e.first_slot;
        const int* slots = slot_feature.data() + e.first_slot;
        if (e.kind == ForceKind::scalar) {
            const ScalarState s = scalar_state(e, measures, context);
            const double rest = e.sign * e.law.rest(s.x, s.v, t, s.input_span(e.inputs.size()));
            const Measure<D>& m = measures[e.measure];
            compute_gradient(m, context, g.data());
            for (int i = 0; i < m.count; ++i) out[i] = rest * g[i];
        } else if (e.kind == ForceKind::bushing) {
            Components x;
            Components v;
            bushing_state(e, measures, context, x, v);
            const Components elastic = 0.5 * (e.stiffness + e.stiffness.transpose()) * x;
            for (std::size_t i = 0; i < e.components.size(); ++i)
                for (const RowTerm& term : e.components[i]) {
                    const Measure<D>& m = measures[term.measure];
                    compute_gradient(m, context, g.data());
                    for (int k = 0; k < m.count; ++k)
                        out[slot_of(slots, m.feature[k])] +=
                            elastic[static_cast<Eigen::Index>(i)] * term.coefficient * g[k];
                }
        } else if (e.kind == ForceKind::vector && !e.in_marker_axes) {
            for (int k = 0; k < D; ++k)
                if (e.component[k].is_constant()) out[0][k] = 0;
        } else if (e.kind == ForceKind::contact) {
            std::fill(out, out + e.slot_count, Vec<D>::Zero());
        }
    }
}

template <int D>
double ForceSet<D>::contact_power(const MeasureContext<D>& context, double t) const {
    double sum = 0;
    for (const ForceElement<D>& e : elements)
        if (e.kind == ForceKind::contact)
            sum += contact_sum(e, context, slot_feature.data() + e.first_slot, t,
                               [](const CompliantPoint& p) { return p.power + p.elastic_power; });
    return sum;
}

template <int D>
double ForceSet<D>::power(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t) const {
    double sum = 0;
    for (const ForceElement<D>& e : elements) {
        const int* slots = slot_feature.data() + e.first_slot;
        const auto& rate = context.features.rate;
        switch (e.kind) {
            case ForceKind::scalar: {
                const ScalarState s = scalar_state(e, measures, context);
                sum += e.sign * e.law.rest(s.x, s.v, t, s.input_span(e.inputs.size())) * s.v;
                break;
            }
            case ForceKind::servo: {
                const ScalarState s = scalar_state(e, measures, context);
                bool saturated = false;
                sum += servo_force(e, s.x, s.v, t, &saturated) * s.v;
                break;
            }
            case ForceKind::vector: {
                const Vec3 f = components(e, t);
                for (int k = 0; k < D; ++k) {
                    if (e.in_marker_axes) {
                        sum += f[k] * context.features.value[slots[1 + k]].dot(rate[slots[0]]);
                    } else if (!e.component[k].is_constant()) {
                        sum += f[k] * rate[slots[0]][k];
                    }
                }
                break;
            }
            case ForceKind::couple: {
                const Mat<D> turn = half_turn<D>(couple_vector(e, context, slots, t));
                for (int k = 0; k < D; ++k) sum += (turn * context.features.value[slots[k]]).dot(rate[slots[k]]);
                break;
            }
            case ForceKind::bushing: {  // damping, and whatever part of the stiffness is not symmetric
                Components x;
                Components v;
                bushing_state(e, measures, context, x, v);
                sum -= v.dot(e.damping * v) + 0.5 * v.dot((e.stiffness - e.stiffness.transpose()) * x);
                break;
            }
            case ForceKind::drag: {
                const Vec<D> v = rate[slots[0]] - e.medium;
                sum -= (e.linear + e.quadratic * v.norm()) * v.dot(rate[slots[0]]);
                break;
            }
            case ForceKind::friction: {
                const SlipForce slip = slip_force_of(e, measures, context, t);
                for (int d = 0; d < slip.directions; ++d) sum += slip.force[d] * slip.rate[d];
                break;
            }
            // The hand that holds the target puts energy in and takes it out: no potential.
            case ForceKind::contact:  // damping and friction
                sum += contact_sum(e, context, slots, t,
                                   [](const CompliantPoint& p) { return p.power + p.elastic_power; });
                break;
            case ForceKind::pull: sum += pull_force(e, context, slots[0]).dot(rate[slots[0]]); break;
            case ForceKind::tyre: {
                const TyreWrench w = tyre_wrench(e, context, slots);
                sum += w.force.template head<D>().dot(rate[slots[0]]);
                const Mat<D> turn = half_turn<D>(w.moment);
                for (int k = 1; k < e.slot_count; ++k)
                    sum += (turn * context.features.value[slots[k]]).dot(rate[slots[k]]);
                break;
            }
            case ForceKind::wrench: {
                sum += wrench_force(e, context).dot(rate[slots[0]]);
                const Mat<D> turn = wrench_turn(e, context);
                for (int k = 1; k < e.slot_count; ++k)
                    sum += (turn * context.features.value[slots[k]]).dot(rate[slots[k]]);
                break;
            }
        }
    }
    return sum;
}

template class ForceSet<2>;
template class ForceSet<3>;

}  // namespace limber
