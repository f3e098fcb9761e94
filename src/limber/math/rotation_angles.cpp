#include "limber/math/rotation_angles.hpp"

#include <cmath>

namespace limber {

// With n the axis that is not among i and j, and s = +-1 for i, j, n in cyclic order or not,
//   Cardan (k = n):  R_ik = s sin b,  R_jk = -s sin a cos b,  R_kk = cos a cos b,  R_ij = -s cos b sin c,  R_ii = cos b
//   cos c Euler (k = i):   R_ii = cos b,  R_ji = sin a sin b,  R_ni = -s cos a sin b,  R_ij = sin b sin c,  R_in = s
//   sin b cos c
Vec3 find_turns(const Mat3& r, const std::array<int, 3>& axes) {
    const int i = axes[0];
    const int j = axes[1];
    const int n = 3 - i - j;
    const double s = (j - i + 3) % 3 == 1 ? 1 : -1;
    constexpr double undivided = 1e-9;  // sine, or cosine, of the second angle
    if (axes[2] != i) {
        const double across = std::hypot(r(j, n), r(n, n));
        const double b = std::atan2(s * r(i, n), across);
        if (across < undivided) return {std::atan2(s * r(n, j), r(j, j)), b, 0};
        return {std::atan2(-s * r(j, n), r(n, n)), b, std::atan2(-s * r(i, j), r(i, i))};
    }
    const double across = std::hypot(r(j, i), r(n, i));
    const double b = std::atan2(across, r(i, i));
    if (across < undivided) return {std::atan2(s * r(n, j), r(j, j)), b, 0};
    return {std::atan2(r(j, i), -s * r(n, i)), b, std::atan2(r(i, j), s * r(i, n))};
}

Eigen::Vector4d find_quaternion(const Mat3& rotation) {
    const Quat q(rotation);
    const double sign = q.w() < 0 ? -1 : 1;
    return sign * Eigen::Vector4d(q.w(), q.x(), q.y(), q.z());
}

Eigen::Vector4d find_axis_angle(const Mat3& rotation) {
    const Eigen::Vector4d q = find_quaternion(rotation);
    const double sine = q.tail<3>().norm();
    if (sine == 0) return {0, 0, 0, 1};
    Eigen::Vector4d all;
    all << 2 * std::atan2(sine, q[0]), q.tail<3>() / sine;
    return all;
}

}  // namespace limber
