#include "limber/kinematics/elements/force_set.hpp"

#include <algorithm>
#include <cmath>

#include "limber/kinematics/elements/force_parts.hpp"

namespace limber {

using namespace force_parts;

namespace {

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

template class ForceSet<2>;
template class ForceSet<3>;

}  // namespace limber
