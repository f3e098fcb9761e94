#include "limber/statics/static_newton.hpp"

#include <algorithm>
#include <cmath>

#include "limber/math/interruption.hpp"

namespace limber {
namespace {

// Of a step: how far the forces at its end may work against it, over what they did for it at its beginning.
constexpr double overshoot = 0.7;
constexpr int max_shortenings = 12;
// A change of positions that is nothing, over the size of things (angles: over a radian).
constexpr double no_change = 1e-11;
// Of the shift from one attempt to the next, and beyond which there is no way down.
constexpr double shift_growth = 8;
constexpr double largest_shift = 1e12;

}  // namespace

void StaticNewton::count() {
    check_interruption();
    ++iterations_;
    if (progress) progress(iterations_, balance_.unbalance());
}

bool StaticNewton::take_step() {
    while (!balance_.factorize(shift_) || balance_.negative_freedoms() > 0) {
        // The first guess is a small part of the stiffest freedom.
        shift_ = std::max(shift_growth * shift_, 1e-8 * balance_.stiffness_rate());
        if (shift_ > largest_shift * (1 + balance_.stiffness_rate())) return false;
        count();
    }
    balance_.respond(balance_.force(), change_);
    const double work = change_.dot(balance_.force());
    const double before = balance_.unbalance();
    const double size = change_.lpNorm<Eigen::Infinity>();
    // What is left is rounding: positions do not change any more.
    is_exact_ = shift_ <= least_shift && size < no_change * std::max(1.0, balance_.point().q.lpNorm<Eigen::Infinity>());
    const StaticPoint start = balance_.point();
    double part = 1;
    for (int i = 0; i < max_shortenings; ++i) {
        StaticPoint next = start;
        next.q += part * change_;
        double against = -INFINITY;
        if ((!is_possible || is_possible(next)) && balance_.move_to(next)) {
            against = change_.dot(balance_.force());
            if (balance_.unbalance() <= 0.5 * before || (work > 0 && against >= -overshoot * work)) {
                shift_ = std::max(least_shift, part == 1 ? shift_ / shift_growth : shift_);
                return true;
            }
        }
        part *= std::isfinite(against) && against < work ? std::clamp(work / (work - against), 0.1, 0.5) : 0.25;
    }
    balance_.move_to(start);
    shift_ = std::max(shift_growth * shift_ * shift_growth, 1e-8 * balance_.stiffness_rate());
    return is_exact_ || shift_ < largest_shift * (1 + balance_.stiffness_rate());
}

bool StaticNewton::go_downhill(int max_iterations) {
    shift_ = least_shift;
    is_exact_ = false;
    for (const int end = iterations_ + max_iterations; iterations_ < end && !is_settled();) {
        count();
        if (!take_step()) return false;
    }
    return is_settled();
}

bool StaticNewton::go_plainly(int max_iterations) {
    is_exact_ = false;
    double before = INFINITY;
    for (const int end = iterations_ + max_iterations; iterations_ < end && !is_settled();) {
        count();
        if (!balance_.factorize(least_shift)) return false;
        balance_.respond(balance_.force(), change_);
        const double size = change_.lpNorm<Eigen::Infinity>();
        const double old = balance_.unbalance();
        const double reach = (balance_.point().q + change_).lpNorm<Eigen::Infinity>();
        if (!balance_.move_from(balance_.point(), change_, balance_.point().load)) return false;
        // Quadratic convergence ends in rounding, which is exact enough if the last change was nothing.
        is_exact_ = size < no_change * std::max(1.0, reach) && balance_.unbalance() > 0.1 * old;
        if (size > 10 * before) return false;
        before = size;
    }
    return is_settled();
}

}  // namespace limber
