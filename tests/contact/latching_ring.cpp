// A ring of rods that springs open and latches hold, as the antennas of Sayapin do: case SAY-1 with scatter of the
// springs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr int rods = 8;
constexpr double inertia = 0.225, pre = 0.35, stiffness = 0.8;

/// Instants at which the rods latch; NaN: not until 1.2 s.
std::vector<double> latch_times(Simulation& simulation, double step = 0.005) {
    std::vector<double> times(rods, NAN);
    while (simulation.time() < 1.2) {
        const StepReport report = simulation.step(step);
        EXPECT_TRUE(report.ok) << report.reason;
        if (!report.ok) break;
        for (const ContactEvent& event : report.events)
            if (event.kind == ContactEvent::Kind::latched) times[std::stoi(event.stop.substr(5)) - 1] = event.t;
    }
    return times;
}

std::vector<double> latch_times(int seed, double mesh) {
    Simulation simulation(
        example("contact/latching-ring.yaml", {{"seed", std::to_string(seed)}, {"mesh", std::to_string(mesh)}}),
        options("global", "rk4"));
    return latch_times(simulation);
}

// Each rod by itself: between the 0.671748 s and 0.822720 s of springs 20 % stronger and weaker.
TEST(LatchingRing, RodsWithoutAMeshLatchInTheirOwnTimes) {
    for (int seed = 1; seed <= 5; ++seed) {
        const std::vector<double> times = latch_times(seed, 0);
        for (int i = 1; i <= rods; ++i) {
            const double k = stiffness * (1 + 0.2 * std::sin(12.9898 * seed + 78.233 * i));
            EXPECT_NEAR(times[i - 1], std::acos(pre / (pre + pi / 2)) / std::sqrt(k / inertia), 1e-6)
                << "seed " << seed << ", rod " << i;
        }
    }
}

// Equal springs: all latch at once, with what the mesh has left of their energy, k/2 ((pre + end)^2 - pre^2).
TEST(LatchingRing, EqualRodsLatchTogether) {
    Simulation simulation(example("contact/latching-ring.yaml", {{"scatter", "0"}}), options("global", "rk4"));
    // Short steps: the integrator does not see the instant at which the mesh becomes taut.
    const std::vector<double> times = latch_times(simulation, 5e-4);
    const auto [first, last] = std::minmax_element(times.begin(), times.end());
    EXPECT_LT(*last - *first, 1e-9);
    const double stretch = 0.05 * 2 * (0.75 + 1.5) * std::sin(pi / rods);
    const double energy = 0.5 * stiffness * (std::pow(pre + pi / 2, 2) - pre * pre) - 0.5 * 100 * stretch * stretch;
    EXPECT_NEAR(sense(simulation, "lost"), rods * energy, 1e-5);
    EXPECT_NEAR(std::abs(sense(simulation, "impulse")), std::sqrt(2 * energy * inertia), 1e-6);
}

// The stronger the mesh, the fewer rods latch; every seed gives the same again.
TEST(LatchingRing, AStrongMeshKeepsRodsFromLatching) {
    const auto count_latched = [](double mesh) {
        int count = 0;
        for (int seed = 1; seed <= 10; ++seed) {
            const std::vector<double> times = latch_times(seed, mesh);
            count +=
                static_cast<int>(std::count_if(times.begin(), times.end(), [](double t) { return !std::isnan(t); }));
        }
        return count;
    };
    EXPECT_EQ(count_latched(100), 10 * rods);
    const int fewer = count_latched(244);
    EXPECT_GT(fewer, 0);
    EXPECT_LT(fewer, 10 * rods);
    EXPECT_EQ(count_latched(244), fewer);
}

}  // namespace
}  // namespace limber::testing
