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

// A coin in steady circles: its centre moves on a circle of radius R = r |w3| / W at constant height (derivation in the model).
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

// A skate released on an incline with turning rate w: x = g/(2w^2)(w t - sin(2wt)/2) ..., a cycloid that drifts sideways.
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
