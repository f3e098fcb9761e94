#include "limber/geometry/manifold.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "limber/geometry/nearest_point.hpp"

namespace limber {
namespace {

void flip(Manifold& manifold) {
    manifold.normal = -manifold.normal;
}

void find_world_face(const Shape& shape, const Frame& frame, const Vec3& direction, Face& face) {
    find_support_face(shape, frame.local_direction(direction), face);
    for (int k = 0; k < face.count; ++k) face.corner[k] = frame.point(face.corner[k]);
}

void plane_and_convex(const Frame& plane, const Shape& b, const Frame& frame_b, double margin, Manifold& manifold) {
    manifold.normal = plane.axes.col(2);
    Face face;
    find_world_face(b, frame_b, -manifold.normal, face);
    for (int k = 0; k < face.count; ++k) {
        const double gap = manifold.normal.dot(face.corner[k] - plane.position);
        if (gap < margin) manifold.add(face.corner[k] - 0.5 * gap * manifold.normal, gap);
    }
}

// By the nearest point to the ball's centre; of hulls by the plane that touches them in the direction to it.
void convex_and_sphere(const Shape& a, const Frame& fa, const Shape& ball, const Frame& fb, double margin,
                       Manifold& manifold) {
    const Vec3 centre = fa.local_point(fb.position);
    NearestPoint nearest;
    if (has_nearest_point(a)) {
        nearest = find_nearest_point(a, centre);
    } else {
        nearest.normal = fa.local_direction(find_closest_direction(a, fa, ball, fb));
        nearest.distance = nearest.normal.dot(centre - find_support(a, nearest.normal));
        nearest.point = centre - nearest.distance * nearest.normal;
    }
    const double gap = nearest.distance - ball.radius;
    if (gap >= margin) return;
    manifold.normal = fa.direction(nearest.normal);
    manifold.add(fa.point(nearest.point) + 0.5 * gap * manifold.normal, gap);
}

// Of the fifteen axes that can separate two boxes the one with the widest gap. Axes of edges count only if they are
// clearly wider: beside faces they are nearly parallel to, they would make one point out of four.
bool box_and_box_axis(const Shape& a, const Frame& fa, const Shape& b, const Frame& fb, double margin, Vec3& normal) {
    const Mat3 turn = fa.axes.transpose() * fb.axes;
    const Mat3 extent = turn.cwiseAbs();
    const Vec3 d = fa.local_point(fb.position);
    double widest = -1e300;
    const auto consider = [&](const Vec3& axis, double gap) {  // axis in the frame of a
        if (gap <= widest) return;
        widest = gap;
        normal = axis.dot(d) < 0 ? Vec3(-axis) : axis;
    };
    for (int k = 0; k < 3; ++k) {
        consider(Vec3::Unit(k), std::abs(d[k]) - a.half[k] - extent.row(k).dot(b.half));
        const Vec3 axis = turn.col(k);
        consider(axis, std::abs(axis.dot(d)) - b.half[k] - extent.col(k).dot(a.half));
    }
    if (widest >= margin) return false;
    const double preference = 1e-3 * std::min(a.half.minCoeff(), b.half.minCoeff());
    widest += preference;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            Vec3 axis = Vec3::Unit(i).cross(turn.col(j));
            const double length = axis.norm();
            if (length < 1e-6) continue;
            axis /= length;
            const double reach = axis.cwiseAbs().dot(a.half) + (turn.transpose() * axis).cwiseAbs().dot(b.half);
            consider(axis, std::abs(axis.dot(d)) - reach);
        }
    normal = fa.direction(normal);
    return widest < margin + preference;
}

// Nearest points of two segments that are not parallel.
void add_crossing(const Face& a, const Face& b, const Vec3& n, double margin, Manifold& manifold) {
    const Vec3 da = a.corner[1] - a.corner[0];
    const Vec3 db = b.corner[1] - b.corner[0];
    const Vec3 across = n.cross(db);
    const double slope = da.dot(across);
    double s = slope == 0 ? 0.5 : (b.corner[0] - a.corner[0]).dot(across) / slope;
    s = std::clamp(s, 0.0, 1.0);
    const Vec3 pa = a.corner[0] + s * da;
    const double t = std::clamp((pa - b.corner[0]).dot(db) / db.squaredNorm(), 0.0, 1.0);
    const Vec3 pb = b.corner[0] + t * db;
    const double gap = n.dot(pb - pa);
    if (gap < margin) manifold.add(0.5 * (pa + pb), gap);
}

// The part of a polygon (or segment) on the inner side of a plane. What lies in the plane, up to a small part of its
// length, is inside: of edges that lie on each other, rounding would else decide where they cross.
void clip(const Face& in, const Vec3& inwards, const Vec3& through, Face& out) {
    constexpr double on_plane = 1e-5;
    out.count = 0;
    const int edges = in.count == 2 ? 1 : in.count;
    const double tolerance = on_plane * inwards.squaredNorm();
    const auto height = [&](int k) { return inwards.dot(in.corner[k] - through); };
    const auto is_inside = [&](double h) { return h >= -tolerance; };
    if (in.count == 1) {
        if (is_inside(height(0))) out.add(in.corner[0]);
        return;
    }
    for (int k = 0; k < edges; ++k) {
        const int next = (k + 1) % in.count;
        const double h = height(k);
        const double h_next = height(next);
        if (is_inside(h)) out.add(in.corner[k]);
        if ((h > tolerance && h_next < -tolerance) || (h < -tolerance && h_next > tolerance))
            out.add(in.corner[k] + h / (h - h_next) * (in.corner[next] - in.corner[k]));
    }
    if (in.count == 2 && is_inside(height(1))) out.add(in.corner[1]);
}

Vec3 face_normal(const Face& face) {
    Vec3 sum = Vec3::Zero();
    for (int k = 1; k + 1 < face.count; ++k)
        sum += (face.corner[k] - face.corner[0]).cross(face.corner[k + 1] - face.corner[0]);
    return sum.normalized();
}

// Corners of `face` cut to the outline of `reference`, each with its gap along the normal to the plane of the
// reference. `side` is +1 if the reference belongs to the second shape.
void clip_to_reference(const Face& reference, const Face& face, const Vec3& n, double side, double margin,
                       Manifold& manifold) {
    Vec3 plane = face_normal(reference);
    if (plane.dot(n) < 0) plane = -plane;
    Vec3 middle = Vec3::Zero();
    for (int k = 0; k < reference.count; ++k) middle += reference.corner[k] / reference.count;
    Face now = face;
    Face next;
    for (int k = 0; k < reference.count; ++k) {
        const Vec3& from = reference.corner[k];
        const Vec3& to = reference.corner[(k + 1) % reference.count];
        Vec3 inwards = n.cross(to - from);
        if (inwards.dot(middle - from) < 0) inwards = -inwards;
        clip(now, inwards, from, next);
        std::swap(now, next);
    }
    // Edges that lie on each other leave the same corner several times.
    double size = 0;
    for (int k = 0; k < now.count; ++k) size = std::max(size, (now.corner[k] - now.corner[0]).squaredNorm());
    const auto is_repeated = [&](int k) {
        for (int i = 0; i < k; ++i)
            if ((now.corner[i] - now.corner[k]).squaredNorm() < 1e-6 * size) return true;
        return false;
    };
    for (int k = 0; k < now.count; ++k) {
        if (is_repeated(k)) continue;
        const double gap = side * plane.dot(reference.corner[0] - now.corner[k]) / plane.dot(n);
        if (gap < margin) manifold.add(now.corner[k] + side * 0.5 * gap * n, gap);
    }
}

// Where the outlines of two faces do not meet, though they nearly look at each other: a rim beside another.
void add_nearest_corner(const Face& a, const Face& b, const Vec3& n, double margin, Manifold& manifold) {
    const auto along = [&](const Vec3& p, const Vec3& q) { return n.dot(p) < n.dot(q); };
    const Vec3& top = *std::max_element(a.corner.begin(), a.corner.begin() + a.count, along);
    const Vec3& bottom = *std::min_element(b.corner.begin(), b.corner.begin() + b.count, along);
    const double gap = n.dot(bottom - top);
    const Vec3 between = 0.5 * gap * n;
    if (gap < margin) manifold.add(a.count <= b.count ? Vec3(top + between) : Vec3(bottom - between), gap);
}

void convex_and_convex(const Shape& a, const Frame& fa, const Shape& b, const Frame& fb, double margin,
                       Manifold& manifold) {
    const bool are_boxes = a.kind == Shape::Kind::box && b.kind == Shape::Kind::box;
    if (are_boxes) {
        if (!box_and_box_axis(a, fa, b, fb, margin, manifold.normal)) return;
    } else {
        manifold.normal = find_closest_direction(a, fa, b, fb);
        if (!improve_rim_direction(a, fa, b, fb, manifold.normal)) {
            flip(manifold);
            improve_rim_direction(b, fb, a, fa, manifold.normal);
            flip(manifold);
        }
    }
    Face face_a;
    Face face_b;
    find_world_face(a, fa, manifold.normal, face_a);
    find_world_face(b, fb, -manifold.normal, face_b);
    clip_faces(face_a, face_b, manifold.normal, margin, manifold);
    // Boxes whose faces do not meet are apart along another axis, too.
    if (manifold.count == 0 && !are_boxes) add_nearest_corner(face_a, face_b, manifold.normal, margin, manifold);
}

}  // namespace

