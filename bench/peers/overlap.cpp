#include "overlap.hpp"

#include <algorithm>

namespace peers {
namespace {

/// Half the width of a box along a unit vector.
double reach(const Link& link, const LinkState& state, const Vec& along) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += link.solid.half[k] * std::abs(dot(state.axes[k], along));
    return sum;
}

/// Along the direction in which they overlap least: a normal of a face or across two edges. Negative: apart.
double box_overlap(const Link& a, const LinkState& at_a, const Link& b, const LinkState& at_b) {
    const Vec between = at_b.centre - at_a.centre;
    double least = INFINITY;
    const auto look_along = [&](const Vec& direction) {
        // Edges so nearly parallel that their faces tell as much.
        constexpr double shortest = 1e-3;
        const double length = norm(direction);
        if (length < shortest) return;
        const Vec unit = (1 / length) * direction;
        least = std::min(least, reach(a, at_a, unit) + reach(b, at_b, unit) - std::abs(dot(between, unit)));
    };
    for (const LinkState* state : {&at_a, &at_b})
        for (const Vec& axis : state->axes) look_along(axis);
    for (const Vec& edge_a : at_a.axes)
        for (const Vec& edge_b : at_b.axes) look_along(cross(edge_a, edge_b));
    return least;
}

double solid_overlap(const Link& a, const LinkState& at_a, const Link& b, const LinkState& at_b) {
    const double apart = norm(at_b.centre - at_a.centre);
    if (a.solid.kind == Solid::Kind::sphere) return a.solid.half[0] + b.solid.half[0] - apart;
    if (apart > norm(a.solid.half) + norm(b.solid.half)) return 0;
    return box_overlap(a, at_a, b, at_b);
}

double wall_overlap(const Link& link, const LinkState& state, const Wall& wall) {
    const double thickness =
        link.solid.kind == Solid::Kind::sphere ? link.solid.half[0] : reach(link, state, wall.normal);
    return thickness - dot(state.centre - wall.point, wall.normal);
}

}  // namespace

double deepest_overlap(const Scene& scene, const std::vector<LinkState>& states) {
    double deepest = 0;
    if (!scene.has_contacts()) return deepest;
    for (std::size_t i = 0; i < scene.links.size(); ++i) {
        for (const Wall& wall : scene.walls) deepest = std::max(deepest, wall_overlap(scene.links[i], states[i], wall));
        for (std::size_t k = 0; k < i; ++k)
            deepest = std::max(deepest, solid_overlap(scene.links[i], states[i], scene.links[k], states[k]));
    }
    return deepest;
}

std::array<Vec, 8> corners(const Link& link) {
    std::array<Vec, 8> list;
    for (int k = 0; k < 8; ++k) {
        const auto side = [&](int axis) { return (k >> axis & 1 ? 1 : -1) * link.solid.half[axis]; };
        list[k] = link.centre + Vec{side(0), side(1), side(2)};
    }
    return list;
}

}  // namespace peers
