#pragma once
// Vector and matrix types used everywhere. SI units, right-handed axes, double precision.

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <numbers>

namespace limber {

template <int D>
using Vec = Eigen::Matrix<double, D, 1>;
template <int D>
using Mat = Eigen::Matrix<double, D, D>;

using Vec2 = Vec<2>;
using Vec3 = Vec<3>;
using Mat2 = Mat<2>;
using Mat3 = Mat<3>;
using Quat = Eigen::Quaterniond;
using VecX = Eigen::VectorXd;
using MatX = Eigen::MatrixXd;

/// A vector of the plane or of space as one of space.
template <int D>
Vec3 in_space(const Vec<D>& v) {
    Vec3 w = Vec3::Zero();
    w.template head<D>() = v;
    return w;
}

inline constexpr double pi = std::numbers::pi;

}  // namespace limber
