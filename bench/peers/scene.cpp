#include "scene.hpp"

#include <algorithm>

namespace peers {
namespace {

Vec turn(const LinkState& state, const Vec& v) {
    return v[0] * state.axes[0] + v[1] * state.axes[1] + v[2] * state.axes[2];
}

}  // namespace

Vec place_now(const Scene& scene, int link, const LinkState& state, const Vec& start) {
    return link == ground ? start : state.centre + turn(state, start - scene.links[link].centre);
}

Vec velocity_at(const LinkState& state, const Vec& place) {
    return state.velocity + cross(state.angular_velocity, place - state.centre);
}

double kinetic_energy(const Scene& scene, const std::vector<LinkState>& states) {
    double sum = 0;
    for (std::size_t i = 0; i < scene.links.size(); ++i) {
        const Link& link = scene.links[i];
        const LinkState& s = states[i];
        // Angular velocity in the axes of the start, where the inertia is known.
        const Vec w{dot(s.axes[0], s.angular_velocity), dot(s.axes[1], s.angular_velocity),
                    dot(s.axes[2], s.angular_velocity)};
        const auto& j = link.inertia;
        const Vec momentum{j[0] * w[0] + j[3] * w[1] + j[4] * w[2], j[3] * w[0] + j[1] * w[1] + j[5] * w[2],
                           j[4] * w[0] + j[5] * w[1] + j[2] * w[2]};
        sum += 0.5 * link.mass * dot(s.velocity, s.velocity) + 0.5 * dot(w, momentum);
    }
    return sum;
}

double energy(const Scene& scene, const std::vector<LinkState>& states) {
    double sum = kinetic_energy(scene, states);
    for (std::size_t i = 0; i < scene.links.size(); ++i)
        sum -= scene.links[i].mass * dot(scene.gravity, states[i].centre);
    for (const Spring& spring : scene.springs) {
        const auto at = [&](int link, const Vec& start) {
            return link == ground ? start : place_now(scene, link, states[link], start);
        };
        const double stretch = norm(at(spring.a, spring.point_a) - at(spring.b, spring.point_b)) - spring.length;
        sum += 0.5 * spring.stiffness * stretch * stretch;
    }
    return sum;
}

double open_by(const Scene& scene, const std::vector<LinkState>& states) {
    double worst = 0;
    for (const Loop& loop : scene.loops) {
        const auto at = [&](int link, const Vec& start) {
            return link == ground ? start : place_now(scene, link, states[link], start);
        };
        const Vec axis = loop.b == ground ? loop.axis : turn(states[loop.b], loop.axis);
        const Vec gap = at(loop.a, loop.point) - at(loop.b, loop.point);
        const double too_long = norm(at(loop.a, loop.point) - at(loop.b, loop.other)) - norm(loop.point - loop.other);
        if (loop.kind == Loop::Kind::plane) {
            worst = std::max(worst, std::abs(dot(gap, axis)));
        } else if (loop.kind == Loop::Kind::rod) {
            worst = std::max(worst, std::abs(too_long));
        } else if (loop.kind == Loop::Kind::crank) {
            worst = std::max(worst, std::hypot(dot(gap, axis), too_long));
        } else {
            worst = std::max(worst, norm(gap));
        }
    }
    return worst;
}

Scene with_rods_as_links(const Scene& scene) {
    constexpr double mass = 0.02;
    Scene result = scene;
    for (Loop& loop : result.loops) {
        if (loop.kind != Loop::Kind::rod && loop.kind != Loop::Kind::crank) continue;
        Link link = rod(loop.b, loop.other, loop.point, loop.axis);
        link.joint = loop.kind == Loop::Kind::crank ? JointKind::hinge : JointKind::ball;
        link.mass = mass;
        // About its own axis as well, or its spin would have none.
        const Vec along = loop.point - loop.other;
        const double moment = mass * dot(along, along) / 12;
        link.inertia = {moment, moment, moment, 0, 0, 0};
        loop = {Loop::Kind::point, loop.a, static_cast<int>(result.links.size()), loop.point, {}, {}};
        result.links.push_back(link);
    }
    return result;
}

Link rod(int parent, const Vec& from, const Vec& to, const Vec& axis) {
    Link link;
    link.parent = parent;
    link.pivot = from;
    link.axis = axis;
    link.centre = 0.5 * (from + to);
    const Vec d = to - from;
    const double square = dot(d, d) / 12;
    link.inertia = {square - d[0] * d[0] / 12, square - d[1] * d[1] / 12, square - d[2] * d[2] / 12,
                    -d[0] * d[1] / 12,         -d[0] * d[2] / 12,         -d[1] * d[2] / 12};
    return link;
}

Link point_mass(int parent, const Vec& pivot, const Vec& at, double mass) {
    Link link;
    link.parent = parent;
    link.pivot = pivot;
    link.centre = at;
    link.mass = mass;
    return link;
}

}  // namespace peers
