#include "limber/integration/kink_crossing.hpp"

#include <algorithm>
#include <cmath>

namespace limber {
namespace {

struct Cubic {
    double g0 = 0, r0 = 0, c = 0, d = 0;

    double at(double s) const { return g0 + s * (r0 + s * (c + s * d)); }
};

Cubic connect(const KinkArgument& from, const KinkArgument& to, double h) {
    const double g0 = from.value, g1 = to.value;
    if (!std::isfinite(from.rate) || !std::isfinite(to.rate)) return {g0, g1 - g0, 0, 0};
    const double r0 = h * from.rate, r1 = h * to.rate;
    return {g0, r0, 3 * (g1 - g0) - 2 * r0 - r1, 2 * (g0 - g1) + r0 + r1};
}

// Where the cubic turns, in rising order; beyond the step: nowhere.
std::array<double, 2> find_turns(const Cubic& g) {
    constexpr double nowhere = 2;
    const double root = g.c * g.c - 3 * g.d * g.r0;
    if (!(root > 0)) return {nowhere, nowhere};
    // Roots of r0 + 2 c s + 3 d s^2 without cancellation.
    const double q = -(g.c + std::copysign(std::sqrt(root), g.c));
    std::array<double, 2> turns{q != 0 ? g.r0 / q : nowhere, g.d != 0 ? q / (3 * g.d) : nowhere};
    if (turns[1] < turns[0]) std::swap(turns[0], turns[1]);
    return turns;
}

// On a stretch on which it rises or falls all along.
double find_place(const Cubic& g, double value, double low, double high) {
    constexpr int halvings = 40;
    const bool rises = g.at(high) > g.at(low);
    for (int i = 0; i < halvings; ++i) {
        const double middle = 0.5 * (low + high);
        ((g.at(middle) < value) == rises ? low : high) = middle;
    }
    return high;
}

double find_crossing(const Cubic& g, std::span<const double> kinks, double margin) {
    std::array<double, 4> ends{margin, 0, 0, 1 - margin};
    int count = 1;
    for (const double turn : find_turns(g))
        if (turn > margin && turn < 1 - margin) ends[count++] = turn;
    ends[count++] = 1 - margin;
    for (int i = 0; i + 1 < count; ++i) {
        const double a = g.at(ends[i]), b = g.at(ends[i + 1]);
        if (b > a) {
            const auto next = std::upper_bound(kinks.begin(), kinks.end(), a);
            if (next != kinks.end() && *next < b) return find_place(g, *next, ends[i], ends[i + 1]);
        } else {
            const auto next = std::lower_bound(kinks.begin(), kinks.end(), a);
            if (next != kinks.begin() && *(next - 1) > b) return find_place(g, *(next - 1), ends[i], ends[i + 1]);
        }
    }
    return 1;
}

// Most arguments are far from any kink: the way is never longer than this.
bool may_cross(const KinkArgument& from, const KinkArgument& to, double h) {
    double way = std::abs(to.value - from.value);
    if (std::isfinite(from.rate) && std::isfinite(to.rate)) way += h * (std::abs(from.rate) + std::abs(to.rate));
    const auto above = std::lower_bound(from.at.begin(), from.at.end(), from.value - way);
    return above != from.at.end() && *above <= from.value + way;
}

}  // namespace

double find_first_crossing(const KinkArguments& from, const KinkArguments& to, double h, double margin) {
    double first = 1;
    for (std::size_t i = 0; i < from.size(); ++i)
        if (may_cross(from[i], to[i], h))
            first = std::min(first, find_crossing(connect(from[i], to[i], h), from[i].at, margin));
    return first;
}

}  // namespace limber
