#include "limber/geometry/shape.hpp"

#include <algorithm>
#include <cmath>

#include "limber/geometry/face_angle.hpp"
#include "limber/math/rotation.hpp"

namespace limber {
namespace {

constexpr int rim_corners = 8;

/// Direction in the plane z = 0, the x axis if there is none.
Vec3 radial(const Vec3& direction) {
    const double length = std::hypot(direction.x(), direction.y());
    if (!(length > 1e-9 * std::abs(direction.z()))) return Vec3::UnitX();
    return {direction.x() / length, direction.y() / length, 0};
}

// Corners of a circle about z, the farthest point of it first, counterclockwise.
void add_rim(const Vec3& towards, double radius, double z, Face& face) {
    const Vec3 x = radius * towards;
    const Vec3 y(-x.y(), x.x(), 0);
    for (int k = 0; k < rim_corners; ++k) {
        const double angle = 2 * pi * k / rim_corners;
        face.add(Vec3(0, 0, z) + std::cos(angle) * x + std::sin(angle) * y);
    }
}

void find_box_face(const Vec3& half, const Vec3& direction, Face& face) {
    const double limit = face_angle * direction.norm();
    const auto sign = [](double x) { return x < 0 ? -1.0 : 1.0; };
    Vec3 corner;
    std::array<int, 3> free{};
    int free_count = 0;
    for (int k = 0; k < 3; ++k) {
        corner[k] = sign(direction[k]) * half[k];
        if (std::abs(direction[k]) < limit) free[free_count++] = k;
    }
    if (free_count == 0) return face.add(corner);
    const auto with = [&](double a, double b) {
        Vec3 c = corner;
        c[free[0]] = a * half[free[0]];
        if (free_count == 2) c[free[1]] = b * half[free[1]];
        face.add(c);
    };
    with(-1, -1);
    with(1, -1);
    if (free_count == 1) return;
    with(1, 1);
    with(-1, 1);
}

void find_cone_face(const Shape& s, const Vec3& direction, Face& face) {
    const double length = direction.norm();
    const double sideways = std::hypot(direction.x(), direction.y());
    const Vec3 towards = radial(direction);
    const Vec3 apex(0, 0, s.half_length);
    const Vec3 rim = s.radius * towards - apex;
    if (direction.z() < 0 && sideways < face_angle * length) return add_rim(towards, s.radius, -s.half_length, face);
    // Height of the apex over the rim, seen in the direction, against the length of the generator.
    const double lead = direction.dot(apex - rim);
    const double generator = (apex - rim).norm() * length;
    if (lead > -face_angle * generator) face.add(apex);
    if (lead < face_angle * generator) face.add(rim);
}

void find_convex_face(const Shape& s, const Vec3& direction, Face& face) {
    const Vec3 n = direction.normalized();
    const Vec3 top = find_support(s, n);
    for (const Vec3& v : s.vertices)
        if ((top - v).dot(n) <= face_angle * (top - v).norm()) face.add(v);
    if (face.count < 3) return;
    Vec3 middle = Vec3::Zero();
    for (int k = 0; k < face.count; ++k) middle += face.corner[k] / face.count;
    const Mat3 axes = frame_from_z(n);
    const auto angle = [&](const Vec3& v) {
        const Vec3 d = axes.transpose() * (v - middle);
        return std::atan2(d.y(), d.x());
    };
    std::sort(face.corner.begin(), face.corner.begin() + face.count,
              [&](const Vec3& a, const Vec3& b) { return angle(a) < angle(b); });
}

}  // namespace

Shape Shape::plane() {
    Shape s;
    s.kind = Kind::plane;
    return s;
}
Shape Shape::sphere(double radius) {
    Shape s;
    s.kind = Kind::sphere;
    s.radius = radius;
    s.core = make_core(s);
    return s;
}
Shape Shape::box(const Vec3& size) {
    Shape s;
    s.kind = Kind::box;
    s.half = size / 2;
    s.core = make_core(s);
    return s;
}
Shape Shape::about_z(Kind kind, double radius, double length) {
    Shape s;
    s.kind = kind;
    s.radius = radius;
    s.half_length = length / 2;
    s.core = make_core(s);
    return s;
}
Shape Shape::convex(std::vector<Vec3> vertices) {
    Shape s;
    s.kind = Kind::convex;
    s.vertices = std::move(vertices);
    s.core = make_core(s);
    return s;
}
Shape Shape::mesh(std::vector<Vec3> vertices, std::vector<std::array<int, 3>> triangles) {
    Shape s;
    s.kind = Kind::mesh;
    s.vertices = std::move(vertices);
    s.triangles = std::move(triangles);
    s.core = make_core(s);
    return s;
}

Vec3 find_support(const Shape& s, const Vec3& d) {
    switch (s.kind) {
        case Shape::Kind::sphere: return s.radius * d.normalized();
        case Shape::Kind::box:
            return {std::copysign(s.half.x(), d.x()), std::copysign(s.half.y(), d.y()),
                    std::copysign(s.half.z(), d.z())};
        case Shape::Kind::capsule: return s.radius * d.normalized() + Vec3(0, 0, std::copysign(s.half_length, d.z()));
        case Shape::Kind::cylinder: return s.radius * radial(d) + Vec3(0, 0, std::copysign(s.half_length, d.z()));
        case Shape::Kind::cone: {
            const Vec3 apex(0, 0, s.half_length);
            const Vec3 rim = s.radius * radial(d) - apex;
            return apex.dot(d) > rim.dot(d) ? apex : rim;
        }
        case Shape::Kind::convex:
            return *std::max_element(s.vertices.begin(), s.vertices.end(),
                                     [&](const Vec3& a, const Vec3& b) { return a.dot(d) < b.dot(d); });
        case Shape::Kind::plane:
        case Shape::Kind::mesh: break;
    }
    return Vec3::Zero();
}

void find_support_face(const Shape& s, const Vec3& d, Face& face) {
    face.count = 0;
    const double length = d.norm();
    const double sideways = std::hypot(d.x(), d.y());
    switch (s.kind) {
        case Shape::Kind::box: find_box_face(s.half, d, face); break;
        case Shape::Kind::capsule:
            if (std::abs(d.z()) < face_angle * length) {
                const Vec3 side = s.radius * d / length;
                face.add(side - Vec3(0, 0, s.half_length));
                face.add(side + Vec3(0, 0, s.half_length));
            } else {
                face.add(find_support(s, d));
            }
            break;
        case Shape::Kind::cylinder: {
            const double z = std::copysign(s.half_length, d.z());
            const Vec3 towards = radial(d);
            if (sideways < face_angle * length) {
                add_rim(towards, s.radius, z, face);
            } else if (std::abs(d.z()) < face_angle * length) {
                face.add(s.radius * towards - Vec3(0, 0, s.half_length));
                face.add(s.radius * towards + Vec3(0, 0, s.half_length));
            } else {
                face.add(find_support(s, d));
            }
            break;
        }
        case Shape::Kind::cone: find_cone_face(s, d, face); break;
        case Shape::Kind::convex: find_convex_face(s, d, face); break;
        default: face.add(find_support(s, d)); break;
    }
}

Bounds compute_bounds(const Shape& shape, const Frame& frame) {
    Bounds bounds;
    if (shape.kind == Shape::Kind::plane) {
        bounds.low.setConstant(-1e300);
        bounds.high.setConstant(1e300);
        return bounds;
    }
    if (shape.kind == Shape::Kind::mesh) {
        for (const Vec3& v : shape.vertices) bounds.add(frame.point(v));
        return bounds;
    }
    for (int k = 0; k < 3; ++k) {
        const Vec3 axis = frame.axes.row(k).transpose();  // world axis k in the frame of the shape
        bounds.high[k] = frame.point(find_support(shape, axis))[k];
        bounds.low[k] = frame.point(find_support(shape, -axis))[k];
    }
    return bounds;
}

}  // namespace limber
