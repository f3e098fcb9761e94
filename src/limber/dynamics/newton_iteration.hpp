#pragma once
// Newton's method of a step, as all step solvers have it: where it starts, which tangent it uses, and when it may stop.
//
// It stops when what it leaves is nothing beside the error of the step itself. Where accelerations A change at a rate
// omega, |A' - A| / |A| is about h omega over a step, and the trapezoidal rule is wrong by about (h omega)^2 / 12 of A.
// So
//
//   |dA| <= tolerance |A| min(1, (|A' - A| / |A|)^2)                                                         (1)
//
// which is about 1e-6 of that error with the usual tolerance of 1e-7. It has to be so little because errors of the
// formulas are those of a mechanism near by and partly cancel in every turn, while what an iteration leaves may push in
// the same direction in each step: in a top that turns at 160 rad/s, 1e-7 of the acceleration changes the tilt by 4e-3
// in 10 s, where the trapezoidal rule keeps it.
//
// Rounding ends the iteration before (1) where steps are tiny, links light or chains long: changes stop falling then.
// An iteration that has come to a standstill is accepted at `tolerance` |A| instead, as is one that some multiplier
// slows down near a singular position.

#include <algorithm>
#include <array>
#include <cmath>

#include "limber/dynamics/system/state.hpp"

namespace limber {

/// The acceleration to start from: that of the last step goes on changing as it did, unless it has just jumped.
inline void predict_acceleration(const State& state, double step, VecX& a) {
    constexpr double smooth = 0.3;
    a = state.scheme_a;
    if (state.previous_step <= 0 || state.previous_a.size() != a.size()) return;
    const double change = (a - state.previous_a).lpNorm<Eigen::Infinity>();
    const double ratio = step / state.previous_step;
    if (ratio * change < smooth * a.lpNorm<Eigen::Infinity>()) a += ratio * (a - state.previous_a);
}

/// By (1), from the accelerations of the difference formulas at both ends of the step.
inline double find_acceptable_error(const VecX& start, const VecX& end, double tolerance) {
    const double size = std::max(start.lpNorm<Eigen::Infinity>(), end.lpNorm<Eigen::Infinity>());
    if (size == 0) return 0;
    const double change = (end - start).lpNorm<Eigen::Infinity>() / size;
    return tolerance * size * std::min(1.0, change * change);
}

/// A tangent that leaves more than this part of the error is made anew, or exchanged.
constexpr double slow_newton = 0.3;
/// Rates count among changes of at least so many times the one that is accepted.
constexpr double newton_noise = 100;
/// Changes that fall by less than this factor have come to a standstill.
constexpr double newton_standstill = 0.3;

/// How fast the changes of one step fall.
class ConvergenceWatch {
public:
    /// A change made. Rates among changes below `noise` say nothing: near a steady state the first change is one of
    /// them.
    void follow(double size, double noise) {
        rate_ = before_ > 0 ? size / before_ : 0;
        if (before_ > noise) {
            worst_ = std::max(worst_, rate_);
            worst_of_tangent_ = std::max(worst_of_tangent_, rate_);
        }
        is_first_ = before_ == 0;
        before_ = size;
    }
    void start_tangent() { worst_of_tangent_ = 0; }

    double rate() const { return rate_; }
    bool has_stalled() const { return rate_ > newton_standstill; }
    double worst() const { return worst_; }
    double worst_of_tangent() const { return worst_of_tangent_; }
    /// Linear convergence with rate r leaves about r / (1 - r) of the last change. The rate is taken for no better than
    /// given.
    double left(double least_rate) const {
        const double r = std::max(rate_, least_rate);
        return is_first_ ? before_ : before_ * r / std::max(0.1, 1 - r);
    }

private:
    double before_ = 0, rate_ = 0, worst_ = 0, worst_of_tangent_ = 0;
    bool is_first_ = true;
};

/// Tangents are symmetrised. Of slender bodies that turn far in a step the symmetric part of the exact one is worse
/// than none of its gyroscopic terms: with inertias I_a << I_t along and across it is not even positive definite from h
/// omega > 2 sqrt(I_a / I_t) on. The approximate tangent has no such terms. So where one of the two converges slowly,
/// the other is tried, and the better one stays.
class TangentChoice {
public:
    TangentChoice(bool is_approximate, bool is_free) : kind_(is_approximate ? 1 : 0), is_free_(is_free) {}

    bool is_approximate() const { return kind_ == 1; }
    /// What an iteration has left of the error with the present one.
    void learn(double rate) {
        rate_[kind_] = rate;
        if (is_free_ && rate > slow_newton && rate_[1 - kind_] < rate) kind_ = 1 - kind_;
    }

private:
    int kind_;
    bool is_free_;
    std::array<double, 2> rate_{0, 0};  // of each, when it was used last
};

}  // namespace limber
