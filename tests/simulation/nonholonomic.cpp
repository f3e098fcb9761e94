// Velocity constraints and moving constraints against their closed-form solutions, in every formulation.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

class ClosedForm : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    std::string formulation() const { return std::get<0>(GetParam()); }
    std::string coordinates() const { return std::get<1>(GetParam()); }
    SimulationOptions scheme() const { return options(formulation(), "rk4", coordinates()); }
    // The reach of a finite penalty.
    double tolerance() const { return formulation() == "penalty" ? 1e-4 : 1e-7; }
};

// A coin in steady circles: its centre moves on a circle of radius R = r |w3| / W at constant height (derivation in the
// model).
TEST_P(ClosedForm, CoinRollsInSteadyCircles) {
    Simulation simulation(example("joints/rolling-disc.yaml"), scheme());
    const double lean = 20 * pi / 180;
    const double r = 0.2;
    const double precession = 3;
    const double w3 =
        std::sin(lean) * (precession * precession * std::cos(lean) - 4 * 9.81 / r) / (6 * precession * std::cos(lean));
    const double speed = -r * w3;
    const double radius = speed / precession;
    // It starts at the origin moving along y and turns left.
    for (int i = 1; i <= 12; ++i) {
        ASSERT_TRUE(simulation.advance(0.25 * i, 1e-3).ok);
        const double angle = precession * simulation.time();
        EXPECT_NEAR(sense(simulation, "centre.x"), -radius * (1 - std::cos(angle)), tolerance()) << i;
        EXPECT_NEAR(sense(simulation, "centre.y"), radius * std::sin(angle), tolerance()) << i;
        EXPECT_NEAR(sense(simulation, "centre.z"), r * std::cos(lean), tolerance()) << i;
        // The table carries the weight; friction pulls towards the centre of the circle.
        EXPECT_NEAR(sense(simulation, "contact.fz"), 0.5 * 9.81, 100 * tolerance()) << i;
        const double pull = 0.5 * speed * precession;
        EXPECT_NEAR(sense(simulation, "contact.fx"), -pull * std::cos(angle), 100 * tolerance()) << i;
        EXPECT_NEAR(sense(simulation, "contact.fy"), -pull * std::sin(angle), 100 * tolerance()) << i;
    }
}

// A skate released on an incline with turning rate w: x = g/(2w^2)(w t - sin(2wt)/2) ..., a cycloid that drifts
// sideways.
TEST_P(ClosedForm, SkateDriftsAlongACycloid) {
    Simulation simulation(example("joints/skate.yaml"), scheme());
    const double g = 3;
    const double w = 2;
    for (int i = 1; i <= 12; ++i) {
        ASSERT_TRUE(simulation.advance(0.5 * i, 1e-3).ok);
        const double t = simulation.time();
        // Heading w t, speed along it u' = -g sin(w t), u = -g/w (1 - cos(w t)).
        const double x = -g / (w * w) * (std::sin(w * t) - w * t / 2 - std::sin(2 * w * t) / 4);
        const double y = -g / (2 * w * w) * (1 - std::cos(w * t)) * (1 - std::cos(w * t));
        EXPECT_NEAR(sense(simulation, "skate.x"), x, tolerance()) << i;
        EXPECT_NEAR(sense(simulation, "skate.y"), y, tolerance()) << i;
    }
}

// The bead of Aghili and Piedboeuf on a rod turning at w = 2: r = 0.1 cosh(2 t); the rod pushes with 2 m w r'.
TEST_P(ClosedForm, BeadFliesOutAlongATurningRod) {
    Simulation simulation(example("drivers/rotating-rod.yaml"), scheme());
    const std::pair<double, double> expected[] = {{1, 2.9014883}, {2, 21.831934}};
    for (const auto& [t, push] : expected) {
        ASSERT_TRUE(simulation.advance(t, 1e-3).ok);
        EXPECT_NEAR(sense(simulation, "radius"), 0.1 * std::cosh(2 * t), 10 * tolerance()) << t;
        EXPECT_NEAR(sense(simulation, "push.fy"), push, 100 * tolerance()) << t;
        EXPECT_NEAR(sense(simulation, "push.fx"), 0, 100 * tolerance()) << t;
    }
}

INSTANTIATE_TEST_SUITE_P(All, ClosedForm, ::testing::ValuesIn(formulations_in_coordinates()), [](const auto& info) {
    return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
});

// Two wheels on one axle, each driven: neither can slip along the axle, so one of their four conditions is redundant,
// and which combination it is turns with the car. Speed u of the axle's middle, w its yaw rate, the car's centre of
// mass b ahead of the axle:
//   (m + 2 mw + 2 J/R^2) u' - m b w^2 = (T1 + T2)/R
//   (I + m b^2 + 2 (mw y^2 + Iz) + 2 J y^2/R^2) w' + m b u w = y (T2 - T1)/R
// integrated by a classical Runge-Kutta scheme.
struct AxleMotion {
    double u = 0, w = 0, heading = 0;
};

