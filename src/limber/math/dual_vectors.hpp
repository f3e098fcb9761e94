#pragma once
// Dual numbers in Eigen's vectors, and the functions of one and two arguments for them, so that formulas can be written
// once for plain numbers and for numbers with derivatives.

#include <Eigen/Core>
#include <cmath>

#include "limber/math/derivative.hpp"

namespace limber {

template <int N>
Dual<N>& operator*=(Dual<N>& a, const Dual<N>& b) {
    return a = a * b;
}
template <int N>
Dual<N>& operator/=(Dual<N>& a, const Dual<N>& b) {
    return a = a / b;
}

// Which way a formula branches is decided by values.
template <int N>
bool operator<(const Dual<N>& a, const Dual<N>& b) {
    return a.value < b.value;
}
template <int N>
bool operator>(const Dual<N>& a, const Dual<N>& b) {
    return a.value > b.value;
}
template <int N>
bool operator<=(const Dual<N>& a, const Dual<N>& b) {
    return a.value <= b.value;
}
template <int N>
bool operator>=(const Dual<N>& a, const Dual<N>& b) {
    return a.value >= b.value;
}
template <int N>
bool operator==(const Dual<N>& a, const Dual<N>& b) {
    return a.value == b.value;
}

template <int N>
Dual<N> abs(const Dual<N>& a) {
    return a.value < 0 ? -a : a;
}
template <int N>
Dual<N> sin(const Dual<N>& a) {
    return chain(UnaryDerivatives{std::sin(a.value), std::cos(a.value), 0}, a);
}
template <int N>
Dual<N> cos(const Dual<N>& a) {
    return chain(UnaryDerivatives{std::cos(a.value), -std::sin(a.value), 0}, a);
}
template <int N>
Dual<N> tan(const Dual<N>& a) {
    const double f = std::tan(a.value);
    return chain(UnaryDerivatives{f, 1 + f * f, 0}, a);
}
template <int N>
Dual<N> atan(const Dual<N>& a) {
    return chain(UnaryDerivatives{std::atan(a.value), 1 / (1 + a.value * a.value), 0}, a);
}
template <int N>
Dual<N> atan2(const Dual<N>& y, const Dual<N>& x) {
    const double square = x.value * x.value + y.value * y.value;
    return chain(BinaryDerivatives{std::atan2(y.value, x.value), x.value / square, -y.value / square, 0, 0, 0}, y, x);
}
template <int N>
Dual<N> tanh(const Dual<N>& a) {
    const double f = std::tanh(a.value);
    return chain(UnaryDerivatives{f, 1 - f * f, 0}, a);
}
template <int N>
Dual<N> exp(const Dual<N>& a) {
    const double f = std::exp(a.value);
    return chain(UnaryDerivatives{f, f, 0}, a);
}
template <int N>
Dual<N> log(const Dual<N>& a) {
    return chain(UnaryDerivatives{std::log(a.value), 1 / a.value, 0}, a);
}
template <int N>
Dual<N> pow(const Dual<N>& a, double exponent) {
    return chain(UnaryDerivatives{std::pow(a.value, exponent), exponent * std::pow(a.value, exponent - 1), 0}, a);
}

template <class T>
using Vector3 = Eigen::Matrix<T, 3, 1>;

}  // namespace limber

template <int N>
struct Eigen::NumTraits<limber::Dual<N>> : Eigen::NumTraits<double> {
    using Real = limber::Dual<N>;
    using NonInteger = limber::Dual<N>;
    using Nested = limber::Dual<N>;
    using Literal = limber::Dual<N>;
    enum {
        IsComplex = 0,
        IsInteger = 0,
        IsSigned = 1,
        RequireInitialization = 1,
        ReadCost = N,
        AddCost = N,
        MulCost = 3 * N
    };
};
