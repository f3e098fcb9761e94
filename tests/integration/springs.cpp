// Constraints replaced by springs and dampers alone (Seguy 2003 eqs. 6, 16-18, 21), undivided.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/model/error.hpp"
#include "support/measures.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

SimulationOptions with_springs() {
    SimulationOptions o = options("penalty", "trapezoidal");
    o.formulation_options.penalty_form = PenaltyForm::springs;
    return o;
}

// A weight on a rail sinks to where the spring of (6) bears it: m g / (m omega^2), and swings about there.
TEST(SpringPenalty, BearsAWeightAsASpringDoes) {
    constexpr double step = 1e-3, omega = 10;
    for (const char* text : {R"(
limber: 1
plane: xy
gravity: [0, -0.0981]
bodies: {m: {mass: 3, inertia: 1}}
joints: {rail: {prismatic: [ground, m], axis: [1, 0]}}
sensors: {m: {position: m}}
)",
                             R"(
limber: 1
gravity: [0, -0.0981, 0]
bodies: {m: {mass: 3, inertia: [1, 2, 2]}}
joints: {rail: {cylindrical: [ground, m], axis: [1, 0, 0]}}
sensors: {m: {position: m}}
)"}) {
        SimulationOptions o = with_springs();
        o.formulation_options.frequency = omega * step;
        o.formulation_options.damping = 0.1;
        Simulation simulation(read(text), o);
        const double damped = omega * std::sqrt(1 - 0.01);
        for (int i = 1; i <= 500; ++i) {
            ASSERT_TRUE(simulation.step(step).ok);
            const double t = i * step;
            const double swing = std::cos(damped * t) + 0.1 * omega / damped * std::sin(damped * t);
            EXPECT_NEAR(sense(simulation, "m.y"), -0.0981 / (omega * omega) * (1 - std::exp(-0.1 * omega * t) * swing),
                        2e-7)
                << i;
        }
    }
}

// The stiffer the step lets the springs be, the nearer to the rigid mechanism.
TEST(SpringPenalty, ComesNearerToThePendulumWithTheStep) {
    const auto error = [](double step) {
        Simulation simulation(example("double-pendulum.yaml"), with_springs());
        examples::advance_or_throw(simulation, 1, step);
        const auto& at = examples::pendulum_tip[1];
        return std::hypot(sense(simulation, "tip.x") - at.x, sense(simulation, "tip.y") - at.y);
    };
    const double coarse = error(2e-3), fine = error(5e-4);
    EXPECT_LT(coarse, 0.05);
    EXPECT_LT(fine, coarse / 8) << "springs softer by 16";
}

TEST(SpringPenalty, NeedsInertiaEverywhere) {
    SimulationOptions o = with_springs();
    o.coordinates = "reference-point";  // Euler parameters
    try {
        Simulation simulation(example("joints/spherical.yaml"), o);
        ADD_FAILURE() << "started";
    } catch (const ModelError& error) {
        EXPECT_NE(std::string(error.what()).find("inertia"), std::string::npos) << error.what();
    }
}

// Gains of single joints: each row fades out with its own frequency.
TEST(GainsByJoint, BelongToTheirJoint) {
    SimulationOptions o = options("augmented-lagrangian", "trapezoidal", "reference-point");
    o.formulation_options.stabilisation = Stabilisation::gains;
    o.formulation_options.frequency = 0.01;
    o.formulation_options.damping = 0.1;
    o.formulation_options.joint_frequency = {{"second", 0.02}};
    o.formulation_options.joint_damping = {{"second", 0.3}};
    Simulation simulation(read(R"(
limber: 1
plane: xy
gravity: none
bodies:
  a: {mass: 3, inertia: 1, velocity: [0, 0.01]}
  b: {mass: 2, inertia: 1, velocity: [0, 0.01]}
joints:
  first: {prismatic: [ground, a], axis: [1, 0]}
  second: {prismatic: [ground, b], axis: [1, 0]}
sensors: {a: {position: a}, b: {position: b}}
initial: {velocities: as-written}
)"),
                          o);
    const auto decayed = [](double omega, double damping, double t) {
        const double damped = omega * std::sqrt(1 - damping * damping);
        return 0.01 / damped * std::exp(-damping * omega * t) * std::sin(damped * t);
    };
    for (int i = 1; i <= 300; ++i) {
        ASSERT_TRUE(simulation.step(1e-3).ok);
        EXPECT_NEAR(sense(simulation, "a.y"), decayed(10, 0.1, i * 1e-3), 5e-6) << i;
        EXPECT_NEAR(sense(simulation, "b.y"), decayed(20, 0.3, i * 1e-3), 5e-6) << i;
    }
}

TEST(GainsByJoint, AreRefusedWhereTheJointHasNoEquations) {
    SimulationOptions o = options("augmented-lagrangian", "trapezoidal");
    o.formulation_options.joint_frequency = {{"elbow", 0.3}};
    EXPECT_THROW(Simulation(example("double-pendulum.yaml"), o), ModelError);  // both links share the elbow
    o.modular.division = "body";
    o.modular.gluing = Gluing::penalty;
    EXPECT_NO_THROW(Simulation(example("double-pendulum.yaml"), o));
    // The example says the same in its file.
    const SimulationOptions of_file = simulation_options_of(example("modular/own-gains.yaml"));
    EXPECT_EQ(of_file.formulation_options.joint_frequency, (NumbersByJoint{{"elbow", 0.4}}));
    EXPECT_EQ(of_file.formulation_options.joint_damping, (NumbersByJoint{{"elbow", 0.3}}));
}

// A softer spring in place of one joint opens that joint: as far as its stiffness is less.
TEST(GainsByJoint, SoftenTheSpringOfOneJoint) {
    const auto openings = [](double frequency) {
        SimulationOptions o = options("augmented-lagrangian", "trapezoidal");
        o.modular.division = "body";
        o.modular.gluing = Gluing::penalty;
        o.formulation_options.damping = 1;
        o.formulation_options.joint_frequency = {{"elbow", frequency}};
        // Two weights that hang below each other, at rest.
        Simulation simulation(read(R"(
limber: 1
plane: xy
bodies:
  upper: {mass: 1, inertia: 1, at: [0, -1]}
  lower: {mass: 1, inertia: 1, at: [0, -2]}
joints:
  pivot: {revolute: [ground, upper], at: [0, 0]}
  elbow: {revolute: [upper, lower], at: [0, -1.5]}
sensors: {upper: {position: upper}, lower: {position: lower}}
)"),
                              o);
        examples::advance_or_throw(simulation, 1, 1e-3);
        const double upper = sense(simulation, "upper.y"), lower = sense(simulation, "lower.y");
        return std::pair{-1 - upper, upper - lower - 1};
    };
    const auto [pivot, elbow] = openings(0.6);
    const auto [same_pivot, soft_elbow] = openings(0.3);
    EXPECT_NEAR(soft_elbow / elbow, 4, 1e-3);
    EXPECT_NEAR(same_pivot / pivot, 1, 1e-3);
}

}  // namespace
}  // namespace limber::testing
