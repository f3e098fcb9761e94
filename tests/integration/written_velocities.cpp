// Velocities that the joints do not allow, left as written: how methods treat an error of a constraint, against closed
// forms. With gains Phi'' + 2 eps omega Phi' + omega^2 Phi = 0 (Seguy 2003 eq. 14, Joli 2008 eq. 10); without
// stabilisation Phi'' = 0 and Phi = Phi'(0) t (Joli 2008 eq. 21).

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "limber/io/model_writer.hpp"
#include "limber/model/error.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr double speed = 0.01;

// A pendulum that swings, whose pivot comes apart along the link: what the row measures is the closed form whatever
// the motion is.
constexpr const char* planar_pendulum = R"(
limber: 1
plane: xy
bodies:
  link: {mass: 2, inertia: 0.3, at: [0.6, 0], velocity: [0.01, 0]}
  second: {mass: 1, inertia: 0.2, at: [1.5, 0], velocity: [0.01, 0]}
joints:
  pivot: {revolute: [ground, link], at: [0, 0]}
  elbow: {revolute: [link, second], at: [1.2, 0]}
sensors: {foot: {error: position}}
initial: {velocities: as-written}
)";

// In space, all bodies alike: the pivot opens by speed, every other joint stays closed.
constexpr const char* spatial_pendulum = R"(
limber: 1
bodies:
  link: {mass: 2, inertia: [0.3, 0.2, 0.4], at: [0.6, 0, 0], velocity: [0.01, 0, 0]}
  second: {mass: 1, inertia: [0.2, 0.1, 0.2], at: [1.5, 0, 0], velocity: [0.01, 0, 0]}
joints:
  pivot: {spherical: [ground, link], at: [0, 0, 0]}
  elbow: {spherical: [link, second], at: [1.2, 0, 0]}
sensors: {foot: {error: position}}
initial: {velocities: as-written}
)";

SimulationOptions chosen(const char* formulation, const char* integrator, Stabilisation stabilisation) {
    SimulationOptions o = options(formulation, integrator, "reference-point");
    o.formulation_options.stabilisation = stabilisation;
    return o;
}

double decayed(double omega, double damping, double t) {
    const double damped = omega * std::sqrt(1 - damping * damping);
    return speed / damped * std::exp(-damping * omega * t) * std::sin(damped * t);
}

TEST(WrittenVelocities, FadeOutUnderGainsAsTheOscillatorDoes) {
    constexpr double step = 1e-3;
    for (const char* text : {planar_pendulum, spatial_pendulum})
        for (const char* formulation : {"augmented-lagrangian", "baumgarte", "penalty"}) {
            SimulationOptions o = chosen(formulation, "trapezoidal", Stabilisation::gains);
            o.formulation_options.frequency = 0.01;  // omega 10 per second
            o.formulation_options.damping = 0.1;
            Simulation simulation(read(text), o);
            for (int i = 1; i <= 600; ++i) {
                ASSERT_TRUE(simulation.step(step).ok);
                EXPECT_NEAR(sense(simulation, "foot"), std::abs(decayed(10, 0.1, i * step)), 5e-6)
                    << formulation << " at " << i;
            }
        }
}

TEST(WrittenVelocities, DriftWithoutStabilisation) {
    for (const char* text : {planar_pendulum, spatial_pendulum})
        for (const char* integrator : {"trapezoidal", "rk4"}) {
            Simulation simulation(read(text), chosen("augmented-lagrangian", integrator, Stabilisation::none));
            for (int i = 1; i <= 500; ++i) {
                ASSERT_TRUE(simulation.step(1e-3).ok);
                EXPECT_NEAR(sense(simulation, "foot"), speed * i * 1e-3, 1e-5) << integrator << " at " << i;
            }
        }
}

