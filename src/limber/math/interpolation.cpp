#include "limber/math/interpolation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace limber {
namespace {

// Second derivatives of the natural cubic spline, for any type with vector arithmetic.
template <class Y>
std::vector<Y> natural_curvatures(const std::vector<double>& x, const std::vector<Y>& y, const Y& zero) {
    const int n = static_cast<int>(x.size());
    std::vector<Y> m(n, zero);
    std::vector<double> c(n, 0.0);
    for (int i = 1; i + 1 < n; ++i) {
        const double h0 = x[i] - x[i - 1];
        const double h1 = x[i + 1] - x[i];
        const Y rhs = 6.0 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0);
        const double pivot = 2 * (h0 + h1) - h0 * c[i - 1];
        c[i] = h1 / pivot;
        m[i] = (rhs - h0 * m[i - 1]) / pivot;
    }
    for (int i = n - 2; i >= 1; --i) m[i] = m[i] - c[i] * m[i + 1];
    return m;
}

// Closed curve: y.front() == y.back(); the cyclic system is solved densely (set-up only).
template <int D>
std::vector<Vec<D>> periodic_curvatures(const std::vector<double>& x, const std::vector<Vec<D>>& y) {
    const int n = static_cast<int>(x.size()) - 1;
    MatX a = MatX::Zero(n, n);
    MatX b(n, D);
    for (int i = 0; i < n; ++i) {
        const int before = (i + n - 1) % n;
        const double h0 = x[before + 1] - x[before];
        const double h1 = x[i + 1] - x[i];
        a(i, i) += 2 * (h0 + h1);
        a(i, before) += h0;
        a(i, (i + 1) % n) += h1;
        b.row(i) = 6.0 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[before]) / h0).transpose();
    }
    // Gaussian elimination without pivoting: the matrix is strictly diagonally dominant.
    for (int k = 0; k < n; ++k)
        for (int i = k + 1; i < n; ++i) {
            const double factor = a(i, k) / a(k, k);
            if (factor == 0) continue;
            a.row(i) -= factor * a.row(k);
            b.row(i) -= factor * b.row(k);
        }
    std::vector<Vec<D>> m(n + 1);
    for (int i = n - 1; i >= 0; --i) {
        Vec<D> sum = b.row(i).transpose();
        for (int j = i + 1; j < n; ++j) sum -= a(i, j) * m[j];
        m[i] = sum / a(i, i);
    }
    m[n] = m[0];
    return m;
}

int interval(const std::vector<double>& x, double at) {
    const auto it = std::upper_bound(x.begin(), x.end(), at);
    const auto last = static_cast<std::ptrdiff_t>(x.size()) - 2;
    return static_cast<int>(std::clamp<std::ptrdiff_t>(it - x.begin() - 1, 0, last));
}

}  // namespace

Interpolation::Interpolation(std::vector<double> x, std::vector<double> y, Kind kind)
    : x_(std::move(x)), y_(std::move(y)), kind_(kind) {
    if (kind_ == Kind::cubic) {
        curvature_ = natural_curvatures(x_, y_, 0.0);
        return;
    }
    constexpr double same_slope = 1e-9;
    double before = 0;  // the end value goes on
    for (std::size_t i = 0; i < x_.size(); ++i) {
        const double slope = i + 1 < x_.size() ? (y_[i + 1] - y_[i]) / (x_[i + 1] - x_[i]) : 0;
        if (std::abs(slope - before) > same_slope * (std::abs(slope) + std::abs(before))) kinks_.push_back(x_[i]);
        before = slope;
    }
}

UnaryDerivatives Interpolation::evaluate(double x) const {
    const int i = interval(x_, x);
    const double h = x_[i + 1] - x_[i];
    const double slope = (y_[i + 1] - y_[i]) / h;
    if (kind_ == Kind::linear) {
        if (x < x_.front()) return {y_.front(), 0, 0};
        if (x > x_.back()) return {y_.back(), 0, 0};
        return {y_[i] + slope * (x - x_[i]), slope, 0};
    }
    const double m0 = curvature_[i];
    const double m1 = curvature_[i + 1];
    const auto inside = [&](double at) -> UnaryDerivatives {
        const double u = at - x_[i];
        const double first = slope - h * (2 * m0 + m1) / 6;
        const double third = (m1 - m0) / h;
        return {y_[i] + u * (first + u * (m0 / 2 + u * third / 6)), first + u * (m0 + u * third / 2), m0 + u * third};
    };
    if (x < x_.front() || x > x_.back()) {
        const double end = x < x_.front() ? x_.front() : x_.back();
        const UnaryDerivatives at_end = inside(end);
        return {at_end.f + at_end.fx * (x - end), at_end.fx, 0};
    }
    return inside(x);
}

template <int D>
Curve<D>::Curve(std::vector<Vec<D>> points, bool closed) : points_(std::move(points)), closed_(closed) {
    if (closed_) points_.push_back(points_.front());
    knots_.push_back(0);
    for (std::size_t i = 1; i < points_.size(); ++i)
        knots_.push_back(knots_.back() + (points_[i] - points_[i - 1]).norm());
    curvature_ =
        closed_ ? periodic_curvatures<D>(knots_, points_) : natural_curvatures<Vec<D>>(knots_, points_, Vec<D>::Zero());
}

template <int D>
typename Curve<D>::Point Curve<D>::evaluate(double parameter) const {
    double s = parameter;
    if (closed_) {
        s = std::fmod(s, length());
        if (s < 0) s += length();
    }
    const int i = interval(knots_, s);
    const double h = knots_[i + 1] - knots_[i];
    const Vec<D> slope = (points_[i + 1] - points_[i]) / h;
    const Vec<D>& m0 = curvature_[i];
    const Vec<D>& m1 = curvature_[i + 1];
    const double inside = closed_ ? s : std::clamp(s, 0.0, length());
    const double u = inside - knots_[i];
    const Vec<D> first = slope - h * (2 * m0 + m1) / 6;
    const Vec<D> third = (m1 - m0) / h;
    Point p;
    p.position = points_[i] + u * (first + u * (m0 / 2 + u * third / 6));
    p.first = first + u * (m0 + u * third / 2);
    p.second = m0 + u * third;
    p.third = third;
    if (inside != s) {  // beyond the end of an open curve: straight on
        p.position += (s - inside) * p.first;
        p.second.setZero();
        p.third.setZero();
    }
    return p;
}

template <int D>
double Curve<D>::project(const Vec<D>& p, double guess) const {
    double s = guess;
    for (int i = 0; i < 30; ++i) {
        const Point c = evaluate(s);
        const Vec<D> gap = p - c.position;
        const double gradient = -gap.dot(c.first);
        double hessian = c.first.squaredNorm() - gap.dot(c.second);
        if (!(hessian > 0.1 * c.first.squaredNorm())) hessian = c.first.squaredNorm();
        const double change = -gradient / hessian;
        s += change;
        if (std::abs(change) < 1e-15 * (1 + length())) break;
    }
    return s;
}

template <int D>
double Curve<D>::project_globally(const Vec<D>& p) const {
    const int samples = 20 * static_cast<int>(knots_.size());
    double best = 0;
    double best_distance = -1;
    for (int i = 0; i <= samples; ++i) {
        const double s = length() * i / samples;
        const double distance = (evaluate(s).position - p).squaredNorm();
        if (best_distance < 0 || distance < best_distance) {
            best = s;
            best_distance = distance;
        }
    }
    return project(p, best);
}

template class Curve<2>;
template class Curve<3>;

}  // namespace limber