void flatten(Manifold& manifold) {
    int kept = 0;
    for (int k = 0; k < manifold.count; ++k) {
        if (manifold.points[k].point.z() < -1e-9) continue;
        manifold.points[kept] = manifold.points[k];
        manifold.points[kept++].point.z() = 0;
    }
    manifold.count = kept;
}

void clip_faces(const Face& a, const Face& b, const Vec3& n, double margin, Manifold& manifold) {
    if (a.count == 1 || b.count == 1) {
        const Vec3 point = a.count == 1 ? a.corner[0] : b.corner[0];
        if (a.count <= 2 && b.count <= 2) {
            // The nearer ends of segments, which lean against n by a small angle.
            const auto along = [&](const Vec3& p, const Vec3& q) { return n.dot(p) < n.dot(q); };
            const double gap = n.dot(*std::min_element(b.corner.begin(), b.corner.begin() + b.count, along) -
                                     *std::max_element(a.corner.begin(), a.corner.begin() + a.count, along));
            if (gap < margin) manifold.add(point + (a.count == 1 ? 0.5 : -0.5) * gap * n, gap);
        } else {
            clip_to_reference(a.count == 1 ? b : a, a.count == 1 ? a : b, n, a.count == 1 ? 1 : -1, margin, manifold);
        }
        return;
    }
    if (a.count == 2 && b.count == 2) {
        const Vec3 da = a.corner[1] - a.corner[0];
        const Vec3 db = b.corner[1] - b.corner[0];
        const double parallel = da.cross(db).norm() / (da.norm() * db.norm());
        if (parallel > 0.05) return add_crossing(a, b, n, margin, manifold);
        // Side by side: the common part of the two segments.
        Face first;
        Face both;
        clip(a, db, b.corner[0], first);
        clip(first, -db, b.corner[1], both);
        for (int k = 0; k < both.count; ++k) {
            const double along = (both.corner[k] - b.corner[0]).dot(db) / db.squaredNorm();
            const double gap = n.dot(b.corner[0] + along * db - both.corner[k]);
            if (gap < margin) manifold.add(both.corner[k] + 0.5 * gap * n, gap);
        }
        return;
    }
    const bool b_is_reference =
        a.count == 2 || (b.count > 2 && std::abs(face_normal(b).dot(n)) >= std::abs(face_normal(a).dot(n)));
    if (b_is_reference) {
        clip_to_reference(b, a, n, 1, margin, manifold);
    } else {
        clip_to_reference(a, b, n, -1, margin, manifold);
    }
}

void find_manifold(const Shape& a, const Frame& fa, const Shape& b, const Frame& fb, double margin,
                   Manifold& manifold) {
    using K = Shape::Kind;
    manifold.count = 0;
    if (a.kind == K::plane) {
        if (b.kind != K::plane) plane_and_convex(fa, b, fb, margin, manifold);
    } else if (b.kind == K::plane || (a.kind == K::sphere && b.kind != K::sphere)) {
        // The other way round, so that each pair is written once.
        find_manifold(b, fb, a, fa, margin, manifold);
        flip(manifold);
    } else if (b.kind == K::sphere) {
        convex_and_sphere(a, fa, b, fb, margin, manifold);
    } else {
        convex_and_convex(a, fa, b, fb, margin, manifold);
    }
}

}  // namespace limber
