// The reference integrator on stiff problems with closed-form solutions, where its explicit half must give way.

#include "limber/integration/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

// A mass on a rail with spring k and a heavy damper c: x'' = -k x - c x', roots far apart.
TEST(Reference, FollowsAStiffDamper) {
    const double k = 100;
    const double c = 1e6;
    Simulation simulation(read("limber: 1\nplane: xy\n"
                               "bodies:\n  car: {point: {mass: 1}, at: [1, 0]}\n"
                               "joints:\n  rail: {prismatic: [ground, car], axis: [1, 0], at: [0, 0]}\n"
                               "forces:\n  k: {torsion-spring: rail.displacement, stiffness: 100, damping: 1e6}\n"
                               "sensors:\n  x: {coordinate: rail.displacement}\n"
                               "initial: {positions: {rail.displacement: 1}}\n"),
                          options("augmented-lagrangian", "reference"));
    ReferenceStepper stepper(make_acceleration_solver("augmented-lagrangian", simulation.shared_system()), 1e-10);
    State state = simulation.state();
    ASSERT_TRUE(stepper.start(state).ok);
    EXPECT_FALSE(stepper.is_stiff());
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(stepper.step(state, 1).ok);
    EXPECT_TRUE(stepper.is_stiff());
    const double root = std::sqrt(c * c / 4 - k);
    const double fast = -c / 2 - root;
    const double slow = k / fast;  // product of the roots
    const double exact = (-fast * std::exp(slow * 10) + slow * std::exp(fast * 10)) / (slow - fast);
    const double x = state.q[0] - simulation.state().q[0] + 1;
    EXPECT_NEAR(x, exact, 1e-8);
    EXPECT_GT(1 - exact, 9e-4);  // it did move
}

// A pendulum in honey creeps down: c theta' = -m g l cos(theta), so sin(theta) = -tanh(m g l t / c).
TEST(Reference, KeepsConstraintsOnStiffProblems) {
    for (const std::string formulation : {"augmented-lagrangian", "baumgarte", "null-space"})
        for (const std::string coordinates : {"natural", "reference-point", "relative"}) {
            Simulation simulation(read("limber: 1\nplane: xy\ngravity: [0, -10]\n"
                                       "bodies:\n  arm: {rod: {from: [0, 0], to: [1, 0], end-masses: [0, 1]}}\n"
                                       "joints:\n  pivot: {revolute: [ground, arm.from]}\n"
                                       "forces:\n  honey: {torsion-spring: pivot.angle, damping: 1e5}\n"
                                       "sensors:\n  angle: {coordinate: pivot.angle}\n  tip: {position: arm.to}\n"),
                                  options(formulation, "reference", coordinates));
            ASSERT_TRUE(simulation.advance(1e4, 2000).ok);
            EXPECT_NEAR(std::sin(sense(simulation, "angle")), -std::tanh(1), 1e-7) << formulation << coordinates;
            EXPECT_NEAR(std::hypot(sense(simulation, "tip.x"), sense(simulation, "tip.y")), 1, 1e-12);
        }
}

}  // namespace
}  // namespace limber::testing
