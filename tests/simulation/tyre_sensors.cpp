// What sensors say of a tyre, against the formulas of the Calspan model worked out here.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

// A wheel at 8 m/s ahead and 0.4 m/s to the left, 10 mm deep in the road, leaning by 3 degrees.
TEST(TyreSensors, FollowTheCalspanFormulas) {
    constexpr double ahead = 8;
    constexpr double left = 0.4;
    Simulation s(read(R"(
limber: 1
gravity: none
roads: {flat: {height: 0}}
bodies:
  hub: {mass: 1e9, inertia: [1e9, 1e9, 1e9], at: [0, 0, 0.29], velocity: [8, 0.4, 0], markers: {axle: {turn: [1, 0, 0, -87 deg]}}}
forces:
  tyre: {tyre: hub.axle, road: flat, radius: 0.3, stiffness: 400000,
         lateral: {A0: 1031.13, A1: 13.05, A2: 4800, A3: 0.5, A4: 6000, B1: -3.8e-5, B3: 1.2, B4: 2e-9, SN: 1.05, AF1: -2e-6, AF2: 3e-6}}
sensors:
  wheel: {tyre: tyre}
  whole: {force: tyre, body: hub, at: hub}
)"));
    const double n = 4000;
    const double camber = 3 * pi / 180;
    const double slip = std::atan(left / ahead);
    const double friction = (-3.8e-5 * n + 1.2 + 2e-9 * n * n) * 1.05;
    const double cornering = 13.05 * n * (n - 4800) - 1031.13 * 4800;
    const double shift = -4800 * 0.5 * (6000 - n) * n / (6000 * cornering) * camber;
    const double ratio = cornering / (4800 * friction * n) * (slip + shift);
    const double shape = ratio - ratio * std::abs(ratio) / 3 + std::pow(ratio, 3) / 27;
    const double side = friction * n * shape;
    EXPECT_LT(std::abs(ratio), 3);
    // At 8 m/s the fading at standstill (0.01 m/s) takes 1.6e-6 of it.
    EXPECT_NEAR(sense(s, "wheel.slip"), slip, 1e-6);
    EXPECT_NEAR(sense(s, "wheel.camber"), camber, 1e-12);
    EXPECT_NEAR(sense(s, "wheel.normal"), n, 1e-6);
    EXPECT_NEAR(sense(s, "wheel.lateral"), side, 1e-5 * std::abs(side));
    EXPECT_NEAR(sense(s, "wheel.aligning"), (-2e-6 * n + 3e-6 * std::abs(side)) * side, 1e-4 * std::abs(side) * 1e-2);
    EXPECT_NEAR(sense(s, "wheel.longitudinal"), 0, 1e-9);
    EXPECT_NEAR(sense(s, "wheel.depth"), 0.01, 1e-12);
    EXPECT_LT(side, 0) << "slides to the left, so it is pushed to the right";
    // Flat road, wheel ahead along x: the road's axes are the world's.
    EXPECT_NEAR(sense(s, "whole.fy"), sense(s, "wheel.lateral"), 1e-9 * std::abs(side));
    EXPECT_NEAR(sense(s, "whole.fz"), n, 1e-6);
}

TEST(TyreSensors, OfThePlaneHaveLoadAndDepth) {
    Simulation plane(read(R"(
limber: 1
plane: xy
roads: {flat: {height: 0}}
bodies: {wheel: {disc: {radius: 0.3, mass: 30}, at: [0, 0.28]}}
forces: {tyre: {tyre: wheel, road: flat, radius: 0.3, stiffness: 10000}}
sensors: {wheel: {tyre: tyre}}
)"));
    EXPECT_NEAR(sense(plane, "wheel.normal"), 200, 1e-9);
    EXPECT_NEAR(sense(plane, "wheel.depth"), 0.02, 1e-12);
    EXPECT_EQ(plane.observer().columns().size(), 2U);
}

}  // namespace
}  // namespace limber::testing
