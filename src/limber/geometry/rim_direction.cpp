// The direction between a rim and another solid. Cores (closest_direction.cpp) have smaller rims, so their directions
// are somewhat off there; along the rim itself one angle is to be found, at which the distance to the other solid is
// least.

#include <cmath>

#include "limber/geometry/face_angle.hpp"
#include "limber/geometry/manifold.hpp"
#include "limber/geometry/nearest_point.hpp"

namespace limber {
namespace {

constexpr double first_turn = 0.1;  // radians, to both sides of the angle that cores give
constexpr int max_widenings = 4;
constexpr double direction_tolerance = 1e-12;

/// A circle around z in the frame of a solid.
struct Rim {
    double radius = 0, z = 0;
    Vec3 towards(double angle) const { return {std::cos(angle), std::sin(angle), 0}; }
    Vec3 point(double angle) const { return radius * towards(angle) + Vec3(0, 0, z); }
    Vec3 tangent(double angle) const { return {-std::sin(angle), std::cos(angle), 0}; }
};

// Whether a direction belongs to the rim: between the normals of the flat end and of the side, and not as good as one
// of them.
bool is_at_rim(const Shape& shape, const Vec3& direction) {
    const double sideways = std::hypot(direction.x(), direction.y());
    if (shape.kind == Shape::Kind::cylinder) return sideways > face_angle && std::abs(direction.z()) > face_angle;
    // Of a cone: its side's normal is (2 half lengths, radius) in (sideways, z).
    const double slant = std::hypot(2 * shape.half_length, shape.radius);
    const double inside = (shape.radius * sideways - 2 * shape.half_length * direction.z()) / slant;
    return shape.kind == Shape::Kind::cone && sideways > face_angle && inside > face_angle;
}

Rim find_rim(const Shape& shape, const Vec3& direction) {
    const bool is_upper = shape.kind == Shape::Kind::cylinder && direction.z() > 0;
    return {shape.radius, is_upper ? shape.half_length : -shape.half_length};
}

}  // namespace

bool improve_rim_direction(const Shape& a, const Frame& fa, const Shape& b, const Frame& fb, Vec3& direction) {
    const Vec3 start = fa.local_direction(direction);
    if (!is_at_rim(a, start) || !has_nearest_point(b)) return false;
    const Rim rim = find_rim(a, start);
    // Outwards from b, in the frame of a, where the rim's point is nearest to it.
    const auto normal = [&](double angle) -> Vec3 {
        return fa.local_direction(
            fb.direction(find_nearest_point(b, fb.local_point(fa.point(rim.point(angle)))).normal));
    };
    const auto slope = [&](double angle) { return normal(angle).dot(rim.tangent(angle)); };
    const double middle = std::atan2(start.y(), start.x());
    double turn = first_turn;
    for (int k = 0; k < max_widenings && !(slope(middle - turn) <= 0 && slope(middle + turn) >= 0); ++k) turn *= 2;
    double low = middle - turn;
    double high = middle + turn;
    if (!(slope(low) <= 0 && slope(high) >= 0)) return false;
    while (high - low > direction_tolerance) {
        const double half = 0.5 * (low + high);
        (slope(half) < 0 ? low : high) = half;
    }
    const double angle = 0.5 * (low + high);
    const Vec3 found = -normal(angle);
    // Of all directions the right one has the widest gap between the planes that touch both.
    const auto gap = [&](const Vec3& n) {
        return n.dot(fb.point(find_support(b, fb.local_direction(-n))) -
                     fa.point(find_support(a, fa.local_direction(n))));
    };
    const Vec3 improved = fa.direction(found);
    if (gap(improved) < gap(direction)) return false;
    direction = improved;
    return true;
}

}  // namespace limber
