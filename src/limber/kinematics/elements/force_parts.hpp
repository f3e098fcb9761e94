#pragma once
// Pieces of the forces that their evaluation, their tangent and their energy have in common. For the files of ForceSet
// only.

#include <algorithm>

#include "limber/kinematics/elements/force_set.hpp"
#include "limber/math/rotation.hpp"

namespace limber::force_parts {

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
inline int slot_of(const int* slots, int feature) {
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

}  // namespace limber::force_parts
