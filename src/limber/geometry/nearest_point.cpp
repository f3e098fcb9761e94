#include "limber/geometry/nearest_point.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace limber {
namespace {

NearestPoint from_segment(double half_length, double radius, const Vec3& centre) {
    const Vec3 axis(0, 0, std::clamp(centre.z(), -half_length, half_length));
    NearestPoint nearest;
    const double distance = (centre - axis).norm();
    if (distance > 0) nearest.normal = (centre - axis) / distance;
    nearest.point = axis + radius * nearest.normal;
    nearest.distance = distance - radius;
    return nearest;
}

NearestPoint from_box(const Vec3& half, const Vec3& centre) {
    NearestPoint nearest;
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

// Of a body of revolution about z with a convex outline: corners (distance from the axis, z) from the lower end to the
// upper one.
NearestPoint from_outline(std::span<const Vec2> outline, const Vec3& centre) {
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
    NearestPoint nearest;
    nearest.point = point.x() * radial + Vec3(0, 0, point.y());
    nearest.normal = normal.x() * radial + Vec3(0, 0, normal.y());
    nearest.distance = is_inside ? -least : least;
    return nearest;
}

}  // namespace

bool has_nearest_point(const Shape& shape) {
    using K = Shape::Kind;
    const std::array kinds = {K::sphere, K::box, K::capsule, K::cylinder, K::cone};
    return std::find(kinds.begin(), kinds.end(), shape.kind) != kinds.end();
}

NearestPoint find_nearest_point(const Shape& shape, const Vec3& from) {
    const double r = shape.radius;
    const double z = shape.half_length;
    switch (shape.kind) {
        case Shape::Kind::capsule: return from_segment(z, r, from);
        case Shape::Kind::box: return from_box(shape.half, from);
        case Shape::Kind::cylinder: {
            const std::array outline{Vec2(0, -z), Vec2(r, -z), Vec2(r, z), Vec2(0, z)};
            return from_outline(outline, from);
        }
        case Shape::Kind::cone: {
            const std::array triangle{Vec2(0, -z), Vec2(r, -z), Vec2(0, z)};
            return from_outline(triangle, from);
        }
        default: return from_segment(0, r, from);
    }
}

}  // namespace limber
