#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "limber/geometry/manifold.hpp"

namespace limber {
namespace {

/// Of a shape, to the centre of a ball; in the frame of the shape.
struct Nearest {
    Vec3 point = Vec3::Zero();
    Vec3 normal = Vec3::UnitZ();  ///< outwards
    double distance = 0;          ///< negative inside
};

Nearest from_segment(double half_length, double radius, const Vec3& centre) {
    const Vec3 axis(0, 0, std::clamp(centre.z(), -half_length, half_length));
    Nearest nearest;
    const double distance = (centre - axis).norm();
    if (distance > 0) nearest.normal = (centre - axis) / distance;
    nearest.point = axis + radius * nearest.normal;
    nearest.distance = distance - radius;
    return nearest;
}

Nearest from_box(const Vec3& half, const Vec3& centre) {
    Nearest nearest;
    nearest.point = centre.cwiseMax(-half).cwiseMin(half);
    nearest.distance = (centre - nearest.point).norm();
    if (nearest.distance > 0) {
        nearest.normal = (centre - nearest.point) / nearest.distance;
        return nearest;
    }
    // The centre is inside: out through the nearest side.
    int axis = 0;
    (half - centre.cwiseAbs()).minCoeff(&axis);
    nearest.normal = Vec3::Unit(axis) * std::copysign(1.0, centre[axis]);
    nearest.distance = std::abs(centre[axis]) - half[axis];
    nearest.point[axis] = std::copysign(half[axis], centre[axis]);
    return nearest;
}

// Of a body of revolution about z with a convex outline: corners (distance from the axis, z) from the lower end to the upper one.
Nearest from_outline(std::span<const Vec2> outline, const Vec3& centre) {
    const double away = std::hypot(centre.x(), centre.y());
    const Vec2 at(away, centre.z());
    Vec2 point = Vec2::Zero();
    Vec2 side_normal = Vec2::UnitY();
    double least = INFINITY;
    double highest = -INFINITY;  // over the sides; nowhere positive if the centre is inside
    for (std::size_t k = 0; k + 1 < outline.size(); ++k) {
        const Vec2 along = outline[k + 1] - outline[k];
        const Vec2 outwards = Vec2(along.y(), -along.x()).normalized();
        const double s = std::clamp((at - outline[k]).dot(along) / along.squaredNorm(), 0.0, 1.0);
        const Vec2 here = outline[k] + s * along;
        highest = std::max(highest, outwards.dot(at - outline[k]));
        if ((at - here).norm() >= least) continue;
        least = (at - here).norm();
        point = here;
        side_normal = outwards;
    }
    const bool is_inside = highest <= 0;
    const Vec2 normal = is_inside || least == 0 ? side_normal : Vec2((at - point) / least);
    const Vec3 radial = away > 0 ? Vec3(centre.x() / away, centre.y() / away, 0) : Vec3::UnitX();
    Nearest nearest;
    nearest.point = point.x() * radial + Vec3(0, 0, point.y());
    nearest.normal = normal.x() * radial + Vec3(0, 0, normal.y());
    nearest.distance = is_inside ? -least : least;
    return nearest;
}

// By the plane that touches the shape in the direction to the centre.
Nearest from_support(const Shape& shape, const Vec3& direction, const Vec3& centre) {
    Nearest nearest;
    nearest.normal = direction;
    nearest.distance = direction.dot(centre - find_support(shape, direction));
    nearest.point = centre - nearest.distance * direction;
    return nearest;
}

}  // namespace

void find_ball_manifold(const Shape& a, const Frame& fa, const Shape& ball, const Frame& at, double margin,
                        Manifold& manifold) {
    manifold.count = 0;
    const Vec3 c = fa.local_point(at.position);
    const double r = a.radius;
    const double z = a.half_length;
    Nearest nearest;
    switch (a.kind) {
        case Shape::Kind::sphere: nearest = from_segment(0, r, c); break;
        case Shape::Kind::capsule: nearest = from_segment(z, r, c); break;
        case Shape::Kind::box: nearest = from_box(a.half, c); break;
        case Shape::Kind::cylinder:
            nearest = from_outline(std::array{Vec2(0, -z), Vec2(r, -z), Vec2(r, z), Vec2(0, z)}, c);
            break;
        case Shape::Kind::cone: nearest = from_outline(std::array{Vec2(0, -z), Vec2(r, -z), Vec2(0, z)}, c); break;
        default: nearest = from_support(a, fa.local_direction(find_closest_direction(a, fa, ball, at)), c); break;
    }
    const double gap = nearest.distance - ball.radius;
    if (gap >= margin) return;
    manifold.normal = fa.direction(nearest.normal);
    manifold.add(fa.point(nearest.point) + 0.5 * gap * manifold.normal, gap);
}

}  // namespace limber