// Divided body by body, with springs in place of the joint: omega is that of (16) only if m is what the row meets. Two
// masses of 3 kg resist with 1.5 kg; (15) makes 6 kg of them, so four times the stiffness and the damping.
TEST(WrittenVelocities, SwingAsMassAndSpringBetweenComponents) {
    for (const auto& [inertia, omega, damping] :
         {std::tuple{RowInertia::response, 10.0, 0.1}, std::tuple{RowInertia::product, 20.0, 0.2}}) {
        SimulationOptions o = options("augmented-lagrangian", "trapezoidal");
        o.modular.division = "body";
        o.modular.gluing = Gluing::penalty;
        o.formulation_options.frequency = 0.01;
        o.formulation_options.damping = 0.1;
        o.formulation_options.row_inertia = inertia;
        Simulation simulation(read(R"(
limber: 1
plane: xy
gravity: none
bodies:
  m: {mass: 3, inertia: 1, at: [0, 0], velocity: [0, 0.01]}
  n: {mass: 3, inertia: 1, at: [0, 0]}
joints: {rail: {prismatic: [n, m], axis: [1, 0]}}
sensors: {m: {position: m}, n: {position: n}}
initial: {velocities: as-written}
)"),
                              o);
        for (int i = 1; i <= 600; ++i) {
            ASSERT_TRUE(simulation.step(1e-3).ok);
            EXPECT_NEAR(sense(simulation, "m.y") - sense(simulation, "n.y"), decayed(omega, damping, i * 1e-3), 5e-6)
                << i;
        }
    }
}

TEST(WrittenVelocities, AreRefusedWhereTheyWouldNotLast) {
    const auto refusal = [](const SimulationOptions& o) -> std::string {
        try {
            Simulation simulation(read(planar_pendulum), o);
        } catch (const ModelError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(refusal(options("global", "trapezoidal", "reference-point")).find("stabilisation=gains"),
              std::string::npos);
    EXPECT_NE(refusal(chosen("augmented-lagrangian", "rk4", Stabilisation::projection)), "");
    EXPECT_NE(refusal(chosen("null-space", "trapezoidal", Stabilisation::automatic)), "");
    // Gains alone, without the projection that usually helps them out.
    EXPECT_EQ(refusal(chosen("augmented-lagrangian", "trapezoidal", Stabilisation::automatic)), "");
    // Joints that share a point, or are the coordinates, cannot come apart.
    SimulationOptions natural = chosen("augmented-lagrangian", "trapezoidal", Stabilisation::gains);
    natural.coordinates = "natural";
    EXPECT_NE(refusal(natural).find("reference-point"), std::string::npos);
    SimulationOptions divided = options("global", "trapezoidal");
    divided.modular.division = "body";
    EXPECT_NE(refusal(divided).find("--coupling acceleration"), std::string::npos);
    EXPECT_EQ(refusal(chosen("augmented-lagrangian", "trapezoidal", Stabilisation::none)), "");
}

TEST(WrittenVelocities, SurviveTheFileAndAreTold) {
    const Model model = read(planar_pendulum);
    const std::string text = write_model_text(model);
    EXPECT_NE(text.find("velocities: as-written"), std::string::npos) << text;
    EXPECT_EQ(read(text).initial_velocities, StartVelocities::as_written);
    EXPECT_THROW(read("limber: 1\nbodies: {a: {}}\ninitial: {velocities: perhaps}"), ModelError);
    Simulation simulation(model, chosen("augmented-lagrangian", "trapezoidal", Stabilisation::none));
    EXPECT_TRUE(simulation.start_changes().are_velocities_kept);
    EXPECT_EQ(simulation.start_changes().changed, (std::vector<std::string>{"link", "second"}));
}

// An edit is an impulse of the joints, as always: what was written is gone then.
TEST(WrittenVelocities, EndWithTheFirstEdit) {
    Simulation simulation(read(planar_pendulum), chosen("augmented-lagrangian", "trapezoidal", Stabilisation::none));
    ASSERT_TRUE(simulation.step(1e-3).ok);
    EXPECT_NEAR(simulation.observer().compute_errors(simulation.state()).velocity, speed, 1e-6);
    Model heavier = simulation.model();
    heavier.parameters.set("unused", Number(1));
    simulation.transfer(heavier, simulation.options());
    EXPECT_LT(simulation.observer().compute_errors(simulation.state()).velocity, 1e-12);
}

}  // namespace
}  // namespace limber::testing
