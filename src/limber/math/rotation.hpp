#pragma once
// Rotations: skew matrices, the plane's quarter turn, exponential map, nearest rotation.

#include "limber/math/types.hpp"

namespace limber {

/// skew(a) b = a x b
inline Mat3 skew(const Vec3& a) {
    Mat3 s;
    s << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
    return s;
}

/// The vector turned by +90 degrees in the plane.
inline Vec2 perp(const Vec2& a) {
    return {-a.y(), a.x()};
}

inline Mat2 rotation2(double angle) {
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    Mat2 r;
    r << c, -s, s, c;
    return r;
}

/// Rotation by |phi| about phi.
inline Quat exp_rotation(const Vec3& phi) {
    const double angle = phi.norm();
    if (angle < 1e-12) return Quat(1, phi.x() / 2, phi.y() / 2, phi.z() / 2).normalized();
    return Quat(Eigen::AngleAxisd(angle, phi / angle));
}

/// Rotation nearest to a matrix whose columns are almost orthonormal (polar decomposition by Newton's iteration).
Mat3 nearest_rotation(const Mat3& almost);

/// A right-handed orthonormal frame (columns) whose third axis is z; x_hint, if usable, fixes the turn about z.
Mat3 frame_from_z(const Vec3& z, const Vec3* x_hint = nullptr);

/// The shortest rotation that carries unit vector a to unit vector b.
Mat3 shortest_rotation(const Vec3& a, const Vec3& b);

}  // namespace limber
