#pragma once
// Spatial mechanisms whose motion is known from elsewhere: closed forms, or equations of their own integrated here.
// Nothing of the engine takes part in the references.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "limber/math/types.hpp"

namespace limber::testing {

/// y' = f(t, y) from 0 to `end` in equal steps, each by extrapolation of the midpoint rule (Gragg, Bulirsch and Stoer),
/// order 16.
inline VecX integrate(const std::function<VecX(const VecX&)>& f, VecX y, double end, int steps) {
    constexpr int columns = 8;
    const double h = end / steps;
    for (int s = 0; s < steps; ++s) {
        std::array<VecX, columns> table;
        for (int k = 0; k < columns; ++k) {
            const int parts = 2 * (k + 1);
            const double d = h / parts;
            VecX before = y;
            VecX now = y + d * f(y);
            for (int i = 1; i < parts; ++i) {
                VecX next = before + 2 * d * f(now);
                before = std::move(now);
                now = std::move(next);
            }
            table[k] = (before + now + d * f(now)) / 2;
            for (int j = k - 1; j >= 0; --j) {
                const double ratio = static_cast<double>(parts) / (2 * (j + 1));
                table[j] = table[j + 1] + (table[j + 1] - table[j]) / (ratio * ratio - 1);
            }
        }
        y = table[0];
    }
    return y;
}

/// Jacobi's elliptic functions of u with modulus k, by descending Landen transformations.
struct Jacobi {
    double sn, cn, dn;
};
inline Jacobi jacobi(double u, double k) {
    constexpr int most = 12;
    std::array<double, most + 1> a{1}, c{k};
    double b = std::sqrt(1 - k * k);
    int n = 0;
    while (n < most && std::abs(c[n]) > 1e-17) {
        a[n + 1] = (a[n] + b) / 2;
        c[n + 1] = (a[n] - b) / 2;
        b = std::sqrt(a[n] * b);
        ++n;
    }
    double phi = std::ldexp(a[n] * u, n);
    for (; n > 0; --n) phi = (phi + std::asin(c[n] / a[n] * std::sin(phi))) / 2;
    return {std::sin(phi), std::cos(phi), std::sqrt(1 - k * k * std::sin(phi) * std::sin(phi))};
}
inline double quarter_period(double k) {
    return std::comp_ellint_1(k);
}

struct SpatialCase {
    std::string name, yaml;
    /// What is compared with `exact`, from the values of the columns by name.
    std::function<VecX(const std::function<double(const std::string&)>&)> seen;
    std::function<VecX(double t)> exact;
};

inline VecX make_vector(std::initializer_list<double> list) {
    return Eigen::Map<const VecX>(list.begin(), static_cast<Eigen::Index>(list.size()));
}
inline Vec3 read_vector(const std::function<double(const std::string&)>& read, const std::string& sensor) {
    return {read(sensor + ".x"), read(sensor + ".y"), read(sensor + ".z")};
}

/// A symmetrical rod on a ball, whirled over the top, without spin: its direction u obeys u'' = -|u'|^2 u + k (g -
/// (g.u) u), with g downwards and k = m g l / I. As a free body held by rows (`cut`) it is the simplest loop of one.
inline SpatialCase ball_pendulum(bool cut) {
    constexpr double mass = 1.5, length = 0.5, across = 0.04, gravity = 9.81;
    const Vec3 direction(1, 0, 0);
    const Vec3 rate(0, 4, -20);
    const Vec3 omega = direction.cross(rate);
    SpatialCase c;
    c.name = cut ? "free_body_on_a_cut_ball" : "ball_pendulum";
    c.yaml = fmt::format(R"(
limber: 1
gravity: [0, 0, -9.81]
bodies:
  rod: {{mass: 1.5, com: [0, 0, 0.5], inertia: [0.04, 0.04, 0.01], z: [1, 0, 0], x: [0, 0, -1],
        angular-velocity: [{}, {}, {}], velocity: [0, 0, 0], markers: {{u: [0, 0, 1]}}}}
joints: {{ball: {{spherical: [ground, rod], at: [0, 0, 0]{}}}}}
sensors: {{u: {{position: rod.u}}, w: {{angular-velocity: rod}}}}
)",
                         omega.x(), omega.y(), omega.z(), cut ? ", cut: true" : "");
    c.seen = [](const auto& read) {
        VecX x(6);
        x << read_vector(read, "u"), read_vector(read, "w") / 20;
        return x;
    };
    c.exact = [direction, rate](double t) {
        VecX y(6);
        y << direction, rate;
        y = integrate(
            [](const VecX& x) {
                constexpr double k = mass * gravity * length / (across + mass * length * length);
                const Vec3 u = x.head<3>();
                const Vec3 v = x.tail<3>();
                const Vec3 down(0, 0, -1);
                VecX f(6);
                f << v, Vec3(-v.squaredNorm() * u + k * (down - down.dot(u) * u));
                return f;
            },
            y, t, 200);
        const Vec3 u = y.head<3>();
        const Vec3 v = y.tail<3>();
        VecX x(6);
        x << u, u.cross(v) / 20;
        return x;
    };
    return c;
}

