#include "limber/kinematics/forces/compliant_contact.hpp"

#include <algorithm>

#include "limber/kinematics/forces/torque_on_axes.hpp"

namespace limber {
namespace {

// The frame that a point and the axes after it make.
template <int D>
MovingFrame moving_frame(const ForceView<D>& at, int first_slot) {
    MovingFrame m;
    m.frame.position = in_space<D>(at.value(first_slot));
    m.velocity = in_space<D>(at.rate(first_slot));
    for (int k = 0; k < D; ++k) {
        m.frame.axes.col(k) = in_space<D>(at.value(first_slot + 1 + k));
        m.angular_velocity += 0.5 * m.frame.axes.col(k).cross(in_space<D>(at.rate(first_slot + 1 + k)));
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
void find_points_between(const CompliantContact<D>& contact, const ForceView<D>& at, const MovingFrame& a,
                         const MovingFrame& b, CompliantPoints& points) {
    SurfaceBristles bristles;
    double passed = 0;
    if (contact.bristles.exists()) {
        const auto known = contact.bristles.in(at.context.memory);
        bristles = {known.bend, known.rest};
        passed = std::max(0.0, at.t - known.time);
    }
    evaluate_contact(*contact.pair, a, b, D == 2, bristles, passed, points);
}

// What the moment of a contact point adds to the blocks: the force on an axis e is T x e / 2 (on those of a with the
// other sign), and an axis that moves at e' contributes e x e' / 2 to the angular velocity.
template <int D>
void add_turning_blocks(const CompliantPoint& p, const ForceView<D>& at, const Vec<2 * D + 2>& weight,
                        ForceBlocks<D>& blocks) {
    const auto half_axis = [&](int slot) {
        const double sign = slot > D ? 1 : -1;
        return Mat3(0.5 * sign * skew(in_space<D>(at.value(slot))));
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

}  // namespace

template <int D>
void CompliantContact<D>::find_points(const ForceView<D>& at, CompliantPoints& points) const {
    find_points_between(*this, at, moving_frame(at, 0), moving_frame(at, D + 1), points);
}

template <int D>
void CompliantContact<D>::evaluate(const ForceView<D>& at, Vec<D>* out) const {
    const MovingFrame a = moving_frame(at, 0);
    const MovingFrame b = moving_frame(at, D + 1);
    CompliantPoints points;
    find_points_between(*this, at, a, b, points);
    for (int i = 0; i < at.slot_count; ++i) out[i].setZero();
    for (int c = 0; c < points.count; ++c) {
        const CompliantPoint& p = points.points[c];
        const Vec<D + 1> on_a = share<D>(a, p.point);
        const Vec<D + 1> on_b = share<D>(b, p.point);
        const Mat<D> turn = half_turn<D>(p.torque);
        for (int i = 0; i <= D; ++i) {
            out[i] -= on_a[i] * p.force.template head<D>();
            out[D + 1 + i] += on_b[i] * p.force.template head<D>();
            if (i == 0) continue;
            out[i] -= turn * at.value(i);
            out[D + 1 + i] += turn * at.value(D + 1 + i);
        }
    }
}

template <int D>
bool CompliantContact<D>::compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const {
    const MovingFrame a = moving_frame(at, 0);
    const MovingFrame b = moving_frame(at, D + 1);
    CompliantPoints points;
    find_points_between(*this, at, a, b, points);
    for (int c = 0; c < points.count; ++c) {
        const CompliantPoint& p = points.points[c];
        Vec<2 * D + 2> weight;
        weight << -share<D>(a, p.point), share<D>(b, p.point);
        for (int i = 0; i < at.slot_count; ++i)
            for (int j = 0; j < at.slot_count; ++j) {
                blocks.k(i, j) -= weight[i] * weight[j] * p.by_place.template topLeftCorner<D, D>();
                blocks.c(i, j) -= weight[i] * weight[j] * p.by_velocity.template topLeftCorner<D, D>();
            }
        if (pair->law.resists_turning()) add_turning_blocks(p, at, weight, blocks);
    }
    return true;
}

template <int D>
double CompliantContact<D>::sum_over_points(const ForceView<D>& at, double (*number)(const CompliantPoint&)) const {
    CompliantPoints points;
    find_points(at, points);
    double sum = 0;
    for (int c = 0; c < points.count; ++c) sum += number(points.points[c]);
    return sum;
}

template <int D>
double CompliantContact<D>::compute_size(const ForceView<D>& at) const {
    return sum_over_points(at, [](const CompliantPoint& p) { return p.normal; });
}

template <int D>
double CompliantContact<D>::compute_potential(const ForceView<D>& at) const {
    return sum_over_points(at, [](const CompliantPoint& p) { return p.elastic_energy; });
}

template <int D>
void CompliantContact<D>::evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const {
    std::fill(out, out + at.slot_count, Vec<D>::Zero());
}

template <int D>
double CompliantContact<D>::compute_power(const ForceView<D>& at, Vec<D>* /*scratch*/) const {
    return sum_over_points(at, [](const CompliantPoint& p) { return p.power + p.elastic_power; });
}

template <int D>
void CompliantContact<D>::advance_bristles(const ForceView<D>& at, std::vector<double>& to) const {
    CompliantPoints points;
    find_points(at, points);
    const SurfaceBristles end = mean_bristles(points);
    auto kept = bristles.in(to);
    kept.time = at.t;
    kept.bend = end.bend;
    kept.rest = end.rest;
}

template struct CompliantContact<2>;
template struct CompliantContact<3>;

}  // namespace limber
