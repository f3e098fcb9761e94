#pragma once
// Dual numbers in Eigen's vectors, and the functions of one and two arguments for them, so that formulas can be written
// once for plain numbers and for numbers with derivatives.

#include <Eigen/Core>
#include <cmath>

#include "limber/math/derivative.hpp"

namespace limber {

template <DualNumber T>
T& operator*=(T& a, const T& b) {
    return a = a * b;
}
template <DualNumber T>
T& operator/=(T& a, const T& b) {
    return a = a / b;
}

// Which way a formula branches is decided by values.
template <DualNumber T>
bool operator<(const T& a, const T& b) {
    return value_of(a) < value_of(b);
}
template <DualNumber T>
bool operator>(const T& a, const T& b) {
    return value_of(a) > value_of(b);
}
template <DualNumber T>
bool operator<=(const T& a, const T& b) {
    return value_of(a) <= value_of(b);
}
template <DualNumber T>
bool operator>=(const T& a, const T& b) {
    return value_of(a) >= value_of(b);
}
template <DualNumber T>
bool operator==(const T& a, const T& b) {
    return value_of(a) == value_of(b);
}

template <DualNumber T>
T abs(const T& a) {
    return value_of(a) < 0 ? -a : a;
}
template <DualNumber T>
T sin(const T& a) {
    const double f = std::sin(value_of(a));
    return chain(UnaryDerivatives{f, std::cos(value_of(a)), -f}, a);
}
template <DualNumber T>
T cos(const T& a) {
    const double f = std::cos(value_of(a));
    return chain(UnaryDerivatives{f, -std::sin(value_of(a)), -f}, a);
}
template <DualNumber T>
T tan(const T& a) {
    const double f = std::tan(value_of(a));
    return chain(UnaryDerivatives{f, 1 + f * f, 2 * f * (1 + f * f)}, a);
}
template <DualNumber T>
T atan(const T& a) {
    const double x = value_of(a);
    const double slope = 1 / (1 + x * x);
    return chain(UnaryDerivatives{std::atan(x), slope, -2 * x * slope * slope}, a);
}
template <DualNumber T>
T atan2(const T& y, const T& x) {
    const double s = value_of(y);
    const double c = value_of(x);
    const double square = c * c + s * s;
    const double mixed = 2 * s * c / (square * square);
    return chain(BinaryDerivatives{std::atan2(s, c), c / square, -s / square, -mixed,
                                   (s * s - c * c) / (square * square), mixed},
                 y, x);
}
template <DualNumber T>
T tanh(const T& a) {
    const double f = std::tanh(value_of(a));
    return chain(UnaryDerivatives{f, 1 - f * f, -2 * f * (1 - f * f)}, a);
}
template <DualNumber T>
T exp(const T& a) {
    const double f = std::exp(value_of(a));
    return chain(UnaryDerivatives{f, f, f}, a);
}
template <DualNumber T>
T log(const T& a) {
    const double x = value_of(a);
    return chain(UnaryDerivatives{std::log(x), 1 / x, -1 / (x * x)}, a);
}
template <DualNumber T>
T pow(const T& a, double exponent) {
    const double x = value_of(a);
    return chain(UnaryDerivatives{std::pow(x, exponent), exponent * std::pow(x, exponent - 1),
                                  exponent * (exponent - 1) * std::pow(x, exponent - 2)},
                 a);
}

template <class T>
using Vector3 = Eigen::Matrix<T, 3, 1>;

}  // namespace limber

template <limber::DualNumber T>
struct Eigen::NumTraits<T> : Eigen::NumTraits<double> {
    using Real = T;
    using NonInteger = T;
    using Nested = T;
    using Literal = T;
    enum {
        IsComplex = 0,
        IsInteger = 0,
        IsSigned = 1,
        RequireInitialization = 1,
        ReadCost = sizeof(T) / sizeof(double),
        AddCost = ReadCost,
        MulCost = 3 * ReadCost
    };
};
