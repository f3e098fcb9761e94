// Friction in joints from the moments of their reactions, load = |F| + 2 |M| / arm: closed forms in the plane and in
// space.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "limber/simulation/run.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr double g = 9.81;

class JointFriction : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    SimulationOptions chosen(const std::string& integrator) const {
        return options(std::get<0>(GetParam()), integrator, std::get<1>(GetParam()));
    }
    /// A penalty alone, of 1e8 times the inertia that a row meets, gives way by one over itself; by as many times more
    /// as a weight c beside its joint has more inertia about that, J + m c^2, than about its centre: ten times.
    bool is_penalty() const { return std::get<0>(GetParam()) == "penalty"; }
};

// When what slips first sticks.
double sticking_instant(Simulation& simulation, double end, double h) {
    while (simulation.time() < end) {
        const StepReport report = simulation.step(h);
        EXPECT_TRUE(report.ok) << report.reason;
        if (!report.ok) break;
        for (const ContactEvent& event : report.events)
            if (event.kind == ContactEvent::Kind::stuck) return event.t;
    }
    return -1;
}

// A block of 2 kg on a guide through the origin.
Model sliding_block(bool planar, const std::string& centre, const std::string& velocity, const std::string& axis) {
    return read(fmt::format(R"(
limber: 1
{}
bodies:
  block: {{at: {}, mass: 2, inertia: {}, velocity: {}}}
joints:
  guide: {{prismatic: [ground, block], at: {}, axis: {}}}
forces:
  rubbing: {{friction: guide.displacement, coefficient: 0.2, arm: 0.4}}
sensors:
  place: {{coordinate: guide.displacement}}
  load: {{reaction: guide}}
)",
                            planar ? "plane: xy" : "", centre, planar ? "0.02" : "[0.01, 0.02, 0.03]", velocity,
                            planar ? "[0, 0]" : "[0, 0, 0]", axis));
}

// Uniform deceleration, which the trapezoidal rule integrates exactly. The load is found to 1e-9 of itself, the instant
// of rest to 1e-9 s.
constexpr double exact = 1e-8;

// The centre is c along the guide beside the joint's marker: M = m g c. It is level with the marker, so the
// deceleration makes no moment.
TEST_P(JointFriction, WeightBesideAGuideInThePlane) {
    Simulation simulation(sliding_block(true, "[0.3, 0]", "[2, 0]", "[1, 0]"), chosen("trapezoidal"));
    const double deceleration = 0.2 * g * (1 + 2 * 0.3 / 0.4);
    EXPECT_NEAR(sticking_instant(simulation, 2, 0.01), 2 / deceleration, exact);
    EXPECT_NEAR(sense(simulation, "place"), 4 / (2 * deceleration), exact);
    EXPECT_NEAR(std::abs(sense(simulation, "load.tz")), 2 * g * 0.3, is_penalty() ? 1e-5 : exact);
}

// In space the moment has two components, m g times the distances along and across the guide.
TEST_P(JointFriction, WeightBesideAGuideInSpace) {
    Simulation simulation(sliding_block(false, "[0.15, 0.2, 0]", "[2, 0, 0]", "[1, 0, 0]"), chosen("trapezoidal"));
    // The deceleration a acts at the centre, 0.2 beside the guide: a moment m a 0.2 about the vertical, at right angles
    // to that of the weight.
    //   a = mu (g + 2/arm sqrt((0.25 g)^2 + (0.2 a)^2)),  a quadratic equation for a
    const double mu = 0.2;
    const double k = 2 * mu / 0.4;
    // (a - mu g)^2 = k^2 (0.0625 g^2 + 0.04 a^2)
    const double p = 1 - k * k * 0.04;
    const double q = mu * g / p;
    const double deceleration = q + std::sqrt(q * q - (mu * mu - k * k * 0.0625) * g * g / p);
    EXPECT_NEAR(sticking_instant(simulation, 2, 0.01), 2 / deceleration, exact);
    EXPECT_NEAR(sense(simulation, "place"), 4 / (2 * deceleration), exact);
}

// Upright, the guide carries a moment only: that of friction, which acts c beside the centre. Slip would need m a = m g
// - F with F = mu 2 c F/arm: no friction but in free fall. From c = arm/(2 mu) on it holds, as a clamp on its bar does:
//   the friction that carries the weight makes moment enough.
TEST_P(JointFriction, ClampOnAnUprightBarHoldsOrFallsFreely) {
    for (const double share : {0.8, 0.99, 1.01}) {
        Simulation simulation(sliding_block(true, fmt::format("[{}, 0]", share), "[0, 0]", "[0, 1]"),
                              chosen("trapezoidal"));
        const StepReport report = simulation.advance(1, 0.01);
        ASSERT_TRUE(report.ok) << report.reason;
        const double tolerance = is_penalty() ? 1e-6 : exact;
        EXPECT_NEAR(sense(simulation, "place"), share > 1 ? 0 : -0.5 * g, tolerance) << share;
    }
}

