#pragma once
// Exact derivatives by arithmetic on truncated series.
//
//   Taylor2   value, first and second derivative with respect to one variable (time laws of drivers)
//   Dual<N>   value and N first partial derivatives (stiffness and damping of force laws)
//   DirectedDual<N>  the same, and how they change along one direction: second derivatives times a vector
//
// A function of one argument enters through its value and two derivatives, one of two arguments through its
// value, gradient and second partials; each number type needs only the chain rule for these two.

#include <array>
#include <cmath>

namespace limber {

/// Value, first and second derivative of a function of one argument at a point.
struct UnaryDerivatives {
    double f, fx, fxx;
};

/// Value, gradient and second partials of a function of two arguments at a point.
struct BinaryDerivatives {
    double f, fx, fy, fxx, fxy, fyy;
};

struct Taylor2 {
    double value = 0, first = 0, second = 0;

    Taylor2() = default;
    Taylor2(double constant) : value(constant) {}
    Taylor2(double v, double d, double dd) : value(v), first(d), second(dd) {}
    static Taylor2 variable(double x) { return {x, 1, 0}; }
};

inline double value_of(const Taylor2& a) {
    return a.value;
}

inline Taylor2 chain(const UnaryDerivatives& u, const Taylor2& a) {
    return {u.f, u.fx * a.first, u.fxx * a.first * a.first + u.fx * a.second};
}
inline Taylor2 chain(const BinaryDerivatives& u, const Taylor2& a, const Taylor2& b) {
    return {u.f, u.fx * a.first + u.fy * b.first,
            u.fxx * a.first * a.first + 2 * u.fxy * a.first * b.first + u.fyy * b.first * b.first + u.fx * a.second +
                u.fy * b.second};
}

template <class T>
concept DualNumber = requires {
    T::is_dual;
};

template <int N>
struct Dual {
    static constexpr bool is_dual = true;
    double value = 0;
    std::array<double, N> partial{};

    Dual() = default;
    Dual(double constant) : value(constant) {}
    static Dual variable(double x, int index) {
        Dual d(x);
        d.partial[index] = 1;
        return d;
    }

    Dual& operator+=(const Dual& b) { return *this = *this + b; }
    Dual& operator-=(const Dual& b) { return *this = *this - b; }

    friend Dual operator+(Dual a, const Dual& b) {
        a.value += b.value;
        for (int i = 0; i < N; ++i) a.partial[i] += b.partial[i];
        return a;
    }
    friend Dual operator-(Dual a, const Dual& b) {
        a.value -= b.value;
        for (int i = 0; i < N; ++i) a.partial[i] -= b.partial[i];
        return a;
    }
    friend Dual operator-(Dual a) {
        a.value = -a.value;
        for (int i = 0; i < N; ++i) a.partial[i] = -a.partial[i];
        return a;
    }
    friend Dual operator*(const Dual& a, const Dual& b) {
        Dual r(a.value * b.value);
        for (int i = 0; i < N; ++i) r.partial[i] = a.value * b.partial[i] + b.value * a.partial[i];
        return r;
    }
    friend Dual operator/(const Dual& a, const Dual& b) {
        Dual r(a.value / b.value);
        for (int i = 0; i < N; ++i) r.partial[i] = (a.partial[i] - r.value * b.partial[i]) / b.value;
        return r;
    }
};

template <int N>
double value_of(const Dual<N>& a) {
    return a.value;
}
inline double value_of(double a) {
    return a;
}

template <int N>
Dual<N> chain(const UnaryDerivatives& u, const Dual<N>& a) {
    Dual<N> r(u.f);
    for (int i = 0; i < N; ++i) r.partial[i] = u.fx * a.partial[i];
    return r;
}
template <int N>
Dual<N> chain(const BinaryDerivatives& u, const Dual<N>& a, const Dual<N>& b) {
    Dual<N> r(u.f);
    for (int i = 0; i < N; ++i) r.partial[i] = u.fx * a.partial[i] + u.fy * b.partial[i];
    return r;
}
inline double chain(const UnaryDerivatives& u, double) {
    return u.f;
}
inline double chain(const BinaryDerivatives& u, double, double) {
    return u.f;
}

template <int N>
struct DirectedDual {
    static constexpr bool is_dual = true;
    Dual<N> here, along;

    DirectedDual() = default;
    DirectedDual(double constant) : here(constant) {}
    DirectedDual(const Dual<N>& number, const Dual<N>& change) : here(number), along(change) {}

    DirectedDual& operator+=(const DirectedDual& b) { return *this = *this + b; }
    DirectedDual& operator-=(const DirectedDual& b) { return *this = *this - b; }

    friend DirectedDual operator+(const DirectedDual& a, const DirectedDual& b) {
        return {a.here + b.here, a.along + b.along};
    }
    friend DirectedDual operator-(const DirectedDual& a, const DirectedDual& b) {
        return {a.here - b.here, a.along - b.along};
    }
    friend DirectedDual operator-(const DirectedDual& a) { return {-a.here, -a.along}; }
    friend DirectedDual operator*(const DirectedDual& a, const DirectedDual& b) {
        return {a.here * b.here, a.along * b.here + a.here * b.along};
    }
    friend DirectedDual operator/(const DirectedDual& a, const DirectedDual& b) {
        const Dual<N> ratio = a.here / b.here;
        return {ratio, (a.along - ratio * b.along) / b.here};
    }
};

template <int N>
double value_of(const DirectedDual<N>& a) {
    return a.here.value;
}

template <int N>
DirectedDual<N> chain(const UnaryDerivatives& u, const DirectedDual<N>& a) {
    return {chain(u, a.here), chain(UnaryDerivatives{u.fx, u.fxx, 0}, a.here) * a.along};
}
template <int N>
DirectedDual<N> chain(const BinaryDerivatives& u, const DirectedDual<N>& a, const DirectedDual<N>& b) {
    return {chain(u, a.here, b.here),
            chain(BinaryDerivatives{u.fx, u.fxx, u.fxy, 0, 0, 0}, a.here, b.here) * a.along +
                chain(BinaryDerivatives{u.fy, u.fxy, u.fyy, 0, 0, 0}, a.here, b.here) * b.along};
}

template <DualNumber T>
T sqrt(const T& a) {
    const double root = std::sqrt(value_of(a));
    return chain(UnaryDerivatives{root, 0.5 / root, -0.25 / (root * root * root)}, a);
}

}  // namespace limber
