#pragma once
// Rotation vectors psi of any number type: rotation by |psi| about psi, and how it changes.
//
//   exp(psi)     = I + c1 S + c2 S^2                               S = skew(psi)
//   J(psi)       = I - c2 S + c3 S^2                               turn in turned axes: exp^T exp' = skew(J psi')
//   J^-T(psi)    = I + 1/2 S + (c3 - 2 c4)/(2 c2) S^2              psi' = J^-1 (turn in axes that stand still)
//   log(R)       = v asin(|v|)/|v|,   v = 1/2 sum e_k x R e_k
//
// c_n = sum_k (-x)^k / (2k + n)!,  x = |psi|^2: the functions of Stumpff, without a gap at zero:
//   c_n - 1/n! = -x c_(n+2),   d c_n/dx = 1/2 (n c_(n+2) - c_(n+1)).

#include "limber/math/dual_vectors.hpp"
#include "limber/math/types.hpp"

namespace limber {

template <class T>
using Matrix3 = Eigen::Matrix<T, 3, 3>;

/// c_0 ... c_7 at x.
inline std::array<double, 8> stumpff(double x) {
    std::array<double, 8> c{};
    if (x < 0.5) {
        // Ten terms: 0.5^10 / 20! is far below rounding.
        double factor = 1;  // 1/n!
        for (int n = 0; n < 8; ++n) {
            if (n > 0) factor /= n;
            double term = factor;
            for (int k = 0; k < 10; ++k) {
                c[n] += term;
                term *= -x / ((2 * k + n + 1) * (2 * k + n + 2));
            }
        }
        return c;
    }
    const double angle = std::sqrt(x);
    c[0] = std::cos(angle);
    c[1] = std::sin(angle) / angle;
    double inverse_factorial[2] = {1, 1};
    for (int n = 2; n < 8; ++n) {
        c[n] = (inverse_factorial[n % 2] - c[n - 2]) / x;
        inverse_factorial[n % 2] /= n * (n - 1);
    }
    return c;
}

/// c_0 ... c_5 of a number that may carry derivatives.
template <class T>
std::array<T, 6> stumpff_of(const T& x) {
    const std::array<double, 8> c = stumpff(value_of(x));
    std::array<T, 6> result;
    for (int n = 0; n < 6; ++n) result[n] = chain(UnaryDerivatives{c[n], 0.5 * (n * c[n + 2] - c[n + 1]), 0}, x);
    return result;
}

template <class T>
Matrix3<T> skew_of(const Vector3<T>& a) {
    Matrix3<T> s;
    s << T(0), -a[2], a[1], a[2], T(0), -a[0], -a[1], a[0], T(0);
    return s;
}

/// The rotation vector of a matrix whose columns are almost orthonormal; right up to half a turn.
template <class T>
Vector3<T> log_rotation(const Matrix3<T>& r) {
    const Vector3<T> v = T(0.5) * Vector3<T>(r(2, 1) - r(1, 2), r(0, 2) - r(2, 0), r(1, 0) - r(0, 1));
    const T square = v.squaredNorm();
    const T cosine = T(0.5) * (r.trace() - T(1));
    if (value_of(square) < 1e-3 && value_of(cosine) > 0) {
        T factor = T(945.0 / 42240);
        for (const double coefficient : {105.0 / 3456, 15.0 / 336, 3.0 / 40, 1.0 / 6, 1.0})
            factor = factor * square + T(coefficient);
        return v * factor;
    }
    using std::atan2;
    using std::sqrt;
    const T sine = sqrt(square);
    return v * (atan2(sine, cosine) / sine);
}

}  // namespace limber
