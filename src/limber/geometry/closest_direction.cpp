// The direction along which two convex shapes are closest, by the GJK distance of FCL. It works on cores, the shapes
// shrunk by a fraction of their size: cores of shapes that touch are still apart, so the direction is well defined
// where it is needed. Shapes that overlap so far that their cores do have smaller ones. Round shapes are shrunk all
// around, which does not change directions; their partners need not be shrunk at all, so that a ball on a rim or on a
// corner is pushed away from just there.

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
#include <numeric>
#include <tuple>

#include "limber/geometry/mesh.hpp"
#include "limber/math/interruption.hpp"

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

// Towards their middle.
void shrink_points(const std::vector<Vec3>& points, double shrink, std::vector<Vec3>& out) {
    Vec3 middle = Vec3::Zero();
    for (const Vec3& v : points) middle += v / static_cast<double>(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) out[i] = points[i] + shrink * (middle - points[i]);
}

std::shared_ptr<fcl::CollisionGeometryd> make_convex(const std::shared_ptr<const std::vector<Vec3>>& points) {
    // Distances need no faces.
    return std::make_shared<fcl::Convexd>(points, 0, std::make_shared<std::vector<int>>(), false);
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
            auto points = std::make_shared<std::vector<Vec3>>(s.vertices.size());
            shrink_points(s.vertices, shrink, *points);
            return make_convex(points);
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

// For each vertex the first one at the same place: surfaces whose triangles share no vertices (STL) are connected too.
std::vector<int> find_places(const std::vector<Vec3>& vertices) {
    std::vector<int> order(vertices.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        const auto place = [&](int i) { return std::tie(vertices[i].x(), vertices[i].y(), vertices[i].z()); };
        return place(a) < place(b) || (place(a) == place(b) && a < b);
    });
    std::vector<int> places(vertices.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        const bool is_same = k > 0 && vertices[order[k]] == vertices[order[k - 1]];
        places[order[k]] = is_same ? places[order[k - 1]] : order[k];
    }
    return places;
}

// Neighbours are the two facets of a side that has just two.
void connect_facets(const std::vector<Vec3>& vertices, std::vector<Facet>& facets) {
    struct Side {
        int low, high;  // places of its ends
        int facet, number;
    };
    const std::vector<int> places = find_places(vertices);
    std::vector<Side> sides;
    sides.reserve(3 * facets.size());
    for (std::size_t f = 0; f < facets.size(); ++f)
        for (int k = 0; k < 3; ++k) {
            const auto [low, high] = std::minmax({places[facets[f].corner[k]], places[facets[f].corner[(k + 1) % 3]]});
            sides.push_back({low, high, static_cast<int>(f), k});
        }
    const auto ends = [](const Side& s) { return std::tie(s.low, s.high); };
    std::sort(sides.begin(), sides.end(), [&](const Side& a, const Side& b) { return ends(a) < ends(b); });
    const auto set_lean = [&](const Side& side, const Side& neighbour) {
        Facet& own = facets[side.facet];
        const Vec3& from = vertices[own.corner[side.number]];
        const Vec3& to = vertices[own.corner[(side.number + 1) % 3]];
        const Vec3 outwards = (to - from).cross(own.normal).normalized();
        own.lean[side.number] = std::max(0.0, outwards.dot(facets[neighbour.facet].normal));
    };
    for (std::size_t first = 0, end = 0; first < sides.size(); first = end) {
        check_interruption();
        while (end < sides.size() && ends(sides[end]) == ends(sides[first])) ++end;
        if (end - first != 2) continue;
        set_lean(sides[first], sides[first + 1]);
        set_lean(sides[first + 1], sides[first]);
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
    core.facets.reserve(shape.triangles.size());
    for (const std::array<int, 3>& t : shape.triangles) {
        check_interruption();
        const Vec3& a = shape.vertices[t[0]];
        const Vec3 normal = (shape.vertices[t[1]] - a).cross(shape.vertices[t[2]] - a);
        if (!(normal.norm() > 0)) continue;
        core.facets.push_back({t, normal.normalized()});
    }
    connect_facets(shape.vertices, core.facets);
    return std::make_shared<const ShapeCore>(std::move(core));
}

std::span<const Facet> facets_of(const Shape& mesh) {
    return mesh.core->facets;
}

namespace {

// One triangle that is moved from facet to facet, since what the library needs to know of each takes kilobytes.
class MovingTriangle {
public:
    MovingTriangle() {
        shape_.kind = Shape::Kind::convex;
        shape_.vertices.assign(3, Vec3::Zero());
        auto core = std::make_shared<ShapeCore>();
        for (std::size_t k = 0; k < shrinks.size(); ++k) {
            points_[k] = std::make_shared<std::vector<Vec3>>(shape_.vertices);
            core->geometry[k] = make_convex(points_[k]);
        }
        shape_.core = std::move(core);
    }

    // The library's own middle of the corners stays where it was: distances do not use it.
    const Shape& move(const Shape& mesh, const Facet& facet) {
        for (std::size_t k = 0; k < 3; ++k) shape_.vertices[k] = mesh.vertices[facet.corner[k]];
        for (std::size_t k = 0; k < shrinks.size(); ++k) shrink_points(shape_.vertices, shrinks[k], *points_[k]);
        return shape_;
    }

private:
    Shape shape_;
    std::array<std::shared_ptr<std::vector<Vec3>>, shrinks.size()> points_;
};

}  // namespace

const Shape& facet_shape(const Shape& mesh, const Facet& facet) {
    thread_local MovingTriangle triangle;
    return triangle.move(mesh, facet);
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
