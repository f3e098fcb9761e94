#pragma once
// One contact alone: Coulomb's law solved exactly for a block of the Delassus operator. T tangential directions, 1
// or 2.
//
// While it slides, u_n = 0 and u_t = -s p_t for some s >= 0. With the normal impulse eliminated,
//   (A + s) p_t = -b,   A = W_tt - W_tn W_nt / W_nn,   b = q_t - W_tn q_n / W_nn,
// and |p_t| - mu p_n falls from a positive value at s = 0 (it does not stick) to a negative one: one bracketed root. It
// is found as that of 1 - mu p_n / |p_t|, which is nearly straight.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "limber/math/types.hpp"

namespace limber {

/// Axes (columns) and values of a symmetric 1x1 or 2x2 matrix.
template <int T>
struct PrincipalAxes {
    Mat<T> axes = Mat<T>::Identity();
    Vec<T> values;

    explicit PrincipalAxes(const Mat<T>& a) {
        values = a.diagonal();
        if constexpr (T == 2) {
            const double off = a(0, 1);
            if (off == 0) return;
            const double tau = (a(1, 1) - a(0, 0)) / (2 * off);
            const double t = std::copysign(1.0, tau) / (std::abs(tau) + std::sqrt(1 + tau * tau));
            const double c = 1 / std::sqrt(1 + t * t);
            axes << c, c * t, -c * t, c;
            values += t * off * Vec2(-1, 1);
        }
    }
};

/// Where the falling function g passes through zero between 0 and infinity; `step` is a length of s that matters. g
/// returns value and slope.
template <class Function>
double find_falling_root(const Function& g, double step) {
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
    double s = 0;
    for (int k = 0; k < 100 && low < 1e300; ++k) {
        const std::array<double, 2> at = g(s);
        (at[0] > 0 ? low : high) = s;
        double next = s - at[0] / at[1];
        // Newton's method squares the error: what is left of this change is rounding.
        if (std::abs(next - s) <= 1e-10 * s) return next;
        if (!(next > low && next < high)) next = std::isinf(high) ? std::max(8 * low, step) : 0.5 * (low + high);
        s = next;
    }
    return s;
}

/// min 1/2 x A x + b x  over |x| <= radius.
template <int T>
Vec<T> solve_disc(const Mat<T>& a, const Vec<T>& b, double radius) {
    if (!(radius > 0)) return Vec<T>::Zero();
    const PrincipalAxes<T> principal(a);
    const double floor = 1e-13 * principal.values.maxCoeff();
    if (!(floor > 0)) return Vec<T>::Zero();
    const Vec<T> w = principal.values.cwiseMax(floor);
    const Vec<T> c = principal.axes.transpose() * b;
    const auto at = [&](double s) -> Vec<T> { return -c.array() / (w.array() + s); };
    Vec<T> x = at(0);
    if (x.norm() > radius) {
        const auto excess = [&](double s) -> std::array<double, 2> {
            const Vec<T> y = at(s);
            const double length = y.norm();
            const double rate = -(y.array().square() / (w.array() + s)).sum() / length;
            return {1 - radius / length, radius * rate / (length * length)};
        };
        x = at(find_falling_root(excess, w.maxCoeff()));
    }
    return principal.axes * x;
}

/// A contact's own block of W, prepared: it is solved in every sweep.
template <int T>
class LocalContact {
public:
    LocalContact() = default;
    explicit LocalContact(const Mat<T + 1>& w) : normal_(w(0, 0)) {
        if (!(normal_ > 0)) return;
        coupling_ = w.template block<T, 1>(1, 0) / normal_;
        const PrincipalAxes<T> principal(w.template block<T, T>(1, 1) - coupling_ * w.template block<1, T>(0, 1));
        values_ = principal.values.cwiseMax(1e-13 * normal_);
        axes_ = principal.axes;
        lift_ = axes_.transpose() * coupling_;
    }

    /// Impulse (normal, tangential): W p + q obeys Coulomb's law.
    Vec<T + 1> solve(const Vec<T + 1>& q, double friction) const {
        Vec<T + 1> p = Vec<T + 1>::Zero();
        if (q[0] >= 0 || !(normal_ > 0)) return p;
        p[0] = -q[0] / normal_;
        if (!(friction > 0)) return p;
        const Vec<T> c = axes_.transpose() * (q.template tail<T>() - coupling_ * q[0]);
        const auto tangential = [&](double s) -> Vec<T> { return -c.array() / (values_.array() + s); };
        Vec<T> t = tangential(0);
        if (t.norm() > friction * (p[0] - lift_.dot(t))) {
            const auto excess = [&](double s) -> std::array<double, 2> {
                const Vec<T> y = tangential(s);
                const Vec<T> rate = -y.array() / (values_.array() + s);
                const double length = y.norm();
                const double radius = friction * (p[0] - lift_.dot(y));
                return {1 - radius / length,
                        (friction * lift_.dot(rate) + radius * y.dot(rate) / (length * length)) / length};
            };
            t = tangential(find_falling_root(excess, values_.maxCoeff()));
        }
        p[0] = std::max(0.0, p[0] - lift_.dot(t));
        p.template tail<T>() = axes_ * t;
        return p;
    }

private:
    double normal_ = 0;                 // W_nn
    Vec<T> coupling_ = Vec<T>::Zero();  // W_tn / W_nn
    Mat<T> axes_ = Mat<T>::Identity();  // of A
    Vec<T> values_ = Vec<T>::Zero();    // of A
    Vec<T> lift_ = Vec<T>::Zero();      // coupling along the axes
};

}  // namespace limber
