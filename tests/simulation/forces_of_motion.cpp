// Forces, torques and gravity that depend on the motion, against closed forms.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/model/error.hpp"
#include "limber/simulation/run.hpp"
#include "support/refusal.hpp"

namespace limber::testing {
namespace {

class ForcesOfMotion : public ::testing::TestWithParam<std::string> {
protected:
    Simulation start(const std::string& yaml, const std::string& integrator = "rk4") const {
        return Simulation(read(yaml), options(GetParam(), integrator));
    }
    double tolerance() const { return GetParam() == "penalty" ? 1e-5 : 1e-7; }
};

// F = q v x B with B along z: the charge goes round with w = q B / m = 3, radius v / w, and drifts along z.
TEST_P(ForcesOfMotion, AMagneticFieldTurnsACharge) {
    Simulation s = start(R"(
limber: 1
gravity: none
parameters: {qB: 6}
bodies: {charge: {sphere: {radius: 0.1, mass: 2}, velocity: [1.5, 0, 0.4]}}
forces: {lorentz: {force: charge, vector: [qB*vy, -qB*vx, 0]}}
sensors: {p: {position: charge}, f: {force: lorentz, body: charge}}
)");
    ASSERT_TRUE(s.advance(2, 1e-3).ok);
    EXPECT_NEAR(sense(s, "p.x"), 0.5 * std::sin(6.0), 1e-7);
    EXPECT_NEAR(sense(s, "p.y"), 0.5 * (std::cos(6.0) - 1), 1e-7);
    EXPECT_NEAR(sense(s, "p.z"), 0.8, 1e-7);
    EXPECT_NEAR(sense(s, "f.fx"), -6 * 1.5 * std::sin(6.0), 1e-5);
}

// A torque of a joint coordinate and its rate is a torsion spring with a damper.
TEST_P(ForcesOfMotion, ATorqueOfAnAngleIsASpring) {
    Simulation s = start(R"(
limber: 1
plane: xy
gravity: none
bodies: {wheel: {mass: 1, inertia: 0.5}}
joints: {axle: {revolute: [ground, wheel]}}
forces: {spring: {torque: wheel, vector: -8*axle.angle - 0.3*axle.angle.rate}}
initial: {positions: {axle.angle: 1.2}}
sensors: {turn: {coordinate: axle.angle}, torque: {force: spring, body: wheel}}
)");
    const double decay = 0.3;
    const double omega = std::sqrt(16 - decay * decay);
    ASSERT_TRUE(s.advance(2.5, 1e-3).ok);
    const double angle = 1.2 * std::exp(-decay * 2.5) * (std::cos(omega * 2.5) + decay / omega * std::sin(omega * 2.5));
    EXPECT_NEAR(sense(s, "turn"), angle, tolerance());
    const double rate = -1.2 * std::exp(-decay * 2.5) * (omega + decay * decay / omega) * std::sin(omega * 2.5);
    EXPECT_NEAR(sense(s, "torque.tz"), -8 * angle - 0.3 * rate, 1e-4);
}

// g = -w^2 (x, y): every body's centre of mass goes round an ellipse, however the body turns.
TEST_P(ForcesOfMotion, GravityMayDependOnThePlace) {
    Simulation s = start(R"(
limber: 1
plane: xy
parameters: {w2: 4}
gravity: [-w2*x, -w2*y]
bodies: {rod: {rod: {from: [0.5, 0], to: [1.5, 0], mass: 3}, velocity: [0, 1], angular-velocity: 2}}
sensors: {c: {position: rod.com}, turn: {angular-velocity: rod}}
)");
    ASSERT_TRUE(s.advance(1.3, 1e-3).ok);
    EXPECT_NEAR(sense(s, "c.x"), std::cos(2.6), tolerance());
    // The rod's own point, 0.5 from its centre, starts with 1 m/s: the centre with 1 + 2 * 0.5.
    EXPECT_NEAR(sense(s, "c.y"), std::sin(2.6), tolerance());
    EXPECT_NEAR(sense(s, "turn"), 2, tolerance());
}

INSTANTIATE_TEST_SUITE_P(All, ForcesOfMotion, ::testing::ValuesIn(formulation_names()),
                         [](const auto& info) { return test_name(info.param); });

// One component of position, the others of nothing: both kinds of gravity at once, in relative coordinates too.
TEST(GravityOfPlace, JoinsAConstantOne) {
    for (const std::string& coordinates : all_coordinates()) {
        Simulation s(read(R"(
limber: 1
gravity: [0, 0, -9.81*(1 + z)]
bodies: {ball: {sphere: {radius: 0.1, mass: 2}, velocity: [1, 0, 0]}}
joints: {guide: {planar: [ground, ball], axis: [0, 1, 0]}}
sensors: {p: {position: ball}}
)"),
                     options("global", "trapezoidal", coordinates));
        ASSERT_TRUE(s.advance(0.5, 2e-4).ok);
        EXPECT_NEAR(sense(s, "p.x"), 0.5, 1e-8) << coordinates;
        EXPECT_NEAR(sense(s, "p.z"), std::cos(std::sqrt(9.81) * 0.5) - 1, 1e-6) << coordinates;
    }
}

// Newton's law of gravity as a field: after one period the planet is back, and the work is accounted for.
TEST(GravityOfPlace, IsThatOfAStar) {
    const Model model = read(R"(
limber: 1
plane: xy
parameters: {mu: 4*pi^2, e: 0.5}
gravity: ['-mu*x/hypot(x, y)^3', '-mu*y/hypot(x, y)^3']
bodies: {planet: {point: {mass: 3}, at: [1 - e, 0], velocity: [0, sqrt(mu*(1 + e)/(1 - e))]}}
sensors: {p: {position: planet}}
)");
    Simulation s(model, options("augmented-lagrangian", "rk4"));
    RunOptions run_options;
    run_options.until = 1;
    run_options.step = 5e-4;
    const RunResult result = run(s, run_options);
    ASSERT_TRUE(result.summary.ok) << result.summary.failure;
    EXPECT_NEAR(sense(s, "p.x"), 0.5, 1e-6);
    EXPECT_NEAR(sense(s, "p.y"), 0, 1e-6);
    EXPECT_LT(result.summary.energy_drift, 1e-4);
}

// A motor may follow the rate of another joint, a force a position sensor and its rate.
TEST(ForcesOfOthers, UseRatesOfOtherJointsAndSensors) {
    Simulation s(read(R"(
limber: 1
plane: xy
gravity: none
bodies:
  first: {mass: 1, inertia: 1, angular-velocity: 3}
  second: {mass: 1, inertia: 2, at: [1, 0]}
  third: {point: {mass: 2}, at: [0, 5], velocity: [1, 0]}
joints:
  one: {revolute: [ground, first]}
  two: {revolute: [ground, second], at: [1, 0]}
forces:
  follow: {motor: two.angle, law: 4*one.angle.rate}
  push: {force: second, vector: [place.x.rate, 0]}
  hold: {force: third, vector: [-2*place.x, 0]}
sensors:
  place: {position: third}
  turn: {coordinate: two.angle}
  pushed: {force: push}
)"),
                 options("global", "trapezoidal"));
    ASSERT_TRUE(s.advance(0.5, 1e-3).ok);
    EXPECT_NEAR(sense(s, "turn"), 0.5 * 4 * 3 / 2 * 0.25, 1e-6);
    EXPECT_NEAR(sense(s, "place.x"), std::sin(0.5), 1e-6);
    EXPECT_NEAR(sense(s, "pushed"), std::cos(0.5), 1e-6);
}

TEST(ForcesOfOthers, SayWhatIsUnknown) {
    const std::string start = "limber: 1\nplane: xy\nbodies: {a: {point: {mass: 1}}}\n";
    EXPECT_NE(refusal_of(start + "forces: {f: {force: a, vector: [vq, 0]}}\n").find("unknown name 'vq'"),
              std::string::npos);
    EXPECT_NE(refusal_of(start + "forces: {f: {force: a, vector: [z, 0]}}\n").find("a planar model has no 'z'"),
              std::string::npos);
    EXPECT_NE(refusal_of("limber: 1\ngravity: [0, 0, vx]\n").find("unknown name 'vx'"), std::string::npos);
    // A parameter of that name is meant first, as ever.
    EXPECT_EQ(refusal_of("limber: 1\nplane: xy\nparameters: {y: 2}\nbodies: {a: {point: {mass: 1}}}\n"
                         "forces: {f: {force: a, vector: [y, 0]}}\n"),
              "");
}

}  // namespace
}  // namespace limber::testing