AxleMotion integrate_axle(double until) {
    constexpr double r = 0.1, y = 0.25, b = 0.2, m = 0.01, wheel = 0.5, spin = 0.01;
    const double along = m + 2 * wheel + 2 * spin / (r * r);
    const double yaw = 0.001 + m * b * b + 2 * (wheel * y * y + 0.02) + 2 * spin * y * y / (r * r);
    const auto rate = [&](double t, const Vec3& s) -> Vec3 {
        const double t1 = -2 * std::sin(2 * pi * t);
        const double t2 = -2 * std::sin(2 * pi * t + pi / 2);
        return {((t1 + t2) / r + m * b * s[1] * s[1]) / along, (y * (t2 - t1) / r - m * b * s[0] * s[1]) / yaw, s[1]};
    };
    Vec3 s = Vec3::Zero();
    const int steps = 3000;
    const double h = until / steps;
    for (int i = 0; i < steps; ++i) {
        const double t = i * h;
        const Vec3 k1 = rate(t, s);
        const Vec3 k2 = rate(t + h / 2, s + h / 2 * k1);
        const Vec3 k3 = rate(t + h / 2, s + h / 2 * k2);
        const Vec3 k4 = rate(t + h, s + h * k3);
        s += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return {s[0], s[1], s[2]};
}

const std::string two_wheels = R"(
limber: 1
gravity: [0, 0, -9.80665]
bodies:
  car: {mass: 0.01, com: [0.2, 0, 0], inertia: [0.001, 0.001, 0.001], at: [0.1, 0.1, 0.1]}
  w1: {mass: 0.5, inertia: [0.02, 0.01, 0.02], at: [0.1, 0.35, 0.1], markers: {axle: {z: [0, 1, 0]}}}
  w2: {mass: 0.5, inertia: [0.02, 0.01, 0.02], at: [0.1, -0.15, 0.1], markers: {axle: {z: [0, 1, 0]}}}
joints:
  floor: {planar: [ground, car], at: [0.1, 0.1, 0.1], axis: [0, 0, 1], x: [1, 0, 0]}
  r1: {revolute: [car, w1], at: [0.1, 0.35, 0.1], axis: [0, 1, 0]}
  r2: {revolute: [car, w2], at: [0.1, -0.15, 0.1], axis: [0, 1, 0]}
  roll1: {rolling-disc: [ground, w1.axle], radius: 0.1}
  roll2: {rolling-disc: [ground, w2.axle], radius: 0.1}
forces:
  t1: {motor: r1.angle, law: -2*sin(2*pi*t)}
  t2: {motor: r2.angle, law: -2*sin(2*pi*t+pi/2)}
sensors: {w1: {rate: r1.angle}, w2: {rate: r2.angle}, heading: {coordinate: floor.angle}, energy: {energy: total}, work: {energy: work}}
)";

TEST_P(ClosedForm, TwoWheelsRollOnOneAxle) {
    const AxleMotion exact = integrate_axle(1.5);
    for (const char* integrator : {"rk4", "trapezoidal"}) {
        Simulation car(read(two_wheels), options(formulation(), integrator, coordinates()));
        ASSERT_TRUE(car.advance(1.5, 1.5e-3).ok) << integrator;
        // The wheels turn at up to 39 rad/s, 0.06 rad in a step: second-order schemes are off by about 1e-3 of it.
        const bool is_fourth_order = std::string(integrator) == "rk4";
        EXPECT_NEAR(sense(car, "w1"), (exact.u - 0.25 * exact.w) / 0.1, is_fourth_order ? 1e-4 : 0.1) << integrator;
        EXPECT_NEAR(sense(car, "w2"), (exact.u + 0.25 * exact.w) / 0.1, is_fourth_order ? 1e-4 : 0.1) << integrator;
        EXPECT_NEAR(sense(car, "heading"), exact.heading, is_fourth_order ? 1e-5 : 5e-3) << integrator;
    }
}

// The same three with the step solver's own scheme: second order.
TEST(GlobalFormulation, FollowsVelocityConstraintsWithSecondOrder) {
    const auto error = [](double h) {
        Simulation skate(example("joints/skate.yaml"), options("global", "trapezoidal"));
        EXPECT_TRUE(skate.advance(3, h).ok);
        const double x = -3.0 / 4 * (std::sin(6) - 3 - std::sin(12) / 4);
        return std::abs(sense(skate, "skate.x") - x);
    };
    const double coarse = error(4e-3);
    const double fine = error(2e-3);
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.1);

    Simulation coin(example("joints/rolling-disc.yaml"), options("global", "trapezoidal"));
    ASSERT_TRUE(coin.advance(3, 1e-3).ok);
    EXPECT_NEAR(sense(coin, "centre.z"), 0.2 * std::cos(20 * pi / 180), 1e-4);

    Simulation bead(example("drivers/rotating-rod.yaml"), options("global", "trapezoidal"));
    ASSERT_TRUE(bead.advance(1, 1e-3).ok);
    EXPECT_NEAR(sense(bead, "radius"), 0.37621957, 1e-6);
}

// A steered trolley must keep its speed: wheels do no work when the steering is ideal.
TEST(Trolley, KeepsItsKineticEnergy) {
    for (const std::string& formulation : formulation_names()) {
        Simulation simulation(example("joints/velocity.yaml"), options(formulation, "rk4"));
        RunOptions run_options;
        run_options.until = 5;
        run_options.step = 1e-3;
        const RunSummary summary = run(simulation, run_options).summary;
        ASSERT_TRUE(summary.ok);
        // The front wheel's constraint has no right-hand side, so it does no work.
        EXPECT_LT(summary.exchanged_energy, 1e-5) << formulation;
    }
}

}  // namespace
}  // namespace limber::testing