// A disc that overhangs its bearing by c: the pin carries m g and the moment m g c, both of which turn with nothing.
// Torque mu r m g (1 + 2 c/arm).
TEST_P(JointFriction, OverhungDiscIsBrakedByItsBendingMoment) {
    Simulation simulation(read(R"(
limber: 1
bodies:
  disc: {at: [0.25, 0, 0], mass: 3, inertia: [0.06, 0.03, 0.03], angular-velocity: [8, 0, 0]}
joints:
  bearing: {revolute: [ground, disc], at: [0, 0, 0], axis: [1, 0, 0]}
forces:
  rubbing: {friction: bearing.angle, coefficient: 0.1, radius: 0.02, arm: 0.1}
sensors:
  angle: {coordinate: bearing.angle}
  load: {reaction: bearing}
)"),
                          chosen("rk4"));
    const double deceleration = 0.1 * 0.02 * 3 * g * (1 + 2 * 0.25 / 0.1) / 0.06;
    const double rests_at = sticking_instant(simulation, 2, 0.01);
    // rk4 turns axes with a local error (w h)^5/120, 3e-8 rad at first and less later, in 136 steps: 1e-6 rad, and as
    // much of the time.
    EXPECT_NEAR(rests_at, 8 / deceleration, is_penalty() ? 1e-5 : 1e-6);
    EXPECT_NEAR(sense(simulation, "angle"), 64 / (2 * deceleration), is_penalty() ? 1e-5 : 2e-6);
    EXPECT_NEAR(std::hypot(sense(simulation, "load.fx"), sense(simulation, "load.fy"), sense(simulation, "load.fz")),
                3 * g, is_penalty() ? 1e-5 : 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, JointFriction, ::testing::ValuesIn(formulations_in_coordinates()), [](const auto& info) {
    return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
});

// A whole robot of such axes used to stop at 1.35 s under global with trapezoidal steps: "more than 1000 contacts open
// and close within one step". All arrive, at the place where the fourth-order integrator has its hand.
TEST(SixAxisRobot, GoesOnInEveryFormulation) {
    const auto hand_after = [](const std::string& formulation, const char* integrator) {
        Simulation s(example("six-axis-robot.yaml"), options(formulation, integrator));
        const StepReport report = s.advance(1.5, 1e-3);
        EXPECT_TRUE(report.ok) << formulation << ": " << report.reason;
        return s.body_frame("hand").position;
    };
    const Vec3 expected = hand_after("articulated-body", "rk4");
    for (const char* formulation : {"global", "hybrid", "semi-recursive"})
        EXPECT_LT((hand_after(formulation, "trapezoidal") - expected).norm(), 1e-6) << formulation;
}

// An axis of a robot with a fast rotor, gears and a controller with an integral part, dry friction in the axis. It
// breaks away once, comes to rest once, and may be set in motion again by the integral part; all the rest is smooth.
// The rotor turns by a quarter of a radian in a step: errors of the scheme, and of what gains keep closed, are large
// beside the friction, and must not be taken for it.
TEST(GearedAxis, BreaksAwayWhenTheEquationsOfMotionSaySo) {
    const Model model = read(R"(
limber: 1
gravity: [0, 0, -9.81]
parameters: {T: 1.2, ratio: 105}
bodies:
  arm: {mass: 56.5, com: [0.172, 0, 0.205], inertia: [2.58, 2.73, 0.64]}
  rotor: {mass: 1, inertia: [0.0013, 0.0013, 0.0013]}
  memory: {mass: 1, inertia: [1, 1, 1], at: [0, 5, 0]}
joints:
  axis: {revolute: [ground, arm], at: [0, 0, 0], axis: [0, 0, 1]}
  motor: {revolute: [ground, rotor], at: [0, 0, 0], axis: [0, 0, 1]}
  gearbox: {gear: [axis.angle, motor.angle], ratio: ratio}
  store: {prismatic: [ground, memory], at: [0, 5, 0], axis: [1, 0, 0]}
  integral: {velocity: {store.displacement: 1}, equals: "ratio*pi/3*(10 - 15*min(t, T)/T + 6*(min(t, T)/T)^2)*(min(t, T)/T)^3 - motor.angle"}
forces:
  control: {motor: motor.angle, law: "8*(ratio*pi/3*(10 - 15*min(t, T)/T + 6*(min(t, T)/T)^2)*(min(t, T)/T)^3 - x) - 0.4*v + 20*store.displacement"}
  dry: {friction: axis.angle, coefficient: 0.1, static: 0.15, radius: 0.1, preload: 2000}
sensors: {angle: {coordinate: axis.angle}}
)");
    Simulation reference(model, options("articulated-body", "rk4"));
    RunOptions run_options;
    run_options.until = 1.4;
    run_options.step = 1e-3;
    const RunSummary expected = run(reference, run_options).summary;
    ASSERT_TRUE(expected.ok) << expected.failure;
    for (const std::string& formulation : formulation_names()) {
        Simulation axis(model, options(formulation, "trapezoidal"));
        const RunSummary summary = run(axis, run_options).summary;
        ASSERT_TRUE(summary.ok) << formulation << ": " << summary.failure;
        EXPECT_LE(summary.events.size(), expected.events.size() + 2) << formulation;
        EXPECT_NEAR(sense(axis, "angle"), sense(reference, "angle"), 1e-4) << formulation;
    }
}

}  // namespace
}  // namespace limber::testing
