#pragma once
// A rotation in numbers. Turns of a sequence are about axes that turn along: R = R_i(a) R_j(b) R_k(c).

#include <array>

#include "limber/math/types.hpp"

namespace limber {

/// a, b, c for the axes i, j, k (0 .. 2; neighbours differ). a and c lie within half a turn; b in -pi/2 .. pi/2 where
/// all axes differ (Cardan), in 0 .. pi where the third is the first (Euler). Where b leaves a and c undivided c is 0.
Vec3 find_turns(const Mat3& rotation, const std::array<int, 3>& axes);

/// w, x, y, z with w >= 0.
Eigen::Vector4d find_quaternion(const Mat3& rotation);

/// The angle in 0 .. pi, and the axis; z where nothing is turned.
Eigen::Vector4d find_axis_angle(const Mat3& rotation);

}  // namespace limber
