#pragma once
// For equations of motion that a test writes down itself.

#include <array>
#include <cstddef>
#include <functional>

namespace limber::testing {

/// Classical Runge-Kutta for y' = f(y), N numbers.
template <std::size_t N>
std::array<double, N> integrate(std::array<double, N> y, double end, int steps,
                                const std::function<std::array<double, N>(const std::array<double, N>&)>& f) {
    const double h = end / steps;
    const auto moved = [](const std::array<double, N>& a, double s, const std::array<double, N>& b) {
        std::array<double, N> c{};
        for (std::size_t i = 0; i < N; ++i) c[i] = a[i] + s * b[i];
        return c;
    };
    for (int n = 0; n < steps; ++n) {
        const auto k1 = f(y);
        const auto k2 = f(moved(y, h / 2, k1));
        const auto k3 = f(moved(y, h / 2, k2));
        const auto k4 = f(moved(y, h, k3));
        for (std::size_t i = 0; i < N; ++i) y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
    return y;
}

}  // namespace limber::testing
