// Coefficients of friction that differ between rest and slip, where rigid bodies touch and at walls: closed forms.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"
#include "support/stepping.hpp"
#include "support/stick_slip.hpp"

namespace limber::testing {
namespace {

constexpr double g = 9.81;
constexpr double sticks = 0.6, slips = 0.4;

// A brick on a slope of the given steepness (tangent of its angle), which starts with a speed along x, downhill.
Simulation brick(double steepness, double speed, bool is_rigid) {
    const double angle = std::atan(steepness);
    const std::string touches = is_rigid ? R"(
contacts: {slope: {rigid: [brick, ground], friction: 0.4, static-friction: 0.6}}
)"
                                         : R"(
stops:
  rear: {wall: [ground, brick.rear], friction: 0.4, static-friction: 0.6}
  front: {wall: [ground, brick.front], friction: 0.4, static-friction: 0.6}
)";
    return Simulation(read(fmt::format(R"(
limber: 1
plane: xy
gravity: [{}, {}]
bodies:
  ground: {{shapes: [{{plane: {{}}}}]}}
  brick:
    box: {{size: [0.2, 0.02], mass: 3}}
    at: [0, 0.01]
    velocity: [{}, 0]
    markers: {{rear: [-0.1, -0.01], front: [0.1, -0.01]}}
sensors: {{place: {{position: brick}}, speed: {{velocity: brick}}}}
)",
                                       g * std::sin(angle), -g * std::cos(angle), speed) +
                           touches),
                      options("global", is_rigid ? "moreau-jean" : "trapezoidal"));
}

class StaticFriction : public ::testing::TestWithParam<bool> {};

TEST_P(StaticFriction, HoldsABrickBetweenTheTwoAngles) {
    for (const double steepness : {0.41, 0.59}) {
        Simulation s = brick(steepness, 0, GetParam());
        run(s, 10, 0.005);
        EXPECT_NEAR(sense(s, "place.x"), 0, 1e-9);
    }
}

TEST_P(StaticFriction, DoesNotHoldABrickThatSlides) {
    const double steepness = 0.5;
    const double angle = std::atan(steepness);
    Simulation s = brick(steepness, 0.01, GetParam());
    run(s, 1, 0.005);
    EXPECT_NEAR(sense(s, "speed.x"), 0.01 + g * (std::sin(angle) - slips * std::cos(angle)), 1e-8);
}

TEST_P(StaticFriction, GivesWayAtItsOwnAngle) {
    const double angle = std::atan(1.01 * sticks);
    Simulation s = brick(1.01 * sticks, 0, GetParam());
    run(s, 1, 0.005);
    EXPECT_NEAR(sense(s, "speed.x"), g * (std::sin(angle) - slips * std::cos(angle)), 1e-8);
}

// Thrown uphill it comes to rest after v^2/(2 g (sin + mu cos)) and stays.
TEST_P(StaticFriction, TakesHoldWhereSlipEnds) {
    const double steepness = 0.55;
    const double angle = std::atan(steepness);
    const double h = 0.001;
    Simulation s = brick(steepness, -1, GetParam());
    const double distance = 1 / (2 * g * (std::sin(angle) + slips * std::cos(angle)));
    run(s, 0.2, h);
    const double place = sense(s, "place.x");
    EXPECT_NEAR(place, -distance, GetParam() ? h : 1e-6);  // time-stepping: first order
    run(s, 5, h);
    EXPECT_NEAR(sense(s, "place.x"), place, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, StaticFriction, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Rigid" : "Walls"; });

// A block on a belt, held by a spring.
TEST(StaticFrictionOnABelt, HasThePeriodOfStickSlip) {
    const double period = stick_slip_period(0.1, 100, 1, 0.2 * 10);
    const auto error_with = [&](double step) {
        Simulation s(example("contact/stick-slip-rigid.yaml"), options("global", "moreau-jean"));
        return std::abs(measured_stick_slip_period(s, 4, step) / period - 1);
    };
    const double coarse = error_with(0.002);
    const double fine = error_with(0.0005);
    // A period is the difference of two instants, each of which is off by the steps in which slip begins and ends:
    // first order.
    EXPECT_LT(fine, 4 * 0.0005 / period);
    EXPECT_NEAR(std::log(coarse / fine) / std::log(4), 1, 0.15);
}

}  // namespace
}  // namespace limber::testing
