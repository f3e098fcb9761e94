#pragma once
// Contact points of two placed shapes: a common normal, and up to a few points with their gaps.
//
// Shapes that are apart by less than a margin have contact points too, with a positive gap, so that a time-stepping
// scheme can stop them before they overlap.

#include <array>

#include "limber/geometry/shape.hpp"

namespace limber {

struct ManifoldPoint {
    Vec3 point = Vec3::Zero();  ///< halfway between the two surfaces
    double gap = 0;             ///< negative where the shapes overlap
};

struct Manifold {
    static constexpr int max_points = 16;
    Vec3 normal = Vec3::UnitZ();  ///< from the first shape to the second
    int count = 0;
    std::array<ManifoldPoint, max_points> points;

    void add(const Vec3& point, double gap) {
        if (count < max_points) points[count++] = {point, gap};
    }
};

/// Contact points with gaps below the margin.
void find_manifold(const Shape& a, const Frame& frame_a, const Shape& b, const Frame& frame_b, double margin,
                   Manifold& manifold);

/// Prisms of a planar model touch at both of their ends: leaves one point of the two, in the plane z = 0.
void flatten(Manifold& manifold);

/// Points between two faces that look at each other along the normal.
void clip_faces(const Face& a, const Face& b, const Vec3& normal, double margin, Manifold& manifold);

/// Unit direction from a to b along which two convex shapes that nearly touch are closest; found by FCL.
Vec3 find_closest_direction(const Shape& a, const Frame& frame_a, const Shape& b, const Frame& frame_b);

/// Makes such a direction exact where it starts from a rim of a, a cylinder or cone. False: it does not, or is as good
/// as it can be told.
bool improve_rim_direction(const Shape& a, const Frame& frame_a, const Shape& b, const Frame& frame_b, Vec3& direction);

}  // namespace limber
