#include "limber/statics/stability.hpp"

#include <algorithm>
#include <cmath>

#include "limber/statics/static_newton.hpp"

namespace limber {
namespace {

// Rates below are none: those that Newton's method does not see [1/s^2], and what is rounding beside the stiffest
// freedom.
constexpr double no_rate = StaticNewton::least_shift, no_rate_of_stiffest = 1e-12;
constexpr int bisections = 12;
constexpr int inverse_iterations = 6;
constexpr double beside_lowest = 0.01;
// Of a motion that is tried: its way, over the size of the coordinates, and how well rates must agree.
constexpr double trial_way = 1e-6, trial_agrees = 0.2;

// -x . M a over the way along x, by differences; x has unit inertia. Not a number: nothing can go there.
double try_motion(StaticBalance& balance, const VecX& motion) {
    const StaticPoint here = balance.point();
    const double way = trial_way * std::max(1.0, here.q.lpNorm<Eigen::Infinity>()) / motion.lpNorm<Eigen::Infinity>();
    double rate = 0;
    for (const double side : {1.0, -1.0}) {
        StaticPoint there = here;
        there.q += side * way * motion;
        const bool is_there = balance.move_to(std::move(there));
        rate -= is_there ? side * balance.force().dot(motion) / (2 * way) : NAN;
        balance.move_to(here);
    }
    return rate;
}

}  // namespace

Stability judge_stability(StaticBalance& balance) {
    Stability result;
    if (balance.system().size() == 0) return result;
    // Freedoms with a rate below r.
    const auto count_below = [&](double r) { return balance.factorize(-r) ? balance.negative_freedoms() : -1; };
    count_below(0);
    const double nothing = std::max(no_rate, no_rate_of_stiffest * balance.stiffness_rate());
    result.unstable = std::max(0, count_below(-nothing));
    result.neutral = std::max(0, count_below(nothing) - result.unstable);
    if (result.unstable == 0) return result;
    double low = -nothing;
    while (count_below(low) > 0 && low > -1e30) low *= 4;
    double high = std::min(-nothing, low / 4);
    for (int i = 0; i < bisections && low < high * (1 + 1e-3); ++i) {
        const double middle = -std::sqrt(low * high);
        (count_below(middle) > 0 ? high : low) = middle;
    }
    // Beside it, so that nearly all of the answer is its motion; how much the answer is, tells its rate exactly, where
    // the count has only met the constraints as far as their weight goes.
    const double beside = low * (1 + beside_lowest);
    balance.factorize(-beside);
    VecX motion = VecX::LinSpaced(balance.system().size(), 1, 1.7);
    double rate = low;
    for (int i = 0; i < inverse_iterations; ++i) {
        balance.respond(balance.inertia_force(motion), result.direction);
        const double size = balance.inertia_product(result.direction, result.direction);
        rate = beside + balance.inertia_product(motion, result.direction) / size;
        motion = result.direction / std::sqrt(size);
    }
    result.direction = motion;
    result.growth = std::sqrt(std::max(0.0, -rate));
    if (!(std::abs(try_motion(balance, motion) - rate) < trial_agrees * std::abs(rate))) {
        result.unstable = -1;
        result.growth = 0;
    }
    return result;
}

}  // namespace limber
