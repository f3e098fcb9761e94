// The direction along which two convex shapes are closest, by the GJK distance of FCL. It works on cores, the shapes shrunk by a
// fraction of their size: cores of shapes that touch are still apart, so the direction is well defined where it is needed. Shapes that overlap so far
// that their cores do have smaller ones. Round shapes are shrunk all around, which does not change directions; their partners need not be shrunk at all, so
// that a ball on a rim or on a corner is pushed away from just there.

#include <fcl/geometry/shape/box.h>
#include <fcl/geometry/shape/capsule.h>
#include <fcl/geometry/shape/cone.h>
#include <fcl/geometry/shape/convex.h>
#include <fcl/geometry/shape/cylinder.h>
#include <fcl/geometry/shape/sphere.h>
#include <fcl/narrowphase/distance.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "limber/geometry/mesh.hpp"

namespace limber {
namespace {

constexpr std::array shrinks = {0.0, 0.1, 0.5, 0.9};  // of the smallest size; the first is for partners of round shapes
constexpr double face_snap = 1e-4;                    // radians: closer to the normal of a face, that is it

fcl::Transform3d transform(const Frame& frame) {
    fcl::Transform3d t = fcl::Transform3d::Identity();
    t.linear() = frame.axes;
    t.translation() = frame.position;
    return t;
}

std::shared_ptr<fcl::CollisionGeometryd> make_geometry(const Shape& s, double shrink) {
    const double round =
        shrink > 0 ? 0.5 - 0.5 * shrink : 0;  // of a radius all around, which may be smaller without harm
    switch (s.kind) {
        case Shape::Kind::sphere: return std::make_shared<fcl::Sphered>(round * s.radius);
        case Shape::Kind::box: {
            const Vec3 core = 2 * (s.half.array() - shrink * s.half.minCoeff());
            return std::make_shared<fcl::Boxd>(core);
        }
        case Shape::Kind::capsule: return std::make_shared<fcl::Capsuled>(round * s.radius, 2 * s.half_length);
        case Shape::Kind::cylinder: {
            const double by = shrink * std::min(s.radius, s.half_length);
            return std::make_shared<fcl::Cylinderd>(s.radius - by, 2 * (s.half_length - by));
        }
        case Shape::Kind::cone:
            return std::make_shared<fcl::Coned>((1 - shrink) * s.radius, 2 * (1 - shrink) * s.half_length);
        case Shape::Kind::convex: {
            Vec3 middle = Vec3::Zero();
            for (const Vec3& v : s.vertices) middle += v / static_cast<double>(s.vertices.size());
            auto points = std::make_shared<std::vector<Vec3>>();
            for (const Vec3& v : s.vertices) points->push_back(v + shrink * (middle - v));
            // Distances need no faces.
            return std::make_shared<fcl::Convexd>(points, 0, std::make_shared<std::vector<int>>(), false);
        }
        case Shape::Kind::plane:
        case Shape::Kind::mesh: break;
    }
    return nullptr;
}

bool is_round(const Shape& shape) {
    return shape.kind == Shape::Kind::sphere || shape.kind == Shape::Kind::capsule;
}

// The normal of a shape's farthest face, if the direction is nearly that.
bool snap_to_face(const Shape& shape, const Frame& frame, double side, Vec3& direction) {
    Face face;
    find_support_face(shape, side * frame.local_direction(direction), face);
    if (face.count < 3) return false;
    const Vec3 n = (face.corner[1] - face.corner[0]).cross(face.corner[2] - face.corner[0]).normalized();
    const Vec3 world = frame.direction(n.dot(frame.local_direction(direction)) < 0 ? Vec3(-n) : n);
    if ((world - direction).norm() > face_snap) return false;
    direction = world;
    return true;
}

}  // namespace

namespace {

// Sides by the places of their ends, so that surfaces whose triangles share no vertices (STL) are connected too.
void connect_facets(const std::vector<std::array<Vec3, 3>>& corners, std::vector<Facet>& facets) {
    using Place = std::array<double, 3>;
    const auto place = [](const Vec3& v) { return Place{v.x(), v.y(), v.z()}; };
    std::map<std::pair<Place, Place>, std::vector<std::pair<std::size_t, int>>> owners;
    for (std::size_t f = 0; f < facets.size(); ++f) {
        for (int k = 0; k < 3; ++k) {
            const Vec3& from = corners[f][k];
            const Vec3& to = corners[f][(k + 1) % 3];
            facets[f].sides[k].point = from;
            facets[f].sides[k].outwards = (to - from).cross(facets[f].normal).normalized();
            owners[std::minmax(place(from), place(to))].emplace_back(f, k);
        }
    }
    for (const auto& [side, list] : owners) {
        if (list.size() != 2) continue;
        for (int k = 0; k < 2; ++k) {
            const auto& [own, number] = list[k];
            Facet::Side& s = facets[own].sides[number];
            s.lean = std::max(0.0, s.outwards.dot(facets[list[1 - k].first].normal));
        }
    }
}

}  // namespace

struct ShapeCore {
    std::array<std::shared_ptr<fcl::CollisionGeometryd>, shrinks.size()> geometry;  // of convex shapes, by size
    std::vector<Facet> facets;                                                      // of meshes
};

std::shared_ptr<const ShapeCore> make_core(const Shape& shape) {
    ShapeCore core;
    for (std::size_t k = 0; k < shrinks.size(); ++k) core.geometry[k] = make_geometry(shape, shrinks[k]);
    std::vector<std::array<Vec3, 3>> corners;
    for (const std::array<int, 3>& t : shape.triangles) {
        const Vec3& a = shape.vertices[t[0]];
        const Vec3& b = shape.vertices[t[1]];
        const Vec3& c = shape.vertices[t[2]];
        const Vec3 normal = (b - a).cross(c - a);
        if (!(normal.norm() > 0)) continue;
        Facet facet{Shape::convex({a, b, c}), normal.normalized(), {}, {}};
        for (const Vec3& v : {a, b, c}) facet.bounds.add(v);
        core.facets.push_back(std::move(facet));
        corners.push_back({a, b, c});
    }
    connect_facets(corners, core.facets);
    return std::make_shared<const ShapeCore>(std::move(core));
}

std::span<const Facet> facets_of(const Shape& mesh) {
    return mesh.core->facets;
}

Vec3 find_closest_direction(const Shape& a, const Frame& frame_a, const Shape& b, const Frame& frame_b) {
    fcl::DistanceRequestd request;
    request.enable_nearest_points = true;
    request.distance_tolerance = 1e-10;
    request.gjk_solver_type = fcl::GST_LIBCCD;
    // Out the way they came, as good as it can be told, if even the smallest cores overlap.
    Vec3 direction = frame_b.position - frame_a.position;
    for (std::size_t k = is_round(a) || is_round(b) ? 0 : 1; k < shrinks.size(); ++k) {
        fcl::DistanceResultd result;
        const double distance = fcl::distance(a.core->geometry[k].get(), transform(frame_a), b.core->geometry[k].get(),
                                              transform(frame_b), request, result);
        const Vec3 between = result.nearest_points[1] - result.nearest_points[0];
        if (!(distance > 0) || !(between.norm() > 0)) continue;
        direction = between;
        break;
    }
    if (!(direction.norm() > 0)) return Vec3::UnitZ();
    direction.normalize();
    if (!snap_to_face(a, frame_a, 1, direction)) snap_to_face(b, frame_b, -1, direction);
    return direction;
}

}  // namespace limber
