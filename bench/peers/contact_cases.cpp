#include "contact_cases.hpp"

#include <algorithm>
#include <numbers>

#include "overlap.hpp"

namespace peers {
namespace {

using std::numbers::pi;

Link loose(const Vec& centre, double mass) {
    Link link = point_mass(ground, centre, centre, mass);
    link.joint = JointKind::free;
    return link;
}

Link brick(const Vec& centre, const Vec& size, double density) {
    Link link = loose(centre, density * size[0] * size[1] * size[2]);
    link.solid = {Solid::Kind::box, 0.5 * size};
    const auto moment = [&](double a, double b) { return link.mass * (a * a + b * b) / 12; };
    link.inertia = {moment(size[1], size[2]), moment(size[0], size[2]), moment(size[0], size[1]), 0, 0, 0};
    return link;
}

Link ball(const Vec& centre, double radius, double density) {
    Link link = loose(centre, density * 4 / 3 * pi * radius * radius * radius);
    link.solid = {Solid::Kind::sphere, {radius, radius, radius}};
    const double moment = 0.4 * link.mass * radius * radius;
    link.inertia = {moment, moment, moment, 0, 0, 0};
    return link;
}

/// How far the corner that has moved most is from where it was.
double farthest_corner(const Scene& scene, const std::vector<LinkState>& states) {
    double farthest = 0;
    for (std::size_t i = 0; i < scene.links.size(); ++i)
        for (const Vec& corner : corners(scene.links[i]))
            farthest = std::max(farthest, norm(place_now(scene, static_cast<int>(i), states[i], corner) - corner));
    return farthest;
}

Case touching(double friction) {
    Case c;
    c.scene.gravity = {0, 0, -9.81};
    c.scene.walls = {{{0, 0, 0}, {0, 0, 1}}};
    c.scene.friction = friction;
    c.until = 1;
    c.is_conservative = false;
    return c;
}

}  // namespace

Case bricks() {
    Case c = touching(0.6);
    constexpr double length = 0.2, width = 0.1, height = 0.06, density = 1800;
    constexpr int rows = 10, row_length = 10;
    for (int row = 0; row < rows; ++row) {
        const double z = height * (row + 0.5);
        const auto lay = [&](double x, double size) {
            c.scene.links.push_back(brick({x, 0, z}, {size, width, height}, density));
        };
        const int shift = row % 2;
        for (int i = 0; i < row_length - shift; ++i) lay(length * (i + 0.5 * shift), length);
        if (shift == 0) continue;
        lay(-length / 4, length / 2);
        lay(length * (row_length - 0.75), length / 2);
    }
    c.error = [scene = c.scene](const auto& states) { return farthest_corner(scene, states); };
    c.error_name = "moved by (m)";
    c.largest_error = 1e-4;
    c.criterion = "no corner of the wall farther than 0.1 mm from where it was, after 1 s";
    c.remark =
        "Simbody is not shown: its contact of boxes is one of meshes on elastic foundations, not of rigid bodies. Nor "
        "is DART, which takes about 0.4 s per step (PGS, 30 iterations).";
    return c;
}

Case spheres(int count) {
    Case c = touching(0.3);
    constexpr double radius = 0.02, pitch = 0.0425, slack = 0.04875, density = 1000;
    const int edge = static_cast<int>(std::lround(std::cbrt(count)));
    const double middle = 0.5 * (edge - 1);
    for (int k = 0; k < edge; ++k)
        for (int j = 0; j < edge; ++j)
            for (int i = 0; i < edge; ++i)
                c.scene.links.push_back(
                    ball({pitch * (i - middle) + 0.004 * std::sin(7 * k + 3 * j),
                          pitch * (j - middle) + 0.004 * std::cos(5 * k + 2 * i), radius + 1.05 * pitch * k},
                         radius, density));
    const double side = pitch * middle + slack;
    for (const double sign : {-1.0, 1.0}) {
        c.scene.walls.push_back({{sign * side, 0, 0}, {-sign, 0, 0}});
        c.scene.walls.push_back({{0, sign * side, 0}, {0, -sign, 0}});
    }
    c.error = [scene = c.scene](const auto& states) { return kinetic_energy(scene, states); };
    c.error_name = "kinetic energy at the end (J)";
    c.largest_error = 1e-3;
    c.criterion = "overlaps below 1 mm, kinetic energy below 1 mJ after 1 s";
    return c;
}

}  // namespace peers
