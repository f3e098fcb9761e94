// Forces and drivers against closed-form motions, in every formulation.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr double g = 9.81;

class Forces : public ::testing::TestWithParam<std::string> {
protected:
    Simulation start(const Model& model) const { return Simulation(model, options(GetParam(), "rk4")); }
    // The reach of a finite penalty.
    double tolerance() const { return GetParam() == "penalty" ? 1e-5 : 1e-8; }
};

TEST_P(Forces, GravityMakesParabolas) {
    Simulation s = start(read(R"(
limber: 1
bodies: {ball: {sphere: {radius: 0.1, mass: 2}, velocity: [3, -1, 5], angular-velocity: [1, 2, 3]}}
sensors: {p: {position: ball}, w: {angular-velocity: ball}}
)"));
    ASSERT_TRUE(s.advance(1.5, 2e-3).ok);
    EXPECT_NEAR(sense(s, "p.x"), 4.5, 1e-9);
    EXPECT_NEAR(sense(s, "p.y"), -1.5, 1e-9);
    EXPECT_NEAR(sense(s, "p.z"), 7.5 - g / 2 * 2.25, 1e-9);
    EXPECT_NEAR(sense(s, "w.y"), 2, tolerance());
}

TEST_P(Forces, SpringAndDamperMakeADampedOscillation) {
    Simulation s = start(example("forces/spring.yaml"));
    const double k = 100;
    const double c = 2;
    const double decay = c / 2;
    const double omega = std::sqrt(k - decay * decay);
    const double rest = -g / k;  // equilibrium below the start
    ASSERT_TRUE(s.advance(2.3, 1e-3).ok);
    const double t = 2.3;
    const double y = rest - rest * std::exp(-decay * t) * (std::cos(omega * t) + decay / omega * std::sin(omega * t));
    EXPECT_NEAR(sense(s, "mass.y"), y, 1e-9);
    const double speed = rest * std::exp(-decay * t) * (omega + decay * decay / omega) * std::sin(omega * t);
    EXPECT_NEAR(sense(s, "pull"), -k * y - c * speed, 1e-6);  // tension grows with the length
}

TEST_P(Forces, TorsionSpringTurnsADiscToAndFro) {
    Simulation s = start(example("forces/torsion-spring.yaml"));
    const double inertia = 0.5 * 2 * 0.04;
    const double decay = 0.01 / (2 * inertia);
    const double omega = std::sqrt(0.5 / inertia - decay * decay);
    ASSERT_TRUE(s.advance(7, 2e-3).ok);
    const double expected = pi / 2 * std::exp(-decay * 7) * (std::cos(omega * 7) + decay / omega * std::sin(omega * 7));
    EXPECT_NEAR(sense(s, "angle"), expected, 1e-6);
}

TEST_P(Forces, QuadraticDragApproachesTheTerminalSpeed) {
    Simulation s = start(read(R"(
limber: 1
bodies: {ball: {point: {mass: 2}}}
forces: {air: {drag: ball, quadratic: 0.5}}
sensors: {v: {velocity: ball}}
)"));
    const double terminal = std::sqrt(2 * g / 0.5);
    ASSERT_TRUE(s.advance(0.8, 1e-3).ok);
    EXPECT_NEAR(sense(s, "v.z"), -terminal * std::tanh(g * 0.8 / terminal), 1e-9);
}

TEST_P(Forces, FollowerForceTurnsWithItsBody) {
    // Thrust F along the body's y, body turning at w: v = F/(m w) (cos(w t) - 1, sin(w t)).
    Simulation s = start(read(R"(
limber: 1
plane: xy
gravity: none
bodies: {rocket: {box: {size: [0.2, 1], mass: 4}, angular-velocity: 0.5}}
forces: {thrust: {force: rocket.com, vector: [0, 6], frame: body}}
sensors: {v: {velocity: rocket}}
)"));
    ASSERT_TRUE(s.advance(2, 1e-3).ok);
    EXPECT_NEAR(sense(s, "v.x"), 3 * (std::cos(1.0) - 1), tolerance());
    EXPECT_NEAR(sense(s, "v.y"), 3 * std::sin(1.0), tolerance());
}

TEST_P(Forces, TorqueInBodyAxesFollowsEuler) {
    // Torque about the symmetry axis of a spinning symmetric body: the spin grows evenly and the transverse rates only
    // turn.
    Simulation s = start(read(R"(
limber: 1
gravity: none
bodies: {top: {mass: 1, inertia: [2, 2, 3], angular-velocity: [0.1, 0, 1]}}
forces: {jet: {torque: top, vector: [0, 0, 0.6], frame: body}}
sensors: {w: {angular-velocity: top}, body: {angular-velocity: top, axes: top}}
)"));
    ASSERT_TRUE(s.advance(2, 1e-3).ok);
    // In the body's axes the transverse rate turns by half the spin angle, 0.5 (t + 0.1 t^2) = 1.2.
    EXPECT_NEAR(sense(s, "body.x"), 0.1 * std::cos(1.2), tolerance());
    EXPECT_NEAR(sense(s, "body.y"), 0.1 * std::sin(1.2), tolerance());
    EXPECT_NEAR(sense(s, "body.z"), 1.4, tolerance());
    // w3 = 1 + 0.2 t; the transverse rate keeps its size, so |w|^2 = w3^2 + 0.01.
    const double square = std::pow(sense(s, "w.x"), 2) + std::pow(sense(s, "w.y"), 2) + std::pow(sense(s, "w.z"), 2);
    EXPECT_NEAR(square, 1.4 * 1.4 + 0.01, 1e-6);
}

TEST_P(Forces, MotorWithATorqueSpeedLineApproachesItsFreeSpeed) {
    Simulation s = start(read(R"(
limber: 1
plane: xy
gravity: none
bodies: {fan: {disc: {radius: 0.3, mass: 3}}}
joints: {shaft: {revolute: [ground, fan]}}
forces: {motor: {motor: shaft.angle, law: 20*(1 - v/150)}}
sensors: {speed: {rate: shaft.angle}, torque: {force: motor}}
)"));
    const double inertia = 0.5 * 3 * 0.09;
    ASSERT_TRUE(s.advance(1.2, 2e-4).ok);  // up to 15 turns a second
    EXPECT_NEAR(sense(s, "speed"), 150 * (1 - std::exp(-20 / (150 * inertia) * 1.2)), 100 * tolerance());
}

TEST_P(Forces, ServoClosesOnItsTargetLikeAnOscillator) {
    // Critically damped: J w'' = kp (1 - x) - kd x' with kd = 2 sqrt(kp J).
    Simulation s = start(read(R"(
limber: 1
plane: xy
gravity: none
bodies: {arm: {mass: 1, inertia: 0.5}}
joints: {hub: {revolute: [ground, arm]}}
forces: {servo: {servo: hub.angle, target: 1, gain: 50, rate-gain: 10}}
sensors: {x: {coordinate: hub.angle}}
)"));
    ASSERT_TRUE(s.advance(0.3, 1e-3).ok);
    EXPECT_NEAR(sense(s, "x"), 1 - std::exp(-3.0) * (1 + 3.0), 10 * tolerance());
}

TEST_P(Forces, SaturatedServoPushesWithItsLimit) {
    Simulation s = start(read(R"(
limber: 1
plane: xy
gravity: none
bodies: {arm: {mass: 1, inertia: 0.5}}
joints: {hub: {revolute: [ground, arm]}}
forces: {servo: {servo: hub.angle, target: 100, gain: 50, limit: 2}}
sensors: {x: {coordinate: hub.angle}, torque: {force: servo}}
)"));
    ASSERT_TRUE(s.advance(1.5, 1e-3).ok);
    EXPECT_NEAR(sense(s, "x"), 0.5 * 4 * 2.25, 10 * tolerance());
    EXPECT_DOUBLE_EQ(sense(s, "torque"), 2);
}

TEST_P(Forces, BushingHoldsABodyLikeSixSprings) {
    // Small motion along x: frequency sqrt(k/m); small turning about z: sqrt(kr/J).
    Simulation s = start(read(R"(
limber: 1
gravity: none
bodies: {block: {mass: 2, inertia: [0.1, 0.2, 0.3], velocity: [1e-3, 0, 0], angular-velocity: [0, 0, 1e-3]}}
forces: {rubber: {bushing: [ground, block], stiffness: [800, 300, 300, 5, 5, 12]}}
sensors: {p: {position: block}, w: {angular-velocity: block}}
)"));
    ASSERT_TRUE(s.advance(0.7, 1e-3).ok);
    EXPECT_NEAR(sense(s, "p.x"), 1e-3 / 20 * std::sin(20 * 0.7), 1e-10);
    const double omega = std::sqrt(12 / 0.3);
    EXPECT_NEAR(sense(s, "w.z"), 1e-3 * std::cos(omega * 0.7), 1e-8);
}

TEST_P(Forces, SpringLawsOfAllKindsKeepEnergy) {
    Simulation s = start(example("forces/spring-laws.yaml"));
    RunOptions o;
    o.until = 4;
    o.step = 1e-3;
    const RunSummary summary = run(s, o).summary;
    ASSERT_TRUE(summary.ok);
    EXPECT_LT(summary.energy_drift, 1e-8);
    // The polynomial and the expression say the same.
    EXPECT_NEAR(sense(s, "polynomial.x"), sense(s, "expressed.x"), 1e-10);
}

TEST_P(Forces, DriversFollowTheirLaw) {
    Simulation s = start(example("drivers/table.yaml"));
    // The spline passes through the rows of the table.
    for (const auto& [t, y] : {std::pair{1.0, 0.2}, {2.0, 1.5}, {3.0, 2.8}, {4.0, 3.0}}) {
        ASSERT_TRUE(s.advance(t, 1e-3).ok);
        EXPECT_NEAR(sense(s, "lift.y"), y, 1e-10) << t;
    }
    Simulation shaken = start(example("drivers/marker-component.yaml"));
    ASSERT_TRUE(shaken.advance(1.3, 1e-3).ok);
    EXPECT_NEAR(sense(shaken, "table.y"), 0.05 * std::sin(12 * 1.3), 1e-10);
}

INSTANTIATE_TEST_SUITE_P(All, Forces, ::testing::ValuesIn(formulation_names()),
                         [](const auto& info) { return test_name(info.param); });

// Energy balance with everything that takes and gives energy: dampers, motors, drivers, drag, changing gravity.
TEST(EnergyBalance, AccountsForWork) {
    for (const char* name :
         {"forces/spring.yaml", "forces/motor.yaml", "forces/servo.yaml", "forces/bushing.yaml", "forces/drag.yaml",
          "forces/torque.yaml", "drivers/joint-coordinate.yaml", "drivers/table.yaml", "drivers/marker-component.yaml",
          "drivers/rotating-rod.yaml", "joints/coupling.yaml"}) {
        Simulation s(example(name), options("augmented-lagrangian", "rk4"));
        RunOptions o;
        o.until = 1.5;
        o.step = 5e-4;
        const RunSummary summary = run(s, o).summary;
        ASSERT_TRUE(summary.ok) << name;
        EXPECT_GT(summary.exchanged_energy, 1e-3) << name;
        // The servo's limit puts kinks into the power, which the quadrature sees.
        const double tolerance = std::string(name) == "forces/servo.yaml" ? 1e-4 : 1e-6;
        EXPECT_LT(summary.energy_drift, tolerance * (1 + summary.exchanged_energy)) << name;
    }
}

TEST(EnergyBalance, AccountsForGravityThatChanges) {
    Simulation s(read(R"(
limber: 1
gravity: [0, 0, -9.81*(1 + 0.5*sin(3*t))]
bodies: {ball: {point: {mass: 1}, velocity: [1, 0, 4]}}
)"),
                 options("augmented-lagrangian", "rk4"));
    RunOptions o;
    o.until = 2;
    o.step = 1e-3;
    EXPECT_LT(run(s, o).summary.energy_drift, 1e-6);
}

// A slider of 1 kg on a free cart of 3 kg, driven at 4 m/s for half a second: its speed jumps at the start and at the
// end. The centre of mass stays where it is, so the cart goes back by a quarter of the way and stands. In every
// formulation with every integrator.
TEST(Drivers, WhoseSpeedJumpsPassTheImpulseOn) {
    const Model model = read(R"(
limber: 1
plane: xy
gravity: none
bodies:
  cart: {box: {size: [1, 0.2], mass: 3}}
  slider: {box: {size: [0.2, 0.2], mass: 1}, at: [0, 0.3]}
joints:
  rail: {prismatic: [ground, cart], axis: [1, 0]}
  slide: {prismatic: [cart, slider], axis: [1, 0]}
drivers:
  go:
    coordinate: slide.displacement
    follows: 4*min(t, 0.5)
sensors:
  cart: {position: cart}
  v: {velocity: cart}
)");
    for (const auto& [formulation, coordinates] : formulations_in_coordinates())
        for (const IntegratorInfo& integrator : integrators())
            // The jump on the end of a step, and within one.
            for (const double step : {1e-3, 0.7e-3}) {
                SCOPED_TRACE(formulation + ", " + integrator.name + ", " + coordinates + ", " + std::to_string(step));
                Simulation s(model, options(formulation, integrator.name, coordinates));
                ASSERT_TRUE(s.advance(0.4, step).ok);
                EXPECT_NEAR(sense(s, "v.x"), -1, 1e-6);
                EXPECT_NEAR(sense(s, "cart.x"), -0.4, 1e-6);
                ASSERT_TRUE(s.advance(0.8, step).ok);  // gains take a while
                EXPECT_NEAR(sense(s, "v.x"), 0, 1e-6);
                EXPECT_NEAR(sense(s, "cart.x"), -0.5, 1e-6);
            }
}

}  // namespace
}  // namespace limber::testing