/// A free body, principal inertias A < B < C, that starts at (wx, wy, 0): its own angular velocities are Jacobi's
/// functions (Landau and Lifshitz, section 37), and its angular momentum stays where it is.
inline SpatialCase torque_free() {
    constexpr double A = 1, B = 2, C = 2.5, wx = 20, wy = 25;
    SpatialCase c;
    c.name = "torque_free";
    c.yaml = R"(
limber: 1
gravity: none
bodies:
  b: {mass: 1, inertia: [1, 2, 2.5], angular-velocity: [20, 25, 0], markers: {x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1]}}
sensors: {w: {angular-velocity: b}, x: {position: b.x}, y: {position: b.y}, z: {position: b.z}}
)";
    c.seen = [](const auto& read) {
        const Vec3 w = read_vector(read, "w");
        Mat3 axes;
        axes << read_vector(read, "x"), read_vector(read, "y"), read_vector(read, "z");
        const Vec3 own = axes.transpose() * w;
        VecX x(6);
        x << own / 30, axes * Vec3(A * own.x(), B * own.y(), C * own.z()) / 60;
        return x;
    };
    c.exact = [](double t) {
        const double X = B * (C - B) * wy * wy / (A * (C - A));
        const double alpha = std::sqrt(wx * wx + X);
        const double k = std::sqrt(X) / alpha;
        const double gamma = wy * std::sqrt(B * (B - A) / (C * (C - A)));
        const double rate = alpha * std::sqrt((C - A) * (B - A) / (B * C));
        const Jacobi j = jacobi(quarter_period(k) + rate * t, k);
        VecX x(6);
        x << Vec3(alpha * j.dn, wy * j.sn, gamma * j.cn) / 30, Vec3(A * wx, B * wy, 0) / 60;
        return x;
    };
    return c;
}

/// A heavy top in steady precession at W: the tilt stays, the axis goes round once in 2 pi / W. It spins at w3.
inline SpatialCase steady_top(double across, double along) {
    constexpr double tilt = 40 * pi / 180, W = 5;
    SpatialCase c;
    c.name = "steady_top";
    c.yaml = fmt::format(R"(
limber: 1
gravity: [0, 0, -9.81]
parameters: {{m: 0.8, l: 0.15, Ic: {}, I3: {}, th: 40 deg, W: 5, w3: ((Ic + m*l^2)*W^2*cos(th) + m*9.81*l)/(I3*W)}}
bodies:
  top: {{mass: m, com: [0, 0, l], inertia: [Ic, Ic, I3], z: [sin(th), 0, cos(th)], x: [cos(th), 0, -sin(th)],
        angular-velocity: [(w3 - W*cos(th))*sin(th), 0, W + (w3 - W*cos(th))*cos(th)], markers: {{u: [0, 0, 1]}}}}
joints: {{tip: {{spherical: [ground, top]}}}}
sensors: {{u: {{position: top.u}}}}
)",
                         across, along);
    c.seen = [](const auto& read) { return VecX(read_vector(read, "u")); };
    c.exact = [](double t) {
        return make_vector({std::sin(tilt) * std::cos(W * t), std::sin(tilt) * std::sin(W * t), std::cos(tilt)});
    };
    return c;
}

