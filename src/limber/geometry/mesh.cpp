#include "limber/geometry/mesh.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace limber {
namespace {

constexpr double least_front = 0.05;  // cosine between the direction of contact and the facet's normal

constexpr double lean_tolerance = 1e-6;

constexpr int max_plane_points = 8;
constexpr double same_point = 1e-4;  // over the distance of the first two

}  // namespace

bool SinglePoints::add(const Manifold& manifold) {
    const Vec3& point = manifold.points[0].point;
    const double rounding = 1e-12 * (1 + point.norm());
    for (int k = 0; k < count_; ++k)
        if ((points_[k] - point).norm() < rounding && (normals_[k] - manifold.normal).norm() < lean_tolerance)
            return false;
    if (count_ == most) return true;
    points_[count_] = point;
    normals_[count_] = manifold.normal;
    ++count_;
    return true;
}

void find_facet_manifold(const Shape& mesh, const Facet& facet, const Frame& frame, const Shape& b, const Frame& fb,
                         double margin, Manifold& manifold) {
    manifold.count = 0;
    const auto corner = [&](int k) -> const Vec3& { return mesh.vertices[facet.corner[k % 3]]; };
    const Vec3 normal = frame.direction(facet.normal);
    if (normal.dot(fb.position - frame.point(corner(0))) < 0) return;
    const Shape& shape = facet_shape(mesh, facet);
    Vec3 direction = find_closest_direction(shape, frame, b, fb);
    const double front = direction.dot(normal);
    if (front < least_front) return;
    // The side across which the direction leans most.
    const Vec3 local = frame.local_direction(direction);
    int side = 0;
    Vec3 outwards = Vec3::Zero();
    double most = -INFINITY;
    for (int k = 0; k < 3; ++k) {
        const Vec3 across = (corner(k + 1) - corner(k)).cross(facet.normal).normalized();
        if (!(across.dot(local) > most)) continue;
        most = across.dot(local);
        side = k;
        outwards = across;
    }
    if (most > facet.lean[side] + lean_tolerance) {
        // Across a flat or hollow edge: what is beyond it touches the neighbour's front, what is not touches this
        // one's, not its rim.
        Face nearest;
        find_support_face(b, -fb.local_direction(normal), nearest);
        Vec3 middle = Vec3::Zero();
        for (int k = 0; k < nearest.count; ++k) middle += nearest.corner[k] / nearest.count;
        if (outwards.dot(frame.local_point(fb.point(middle)) - corner(side)) > 0) return;
        direction = normal;
    }
    manifold.normal = direction;
    Face face_a;
    Face face_b;
    find_support_face(shape, frame.local_direction(direction), face_a);
    find_support_face(b, -fb.local_direction(direction), face_b);
    for (int k = 0; k < face_a.count; ++k) face_a.corner[k] = frame.point(face_a.corner[k]);
    for (int k = 0; k < face_b.count; ++k) face_b.corner[k] = fb.point(face_b.corner[k]);
    clip_faces(face_a, face_b, direction, margin, manifold);
}

void find_plane_manifold(const Frame& plane, const Shape& mesh, const Frame& frame, double margin, Manifold& manifold) {
    manifold.count = 0;
    manifold.normal = plane.axes.col(2);
    const Vec3 down = -frame.local_direction(manifold.normal);
    const double floor = down.dot(frame.local_point(plane.position));
    const auto gap = [&](const Vec3& vertex) { return floor - down.dot(vertex); };
    std::array<Vec3, max_plane_points> chosen;
    const auto distance = [&](const Vec3& vertex) {  // squared, to the nearest one chosen
        double least = INFINITY;
        for (int k = 0; k < manifold.count; ++k) least = std::min(least, (vertex - chosen[k]).squaredNorm());
        return least;
    };
    const auto add = [&](const Vec3& vertex) {
        chosen[manifold.count] = vertex;
        manifold.add(frame.point(vertex) - 0.5 * gap(vertex) * manifold.normal, gap(vertex));
    };
    const auto is_lower = [&](const Vec3& a, const Vec3& b) { return gap(a) < gap(b); };
    const Vec3& deepest = *std::min_element(mesh.vertices.begin(), mesh.vertices.end(), is_lower);
    if (gap(deepest) >= margin) return;
    add(deepest);
    double widest = 0;
    while (manifold.count < max_plane_points) {
        const Vec3* farthest = nullptr;
        double most = same_point * same_point * widest;
        for (const Vec3& vertex : mesh.vertices) {
            if (gap(vertex) >= margin || distance(vertex) <= most) continue;
            most = distance(vertex);
            farthest = &vertex;
        }
        if (farthest == nullptr) return;
        add(*farthest);
        widest = std::max(widest, most);
    }
}

}  // namespace limber
