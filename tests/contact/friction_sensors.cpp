// What sensors say of friction: a block pushed harder and harder, and pulled back.

#include <gtest/gtest.h>

#include <cmath>

#include "support/refusal.hpp"

namespace limber::testing {
namespace {

// Load 2 g, coefficient 0.2, static 0.3: it sticks until 4 t = 0.3 * 2 g, t = 1.4715 s, then slips.
std::string pushed_block(const std::string& law) {
    return R"(
limber: 1
plane: xy
bodies:
  block: {mass: 2, inertia: 0.02}
joints:
  guide: {prismatic: [ground, block], at: [0, 0], axis: [1, 0]}
forces:
  rubbing: {friction: guide.displacement, coefficient: 0.2, static: 0.3)" +
           law + R"(}
  push: {force: block, vector: ['if(t < 2, 4*t, -60)', 0]}
sensors:
  state: {friction: rubbing}
  speed: {rate: guide.displacement}
)";
}

TEST(FrictionSensors, TellStickAndSlipAndWhichWay) {
    constexpr double load = 2 * 9.81;
    for (const auto& [formulation, coordinates] :
         {std::pair{"global", "natural"}, {"augmented-lagrangian", "reference-point"}, {"global", "relative"}}) {
        Simulation s(read(pushed_block("")), options(formulation, "trapezoidal", coordinates));
        ASSERT_TRUE(s.advance(1, 1e-3).ok);
        EXPECT_EQ(sense(s, "state.sticks"), 1) << coordinates;
        EXPECT_EQ(sense(s, "state.slips"), 0);
        EXPECT_NEAR(sense(s, "state.force"), -4, 1e-6) << "holds against the push";
        ASSERT_TRUE(s.advance(1.46, 1e-3).ok);
        EXPECT_EQ(sense(s, "state.sticks"), 1);
        ASSERT_TRUE(s.advance(1.9, 1e-3).ok);
        EXPECT_EQ(sense(s, "state.sticks"), 0);
        EXPECT_EQ(sense(s, "state.slips"), 1);
        EXPECT_NEAR(sense(s, "state.force"), -0.2 * load, 1e-6);
        ASSERT_TRUE(s.advance(3, 1e-3).ok);
        EXPECT_LT(sense(s, "speed"), 0);
        EXPECT_EQ(sense(s, "state.slips"), -1);
        EXPECT_NEAR(sense(s, "state.force"), 0.2 * load, 1e-6);
    }
}

TEST(FrictionSensors, OfCompliantLawsOnlySlip) {
    Simulation s(read(pushed_block(", law: regularised")), options("global", "trapezoidal"));
    ASSERT_TRUE(s.advance(1.9, 1e-3).ok);
    EXPECT_EQ(sense(s, "state.sticks"), 0);
    EXPECT_EQ(sense(s, "state.slips"), 1);
    EXPECT_NEAR(sense(s, "state.force"), -0.2 * 2 * 9.81, 1e-3);
}

// A ball thrown along a floor slides over it the way it goes.
TEST(FrictionSensors, OfAStopHaveADirection) {
    Simulation s(read(R"(
limber: 1
bodies:
  ball: {sphere: {radius: 0.1, mass: 1}, at: [0, 0, 0.1], velocity: [3, 4, 0]}
stops:
  floor: {wall: [ground, ball], radius: 0.1, friction: 0.1}
sensors:
  state: {friction: floor}
)"),
                 options("global", "trapezoidal"));
    ASSERT_TRUE(s.advance(0.1, 1e-3).ok);
    EXPECT_EQ(sense(s, "state.sticks"), 0);
    EXPECT_EQ(sense(s, "state.slips"), 1);
    EXPECT_NEAR(sense(s, "state.x"), 0.6, 1e-6);
    EXPECT_NEAR(sense(s, "state.y"), 0.8, 1e-6);
    EXPECT_NEAR(sense(s, "state.z"), 0, 1e-9);
    EXPECT_NEAR(sense(s, "state.force"), 0.1 * 9.81, 1e-6);
    // From t = (2/7) v / (mu g) = 1.456 s on it rolls: the point that touches sticks.
    ASSERT_TRUE(s.advance(1.6, 1e-3).ok);
    EXPECT_EQ(sense(s, "state.sticks"), 1);
    EXPECT_EQ(sense(s, "state.slips"), 0);
    EXPECT_NEAR(sense(s, "state.force"), 0, 1e-6);
}

// What sticks at the start is not held by a joint.
TEST(FrictionSensors, DoNotKeepAMechanismFromMoving) {
    Simulation s(read(pushed_block("")), options("global", "trapezoidal"));
    EXPECT_EQ(sense(s, "state.sticks"), 1);
    EXPECT_EQ(s.compute_mobility().freedoms, 1);
    for (const Warning& warning : find_warnings(s)) EXPECT_NE(warning.kind, "nothing-moves") << warning.text;
}

TEST(FrictionSensors, NeedFriction) {
    const auto refused = [](const std::string& name) {
        return refusal_of(R"(
limber: 1
bodies: {ball: {sphere: {radius: 0.1, mass: 1}, at: [0, 0, 0.1]}}
stops: {floor: {wall: [ground, ball], radius: 0.1}}
forces: {wind: {drag: ball, linear: 1}}
sensors: {s: {)" + name + "}}\n");
    };
    EXPECT_NE(refused("friction: floor").find("stop 'floor' has no friction"), std::string::npos);
    EXPECT_NE(refused("friction: wind").find("force 'wind' is not of type friction"), std::string::npos);
    EXPECT_NE(refused("friction: wnd").find("there is no force or stop 'wnd'"), std::string::npos);
    EXPECT_NE(refused("tyre: wind").find("force 'wind' is of type drag, not tyre"), std::string::npos);
}

}  // namespace
}  // namespace limber::testing