/// Crank about the x axis, slider along it, and a rod between two balls that does not spin, at an angle `a` of the
/// crank.
struct SliderCrank {
    static constexpr double r = 0.08, l = 0.3, cy = 0.1, cz = 0.12;
    Vec3 pin, pin_slope;  ///< and its derivative by a
    double slider, slider_slope;

    explicit SliderCrank(double a)
        : pin(0, cy + r * std::cos(a), cz + r * std::sin(a)),
          pin_slope(0, -r * std::sin(a), r * std::cos(a)),
          slider(std::sqrt(l * l - pin.squaredNorm())),
          slider_slope(-pin.dot(pin_slope) / slider) {}

    /// m of the kinetic energy m a'^2 / 2
    static double inertia(double a) {
        const SliderCrank x(a);
        const Vec3 end_slope(x.slider_slope, 0, 0);
        const Vec3 centre = (x.pin_slope + end_slope) / 2;
        const Vec3 along = (Vec3(x.slider, 0, 0) - x.pin) / l;
        const Vec3 turn = along.cross(end_slope - x.pin_slope) / l;
        return 8e-4 + 0.7 * x.slider_slope * x.slider_slope + 0.5 * centre.squaredNorm() + 4e-3 * turn.squaredNorm();
    }
    /// m a'' + m' a'^2 / 2 + V' = 0, with m' by central differences of order 8 and V the weight of the rod.
    static double acceleration(double a, double rate) {
        constexpr double d = 0.005;
        const auto difference = [&](int k) { return inertia(a + k * d) - inertia(a - k * d); };
        const double slope =
            (672 * difference(1) - 168 * difference(2) + 32 * difference(3) - 3 * difference(4)) / (840 * d);
        return -(slope * rate * rate / 2 + 0.5 * 9.81 * r * std::cos(a) / 2) / inertia(a);
    }
};

inline SpatialCase spatial_slider_crank() {
    SpatialCase c;
    c.name = "spatial_slider_crank";
    c.yaml = R"(
limber: 1
gravity: [0, 0, -9.81]
parameters: {r: 0.08, l: 0.3, cy: 0.1, cz: 0.12, s: sqrt(l^2 - (cy + r)^2 - cz^2)}
bodies:
  crank: {mass: 0.4, inertia: [8e-4, 8e-4, 8e-4], at: [0, cy, cz]}
  rod: {mass: 0.5, at: [s/2, (cy + r)/2, cz/2], z: [s, -(cy + r), -cz], x: [cz, 0, s], inertia: [4e-3, 4e-3, 2e-4]}
  slider: {mass: 0.7, inertia: [1e-3, 1e-3, 1e-3], at: [s, 0, 0]}
joints:
  axle: {revolute: [ground, crank], at: [0, cy, cz], axis: [1, 0, 0]}
  pin: {spherical: [crank, rod], at: [0, cy + r, cz]}
  wrist: {spherical: [rod, slider], at: [s, 0, 0]}
  rail: {prismatic: [ground, slider], at: [s, 0, 0], axis: [1, 0, 0]}
initial: {rates: {axle.angle: 20}}
sensors: {a: {coordinate: axle.angle}, s: {position: slider}, v: {velocity: slider}}
)";
    c.seen = [](const auto& read) { return make_vector({read("a"), read("s.x"), read("v.x") / 4}); };
    c.exact = [](double t) {
        const VecX y = integrate(
            [](const VecX& x) {
                return make_vector({x[1], SliderCrank::acceleration(x[0], x[1])});
            },
            make_vector({0, 20}), t, 200);
        const SliderCrank x(y[0]);
        return make_vector({y[0], x.slider, x.slider_slope * y[1] / 4});
    };
    return c;
}

inline std::vector<SpatialCase> spatial_cases() {
    return {ball_pendulum(false), ball_pendulum(true), torque_free(), steady_top(1.2e-2, 2e-2), spatial_slider_crank()};
}

}  // namespace limber::testing
