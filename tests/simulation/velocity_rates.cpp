// Rates in velocity joints and in motor laws, against motions known in closed form.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support/models.hpp"

namespace limber::testing {
namespace {

// What the error says; empty: there is none.
std::string why_rates_are_refused(const std::function<void()>& act) {
    try {
        act();
    } catch (const ModelError& error) {
        return error.what();
    }
    return "";
}

class VelocityRates : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

// The rope has run r phi + c phi^2 / 2 off the drum, and the cage has given what both move with.
TEST_P(VelocityRates, LetAConicalDrumFollowItsEnergy) {
    const auto& [formulation, coordinates] = GetParam();
    Simulation s(example("joints/conical-drum.yaml"), options(formulation, "rk4", coordinates));
    const double tolerance = formulation == "penalty" ? 1e-4 : 1e-7;
    for (int i = 1; i <= 6; ++i) {
        ASSERT_TRUE(s.advance(0.5 * i, 1e-3).ok);
        const double turned = sense(s, "turned");
        const double radius = 0.3 + 0.05 * turned;
        const double sunk = 0.3 * turned + 0.025 * turned * turned;
        const double spin = std::sqrt(2 * 100 * 9.81 * sunk / (8 + 100 * radius * radius));
        EXPECT_NEAR(sense(s, "sunk"), sunk, tolerance * (1 + sunk)) << i;
        EXPECT_NEAR(sense(s, "spin"), spin, tolerance * (1 + spin)) << i;
    }
    EXPECT_GT(sense(s, "turned"), 5);
}

// A slide in space whose speed is that of two turning bodies and of time: s = a + b / 2 + t^2 / 2, whatever moves them.
TEST_P(VelocityRates, AddUpInSpace) {
    const auto& [formulation, coordinates] = GetParam();
    Simulation s(read(R"yaml(
limber: 1
gravity: none
bodies:
  first: {mass: 1, inertia: [1, 2, 3]}
  second: {mass: 1, inertia: [1, 2, 3], at: [0, 1, 0]}
  slide: {mass: 2, inertia: [1, 1, 1], at: [1, 0, 0]}
joints:
  a: {revolute: [ground, first], at: [0, 0, 0], axis: [0, 0, 1]}
  b: {revolute: [ground, second], at: [0, 1, 0], axis: [1, 0, 0]}
  guide: {prismatic: [ground, slide], at: [1, 0, 0], axis: [1, 0, 0]}
  pump: {velocity: {guide.displacement: 2}, equals: 2*a.angle.rate + b_rate + 2*t}
forces:
  turn: {motor: a.angle, law: 3*cos(t)}
  # as a viscous clutch between the two
  clutch: {motor: b.angle, law: 0.8*(a.angle.rate - b_rate)}
sensors:
  a: {coordinate: a.angle}
  b: {coordinate: b.angle}
  b_rate: {rate: b.angle}
  slid: {coordinate: guide.displacement}
)yaml"),
                 options(formulation, "rk4", coordinates));
    ASSERT_TRUE(s.advance(2, 1e-3).ok);
    const double tolerance = formulation == "penalty" ? 1e-3 : 1e-7;
    EXPECT_NEAR(sense(s, "slid"), sense(s, "a") + sense(s, "b") / 2 + 2, tolerance);
    EXPECT_GT(std::abs(sense(s, "b")), 0.01);
    EXPECT_GT(std::abs(sense(s, "a")), 0.1);
}

INSTANTIATE_TEST_SUITE_P(All, VelocityRates, ::testing::ValuesIn(examples::formulations_in_coordinates()),
                         [](const auto& i) { return test_name(std::get<0>(i.param) + " " + std::get<1>(i.param)); });

// A clutch alone: J b'' = k (w - b') with w = 4 driven, so b' = w (1 - exp(-k t / J)).
TEST(MotorLaws, MayUseTheRateOfAnotherJoint) {
    for (const std::string rate : {"a.angle.rate", "turning"}) {
        Simulation s(read(R"yaml(
limber: 1
plane: xy
gravity: none
bodies:
  first: {mass: 1, inertia: [1]}
  second: {mass: 1, inertia: [0.5], at: [1, 0]}
joints:
  a: {revolute: [ground, first], at: [0, 0]}
  b: {revolute: [ground, second], at: [1, 0]}
drivers: {drive: {coordinate: a.angle, follows: 4*t}}
forces: {clutch: {motor: b.angle, law: 0.8*()yaml" +
                          rate +
                          R"yaml( - v)}}
sensors:
  turning: {rate: a.angle}
  led: {rate: b.angle}
)yaml"),
                     options("augmented-lagrangian", "rk4"));
        ASSERT_TRUE(s.advance(1, 1e-3).ok);
        EXPECT_NEAR(sense(s, "led"), 4 * (1 - std::exp(-1.6)), 1e-9) << rate;
    }
}

TEST(VelocityJoints, RefuseWhatIsNotLinearInRates) {
    const auto message = [](const std::string& joint) {
        return why_rates_are_refused([&] {
            read(R"(
limber: 1
plane: xy
bodies:
  first: {mass: 1, inertia: [1]}
  second: {mass: 1, inertia: [1], at: [1, 0]}
joints:
  a: {revolute: [ground, first], at: [0, 0]}
  b: {revolute: [ground, second], at: [1, 0]}
  c: )" + joint + "\n");
        });
    };
    for (const char* bad : {"a.angle.rate^2", "a.angle.rate*a.angle.rate", "sin(a.angle.rate)", "1/a.angle.rate",
                            "abs(a.angle.rate)", "if(a.angle.rate > 0, 1, 2)"})
        EXPECT_NE(message("{velocity: {b.angle: 1}, equals: \"" + std::string(bad) + "\"}").find("to the first power"),
                  std::string::npos)
            << bad;
    EXPECT_NE(message("{velocity: {b.angle: a.angle.rate}}").find("a coefficient cannot use the rate 'a.angle.rate'"),
              std::string::npos);
    for (const char* good :
         {"sin(a.angle)^2*a.angle.rate/(2 + cos(t))", "if(a.angle > 1, 2*a.angle.rate, t)", "-(a.angle.rate + 3)"})
        EXPECT_EQ(message("{velocity: {b.angle: 1}, equals: \"" + std::string(good) + "\"}"), "") << good;
}

}  // namespace
}  // namespace limber::testing
