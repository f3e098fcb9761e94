// Bodies in the frame of a circular orbit, against closed forms.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/models.hpp"

namespace limber::testing {
namespace {

// Clohessy and Wiltshire: what is let go drifts in a known way, n = 0.7.
TEST(OrbitFrame, CarriesPointsAlongHillsPaths) {
    constexpr double n = 0.7;
    constexpr double x0 = 1;
    constexpr double y0 = -2;
    constexpr double z0 = 0.5;
    constexpr double u0 = 0.3;
    constexpr double v0 = -0.4;
    constexpr double w0 = 0.2;
    for (const bool planar : {true, false}) {
        const Model model = planar ? read(R"(
limber: 1
plane: xy
gravity: {orbit: 0.7}
bodies: {mass: {mass: 3, at: [1, -2], velocity: [0.3, -0.4]}}
sensors: {p: {position: mass}, energy: {energy: total}}
)")
                                   : read(R"(
limber: 1
gravity: {orbit: 0.7}
bodies: {mass: {mass: 3, at: [1, -2, 0.5], velocity: [0.3, -0.4, 0.2]}}
sensors: {p: {position: mass}, energy: {energy: total}}
)");
        Simulation s(model, options("augmented-lagrangian", "rk4"));
        const double energy = sense(s, "energy");
        for (int i = 1; i <= 5; ++i) {
            ASSERT_TRUE(s.advance(i, 1e-3).ok);
            const double a = n * s.time();
            EXPECT_NEAR(sense(s, "p.x"),
                        (4 - 3 * std::cos(a)) * x0 + std::sin(a) / n * u0 + 2 / n * (1 - std::cos(a)) * v0, 1e-9);
            EXPECT_NEAR(
                sense(s, "p.y"),
                6 * (std::sin(a) - a) * x0 + y0 - 2 / n * (1 - std::cos(a)) * u0 + (4 * std::sin(a) - 3 * a) / n * v0,
                1e-9);
            if (!planar) {
                EXPECT_NEAR(sense(s, "p.z"), z0 * std::cos(a) + w0 / n * std::sin(a), 1e-9);
            }
            EXPECT_NEAR(sense(s, "energy"), energy, 1e-9);
        }
    }
}

// Stroe 2002: psi = (0.5, 0.2) at rest with W = 1; at t = 2 by an integration of the nonlinear equations in a central
// field, R0 = 1e5 L.
TEST(OrbitFrame, SwingsHingedRodsAsStroe) {
    const auto check = [](Simulation& s, const char* angle) {
        const double energy = sense(s, "energy");
        ASSERT_TRUE(s.advance(2, 1e-3).ok);
        EXPECT_NEAR(sense(s, std::string("lower") + angle), -0.202360, 1e-4);
        EXPECT_NEAR(sense(s, std::string("upper") + angle), -0.483204, 1e-4);
        EXPECT_NEAR(sense(s, angle[0] == '\0' ? "lower_rate" : "lower_rate.z"), 0.225387, 1e-4);
        EXPECT_NEAR(sense(s, angle[0] == '\0' ? "upper_rate" : "upper_rate.z"), 0.048179, 1e-4);
        EXPECT_NEAR(sense(s, "energy"), energy, 1e-8);
    };
    for (const auto& [formulation, coordinates] : examples::formulations_in_coordinates()) {
        if (formulation == "penalty") continue;
        SCOPED_TRACE(formulation + " " + coordinates);
        Simulation plane(example("orbit-rods.yaml"), options(formulation, "rk4", coordinates));
        check(plane, "");
        Simulation space(read(R"(
limber: 1
gravity: {orbit: 1}
bodies:
  lower: {rod: {from: [-cos(0.5), -sin(0.5), 0], to: [0, 0, 0], radius: 1e-4, mass: 1}}
  upper: {rod: {from: [0, 0, 0], to: [cos(0.2), sin(0.2), 0], radius: 1e-4, mass: 1}}
joints: {hinge: {revolute: [lower.to, upper.from]}}
sensors:
  lower: {orientation: lower, as: roll-pitch-yaw}
  upper: {orientation: upper, as: roll-pitch-yaw}
  lower_rate: {angular-velocity: lower}
  upper_rate: {angular-velocity: upper}
  energy: {energy: total}
)"),
                         options(formulation, "rk4", coordinates));
        check(space, ".yaw");
    }
}

// Small swings about the vertical (terms of second order are 1e-5 of them): in phase sqrt(3) W, against each other 2
// sqrt(3) W; tension 1.5 m W^2 L.
TEST(OrbitFrame, HasStroesFrequencies) {
    for (const auto& [second, frequency] :
         {std::pair{1e-5, std::numbers::sqrt3}, std::pair{-1e-5, 2 * std::numbers::sqrt3}}) {
        Simulation s(example("orbit-rods.yaml", {{"first", "0.00001"}, {"second", std::to_string(second)}}),
                     options("augmented-lagrangian", "rk4"));
        EXPECT_NEAR(std::hypot(sense(s, "tension.fx"), sense(s, "tension.fy")), 1.5, 1e-4);
        for (int i = 1; i <= 20; ++i) {
            ASSERT_TRUE(s.advance(0.25 * i, 1e-3).ok);
            EXPECT_NEAR(sense(s, "lower"), 1e-5 * std::cos(frequency * s.time()), 1e-10) << i;
        }
    }
}

// A thin rod by itself swings in the orbit's plane with sqrt(3) W and across it with 2 W, which the turning of the
// frame makes of sqrt(3): its forces on a turning body are in it.
TEST(OrbitFrame, SwingsARodAcrossTheOrbit) {
    for (const auto& coordinates : {"natural", "reference-point", "relative"}) {
        Simulation s(read(R"(
limber: 1
gravity: {orbit: 1}
bodies: {rod: {rod: {from: [-1, 0, -0.001], to: [1, 0, 0.001], radius: 1e-3, mass: 2}}}
sensors: {end: {position: rod.to}}
)"),
                     options("augmented-lagrangian", "rk4", coordinates));
        for (int i = 1; i <= 10; ++i) {
            ASSERT_TRUE(s.advance(0.25 * i, 1e-3).ok);
            EXPECT_NEAR(sense(s, "end.z"), 0.001 * std::cos(2 * s.time()), 5e-8) << i << coordinates;
        }
    }
}

TEST(OrbitFrame, RefusesWhatItCannotKnow) {
    const auto message = [](const std::string& text) -> std::string {
        try {
            read(text);
        } catch (const ModelError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(message("limber: 1\nplane: xy\ngravity: {orbit: 1}\nbodies: {b: {mass: 1, inertia: [2]}}\n")
                  .find("needs its inertias along both axes"),
              std::string::npos);
    EXPECT_NE(message("limber: 1\ngravity: {orbit: -1}\nbodies: {b: {mass: 1}}\n").find("expected a positive number"),
              std::string::npos);
    EXPECT_NE(message("limber: 1\ngravity: {orbits: 1}\nbodies: {b: {mass: 1}}\n").find("orbit"), std::string::npos);
}

}  // namespace
}  // namespace limber::testing
