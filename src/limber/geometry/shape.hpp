#pragma once
// Shapes that touch: convex bodies, half-spaces, and surfaces made of triangles. Each in its own frame.
//
//   plane      the half-space below z = 0                     box        centred, half lengths `half`
//   sphere     radius                                          capsule    along z, radius, half length of its axis
//   cylinder   along z, radius, half length                    cone       base at z = -half length, apex at +half
//              length
//   convex     hull of vertices                                mesh       triangles; only their sides seen from the
//              front touch
//
// Of a convex shape two things are asked: its farthest point in a direction, and the face, edge or vertex that is
// farthest up to a small angle. Contact points are made from the faces of both shapes, so that a brick rests on four
// points and a wheel on a line.

#include <array>
#include <memory>
#include <vector>

#include "limber/math/frame.hpp"

namespace limber {

struct Bounds {
    Vec3 low = Vec3::Constant(1e300), high = Vec3::Constant(-1e300);

    void add(const Vec3& point) {
        low = low.cwiseMin(point);
        high = high.cwiseMax(point);
    }
    bool overlaps(const Bounds& other) const {
        return (low.array() <= other.high.array()).all() && (other.low.array() <= high.array()).all();
    }
};

struct ShapeCore;

struct Shape {
    enum class Kind { plane, sphere, box, capsule, cylinder, cone, convex, mesh };
    Kind kind = Kind::sphere;
    double radius = 0, half_length = 0;
    Vec3 half = Vec3::Zero();
    std::vector<Vec3> vertices;                 ///< convex, mesh
    std::vector<std::array<int, 3>> triangles;  ///< mesh
    std::shared_ptr<const ShapeCore> core;      ///< for the library that finds distances

    static Shape plane();
    static Shape sphere(double radius);
    static Shape box(const Vec3& size);
    /// capsule, cylinder or cone; the length of a capsule is that of its axis, without the round ends.
    static Shape about_z(Kind kind, double radius, double length);
    static Shape convex(std::vector<Vec3> vertices);
    static Shape mesh(std::vector<Vec3> vertices, std::vector<std::array<int, 3>> triangles);
};

/// What the library needs to know of a convex shape.
std::shared_ptr<const ShapeCore> make_core(const Shape& shape);

/// A face, edge or vertex of a convex shape: its corners in order around the direction.
struct Face {
    static constexpr int max_corners = 16;
    int count = 0;
    std::array<Vec3, max_corners> corner;

    void add(const Vec3& point) {
        if (count < max_corners) corner[count++] = point;
    }
};

/// Farthest point of a convex shape in a direction; both in the frame of the shape.
Vec3 find_support(const Shape& shape, const Vec3& direction);
/// What lies farthest in a direction, up to a small angle.
void find_support_face(const Shape& shape, const Vec3& direction, Face& face);

/// Box around a placed shape; infinite for planes.
Bounds compute_bounds(const Shape& shape, const Frame& frame);

}  // namespace limber
