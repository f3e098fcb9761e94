// Newton's method of the step solvers: that it converges in few iterations, and that it stops where the step's own
// error says.

#include "limber/dynamics/newton_iteration.hpp"

#include <gtest/gtest.h>

#include "support/models.hpp"

namespace limber::testing {
namespace {

// A slender leg swings by some 8 degrees in a step: the symmetric part of the exact tangent is not positive definite
// there.
TEST(NewtonIteration, NeedsNoDividedStepsForSlenderBodies) {
    const Model model = read(R"(
limber: 1
bodies:
  lower: {rod: {from: [0, 0, 0], to: [0.5, 0, 0], mass: 1, radius: 0.005}, angular-velocity: [0, 8, 12]}
  upper: {rod: {from: [0.5, 0, 0], to: [1, 0, 0], mass: 1, radius: 0.005}, angular-velocity: [0, 8, 12]}
joints:
  foot: {spherical: [ground, lower], at: [0, 0, 0]}
  tube: {prismatic: [lower, upper], at: [0.5, 0, 0], axis: [1, 0, 0]}
forces:
  k: {spring: [lower.from, upper.to], stiffness: 2000, free-length: 1}
)");
    for (const char* formulation : {"global", "hybrid", "semi-recursive"}) {
        Simulation simulation(model, options(formulation, "trapezoidal"));
        int iterations = 0;
        int divided = 0;
        for (int i = 0; i < 100; ++i) {
            const StepReport report = simulation.step(0.01);
            ASSERT_TRUE(report.ok) << report.reason;
            iterations += report.iterations;
            divided += report.substeps > 1 ? 1 : 0;
        }
        EXPECT_LT(iterations, 800) << formulation;
        // The first one may have to find out.
        EXPECT_LE(divided, 1) << formulation;
    }
}

TEST(NewtonIteration, AcceptsErrorsThatFallWithTheSquareOfTheStep) {
    const VecX start = VecX::Constant(2, 4.0);
    const auto acceptable = [&](double change) {
        return find_acceptable_error(start, VecX(start.array() - change), 1e-7);
    };
    EXPECT_NEAR(acceptable(4e-3), 1e-7 * 4 * 1e-6, 1e-17);
    EXPECT_NEAR(acceptable(2e-3), acceptable(4e-3) / 4, 1e-17);
    EXPECT_NEAR(acceptable(8), 1e-7 * 4, 1e-12);  // a jump is no measure of the step's error
    EXPECT_EQ(find_acceptable_error(VecX::Zero(2), VecX::Zero(2), 1e-7), 0);
}

TEST(NewtonIteration, PredictsAccelerationsUnlessTheyJump) {
    State state;
    state.scheme_a = VecX::Constant(1, 2.0);
    VecX a;
    predict_acceleration(state, 0.1, a);
    EXPECT_EQ(a[0], 2);  // no past
    state.previous_a = VecX::Constant(1, 1.9);
    state.previous_step = 0.2;
    predict_acceleration(state, 0.1, a);
    EXPECT_NEAR(a[0], 2.05, 1e-15);
    state.previous_a[0] = -5;
    predict_acceleration(state, 0.1, a);
    EXPECT_EQ(a[0], 2);
}

TEST(NewtonIteration, TakesTheTangentThatServesBetter) {
    TangentChoice choice(false, true);
    choice.learn(0.05);
    EXPECT_FALSE(choice.is_approximate());
    choice.learn(0.4);
    EXPECT_TRUE(choice.is_approximate());
    choice.learn(0.2);
    EXPECT_TRUE(choice.is_approximate());  // better than 0.4
    choice.learn(0.6);
    EXPECT_FALSE(choice.is_approximate());
    TangentChoice fixed(true, false);
    fixed.learn(0.9);
    EXPECT_TRUE(fixed.is_approximate());
}

}  // namespace
}  // namespace limber::testing
