// Starts that are refused with the name of what is wrong, and those near by that are not.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "limber/simulation/run.hpp"
#include "support/models.hpp"
#include "support/refusal.hpp"
#include "support/runge_kutta.hpp"

namespace limber::testing {
namespace {

std::string geared_arm(const std::string& angle) {
    return R"(
limber: 1
gravity: [0, 0, -9.81]
bodies:
  arm: {mass: 5, com: [0.3, 0, 0], inertia: [0.1, 0.5, 0.5]}
  rotor: {mass: 1, inertia: [0.0013, 0.0013, 0.0013]}
joints:
  axis: {revolute: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0]}
  motor: {revolute: [ground, rotor], at: [0, 0, 0], axis: [0, 1, 0]}
  reducer: {gear: [axis.angle, motor.angle], ratio: -105, offset: 0}
initial:
  positions: {axis.angle: )" +
           angle + R"(}
sensors: {angle: {coordinate: axis.angle}}
)";
}

// Rounding of 1.3e7 rad at the rotor, 2e-9 rad, is more than Newton's method leaves open: steps failed after some
// milliseconds.
TEST(LargeAngles, BeyondWhatAGearCanBeHeldByAreRefused) {
    for (const std::string formulation : {"global", "hybrid", "semi-recursive"}) {
        const std::string message =
            refusal([&] { Simulation s(read(geared_arm("-123456")), options(formulation, "trapezoidal")); });
        for (const char* part : {"'reducer'", "1.3e+07 rad", "whole turns"})
            EXPECT_NE(message.find(part), std::string::npos) << message;
        Simulation far(read(geared_arm("-12345")), options(formulation, "trapezoidal"));
        // The same place, 1965 turns later: -12345 + 1965 * 2 pi.
        Simulation near(read(geared_arm("1.4591286078866688")), options(formulation, "trapezoidal"));
        ASSERT_TRUE(far.advance(0.3, 2e-4).ok) << formulation;
        ASSERT_TRUE(near.advance(0.3, 2e-4).ok) << formulation;
        EXPECT_NEAR(sense(far, "angle") + 12345, sense(near, "angle") - 1.4591286078866688, 1e-8) << formulation;
    }
}

TEST(SensorNames, OfTimeAndConstantsAreRefused) {
    for (const std::string name : {"t", "pi", "not"}) {
        const std::string message = refusal([&] {
            read("limber: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\nsensors:\n  " + name + ": {position: a}\n");
        });
        for (const std::string& part : {std::string("test.yaml:4"), "'" + name + "'", std::string("another name")})
            EXPECT_NE(message.find(part), std::string::npos) << message;
    }
    read("limber: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\nsensors: {x: {position: a}, v: {velocity: a}}\n");
}

// A geared axis at rest in dry friction, without gravity: the servo pulls at it until it breaks away, and it slides
// from then on. While it stuck, rounding of 1e-40 J beside an energy of nothing was taken for one that runs away.
TEST(StuckAxis, BreaksAwayAndFollowsItsTarget) {
    const double n = 105;
    const double inertia = 0.5 + n * n * 0.0013;
    const double kp = 8 * n * n;
    const double kd = 0.05 * n * n;
    const double speed = 0.5;
    const double most = 0.2 * 0.1 * 20000;
    const double sliding = 0.1 * 0.1 * 20000;
    const double begin = (most - kd * speed) / (kp * speed);
    const auto end = integrate<3>({0, 0, begin}, 0.2 - begin, 20000, [&](const std::array<double, 3>& y) {
        const double torque = kp * (speed * y[2] - y[0]) + kd * (speed - y[1]) - sliding;
        return std::array<double, 3>{y[1], torque / inertia, 1};
    });
    const Model model = read(R"(
limber: 1
gravity: [0, 0, 0]
bodies:
  arm: {mass: 5, inertia: [0.5, 0.5, 0.5]}
  rotor: {mass: 1, inertia: [0.0013, 0.0013, 0.0013], at: [0.5, 0, 0]}
joints:
  axis: {revolute: [ground, arm], at: [0, 0, 0], axis: [0, 0, 1]}
  motor: {revolute: [ground, rotor], at: [0.5, 0, 0], axis: [0, 0, 1]}
  reducer: {gear: [axis.angle, motor.angle], ratio: 105, offset: 0}
forces:
  control: {servo: motor.angle, gain: 8, rate-gain: 0.05, target: 105*0.5*t}
  seal: {friction: axis.angle, coefficient: 0.1, static: 0.2, radius: 0.1, preload: 20000}
sensors: {angle: {coordinate: axis.angle}, rate: {rate: axis.angle}}
)");
    RunOptions choice;
    choice.until = 0.2;
    for (const std::string formulation : {"hybrid", "semi-recursive", "global"})
        for (const double step : {0.002, 0.0005}) {
            choice.step = step;
            Simulation s(model, options(formulation, "trapezoidal"));
            const RunSummary summary = run(s, choice).summary;
            ASSERT_TRUE(summary.ok) << formulation << " " << step << ": " << summary.failure;
            EXPECT_NEAR(sense(s, "angle"), end[0], 0.1 * step) << formulation << " " << step;
            EXPECT_NEAR(sense(s, "rate"), end[1], 10 * step) << formulation << " " << step;
        }
}

}  // namespace
}  // namespace limber::testing
