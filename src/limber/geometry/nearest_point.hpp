#pragma once
// The point of a solid's surface that is nearest to a given one, in closed form; all in the frame of the solid.

#include "limber/geometry/shape.hpp"

namespace limber {

struct NearestPoint {
    Vec3 point = Vec3::Zero();
    Vec3 normal = Vec3::UnitZ();  ///< outwards
    double distance = 0;          ///< negative inside
};

/// Sphere, box, capsule, cylinder, cone.
bool has_nearest_point(const Shape& shape);
NearestPoint find_nearest_point(const Shape& shape, const Vec3& from);

}  // namespace limber
