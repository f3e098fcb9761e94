#include "limber/geometry/mesh.hpp"

#include <algorithm>

namespace limber {
namespace {

constexpr double least_front = 0.05;  // cosine between the direction of contact and the facet's normal

constexpr double lean_tolerance = 1e-6;

}  // namespace

void find_facet_manifold(const Facet& facet, const Frame& mesh, const Shape& b, const Frame& fb, double margin,
                         Manifold& manifold) {
    manifold.count = 0;
    const Vec3 normal = mesh.direction(facet.normal);
    if (normal.dot(fb.position - mesh.point(facet.shape.vertices[0])) < 0) return;
    Vec3 direction = find_closest_direction(facet.shape, mesh, b, fb);
    const double front = direction.dot(normal);
    if (front < least_front) return;
    const Vec3 local = mesh.local_direction(direction);
    const auto leans_more = [&](const Facet::Side& a, const Facet::Side& b) {
        return a.outwards.dot(local) < b.outwards.dot(local);
    };
    const Facet::Side& side = *std::max_element(facet.sides.begin(), facet.sides.end(), leans_more);
    if (side.outwards.dot(local) > side.lean + lean_tolerance) {
        // Across a flat or hollow edge: what is beyond it touches the neighbour's front, what is not touches this one's, not its rim.
        Face nearest;
        find_support_face(b, -fb.local_direction(normal), nearest);
        Vec3 middle = Vec3::Zero();
        for (int k = 0; k < nearest.count; ++k) middle += nearest.corner[k] / nearest.count;
        if (side.outwards.dot(mesh.local_point(fb.point(middle)) - side.point) > 0) return;
        direction = normal;
    }
    manifold.normal = direction;
    Face face_a;
    Face face_b;
    find_support_face(facet.shape, mesh.local_direction(direction), face_a);
    find_support_face(b, -fb.local_direction(direction), face_b);
    for (int k = 0; k < face_a.count; ++k) face_a.corner[k] = mesh.point(face_a.corner[k]);
    for (int k = 0; k < face_b.count; ++k) face_b.corner[k] = fb.point(face_b.corner[k]);
    clip_faces(face_a, face_b, direction, margin, manifold);
}

}  // namespace limber
