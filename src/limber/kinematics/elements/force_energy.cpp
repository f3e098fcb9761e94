// Energy of forces that have a potential, forces and power of all others.

#include <algorithm>
#include <cmath>

#include "limber/kinematics/elements/force_parts.hpp"

namespace limber {

using namespace force_parts;

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

template double ForceSet<2>::potential(const std::vector<Measure<2>>& measures, const MeasureContext<2>& context,
                                       double t) const;
template double ForceSet<3>::potential(const std::vector<Measure<3>>& measures, const MeasureContext<3>& context,
                                       double t) const;
template void ForceSet<2>::evaluate_without_potential(const std::vector<Measure<2>>& measures,
                                                      const MeasureContext<2>& context, double t,
                                                      std::vector<Vec<2>>& slot_force) const;
template void ForceSet<3>::evaluate_without_potential(const std::vector<Measure<3>>& measures,
                                                      const MeasureContext<3>& context, double t,
                                                      std::vector<Vec<3>>& slot_force) const;
template double ForceSet<2>::contact_power(const MeasureContext<2>& context, double t) const;
template double ForceSet<3>::contact_power(const MeasureContext<3>& context, double t) const;
template double ForceSet<2>::power(const std::vector<Measure<2>>& measures, const MeasureContext<2>& context,
                                   double t) const;
template double ForceSet<3>::power(const std::vector<Measure<3>>& measures, const MeasureContext<3>& context,
                                   double t) const;

}  // namespace limber
