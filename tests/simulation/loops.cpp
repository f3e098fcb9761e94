// Spatial loops with redundant constraints: ten seconds under every formulation.

#include <gtest/gtest.h>

#include <cmath>

#include "support/measures.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

class RedundantLoop : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(RedundantLoop, RunsForTenSecondsAndKeepsItsEnergy) {
    const auto& [name, formulation] = GetParam();
    for (const std::string& coordinates : all_coordinates()) {
        if (!fits(formulation, coordinates)) continue;
        const RunSummary summary =
            examples::run_example("loops/" + name, options(formulation, "trapezoidal", coordinates), 10, 1e-3);
        ASSERT_TRUE(summary.ok) << summary.failure;
        EXPECT_GT(summary.exchanged_energy, 1) << "the mechanism should move";
        EXPECT_LT(summary.energy_drift, 1e-3 * summary.exchanged_energy) << coordinates;
        EXPECT_LT(summary.errors.position, 1e-4) << coordinates;
    }
}

INSTANTIATE_TEST_SUITE_P(All, RedundantLoop,
                         ::testing::Combine(::testing::Values("bricard.yaml", "bennett.yaml", "spatial-four-bar.yaml"),
                                            ::testing::ValuesIn(formulation_names())),
                         [](const auto& info) {
                             return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
                         });

// The coordinates of a set may fulfil the second hinge's equations by themselves, up to rounding: it must not hold the
// door.
TEST(Door, SwingsOnTwoHingesAsOnOne) {
    const Model door = read(R"(
limber: 1
bodies:
  door: {box: {size: [0.8, 2, 0.04], mass: 20}, at: [0.4, 0, 0], xyz: [0, 0, 0.3]}
joints:
  upper: {revolute: [ground, door], at: [0.05, 0.7, 0], axis: [0.2, 1, 0]}
  lower: {revolute: [ground, door], at: [-0.21, -0.6, 0], axis: [0.2, 1, 0]}
sensors:
  alpha: {angular-acceleration: door}
)");
    // Moment of the weight about the axis over the inertia about it, both at the centre's distance from the axis.
    const Vec3 axis = Vec3(0.2, 1, 0).normalized();
    const Vec3 arm = Vec3(0.4, 0, 0) - Vec3(0.05, 0.7, 0);
    const Mat3 axes = Eigen::AngleAxisd(0.3, Vec3::UnitZ()).toRotationMatrix();
    const Vec3 inertia = Vec3(4 + 0.0016, 0.64 + 0.0016, 0.64 + 4) * 20 / 12;
    const double about_axis =
        axis.dot(axes * inertia.cwiseProduct(axes.transpose() * axis)) + 20 * axis.cross(arm).squaredNorm();
    const double expected = axis.dot(arm.cross(Vec3(0, 0, -9.81 * 20))) / about_axis;
    for (const auto& [formulation, coordinates] : formulations_in_coordinates()) {
        if (formulation == "penalty") continue;  // reaches what its penalty allows
        Simulation s(door, options(formulation, "rk4", coordinates));
        EXPECT_NEAR(sense(s, "alpha.y"), expected * axis.y(), 1e-11 * std::abs(expected))
            << formulation << " " << coordinates;
    }
}

// At the inner stages of a long step the loop is open by millimetres, and the equation too many is none any more: it
// must not hold the rods.
TEST(Bricard, SwingsInLongExplicitSteps) {
    for (const char* formulation :
         {"articulated-body", "canonical-momenta", "composite-body", "augmented-lagrangian"}) {
        const auto drift = [&](double h) {
            return examples::run_example("loops/bricard.yaml", options(formulation, "rk4"), 10, h).energy_drift;
        };
        const double fine = drift(0.025);
        EXPECT_LT(drift(0.05), 1e-4) << formulation;
        EXPECT_LT(fine, 1e-5) << formulation;
        EXPECT_GT(std::log2(fine / drift(0.0125)), 3.7) << formulation;
    }
}

TEST(Bricard, IsWhereTheReferenceIs) {
    // Point P3 after 1 s and after 10 s (converged independently).
    Simulation simulation(example("loops/bricard.yaml"), options("augmented-lagrangian", "rk4"));
    ASSERT_TRUE(simulation.advance(1, 1e-3).ok);
    EXPECT_NEAR(sense(simulation, "p3.x"), 0.2733339158, 1e-7);
    EXPECT_NEAR(sense(simulation, "p3.y"), -0.8865440008, 1e-7);
    EXPECT_NEAR(sense(simulation, "p3.z"), -0.4626442852, 1e-7);
    ASSERT_TRUE(simulation.advance(10, 1e-3).ok);
    EXPECT_NEAR(sense(simulation, "p3.x"), 0.9992646101, 1e-6);
    EXPECT_NEAR(sense(simulation, "p3.z"), -0.0007351195, 1e-6);
}

TEST(Bennett, KeepsTheRatioOfItsHalfAngles) {
    // tan(q1/2) tan(q2/2) = sin((beta + alpha)/2) / sin((beta - alpha)/2) all along.
    Model model = example("loops/bennett.yaml");
    model.add(CoordinateSensor{.name = "q2", .coordinate = {"j2.angle"}});
    Simulation simulation(model, options("global", "trapezoidal"));
    const double expected = std::sin(55 * pi / 180) / std::sin(15 * pi / 180);
    for (int i = 1; i <= 20; ++i) {
        ASSERT_TRUE(simulation.advance(0.1 * i, 1e-3).ok);
        const double q1 = sense(simulation, "input");
        EXPECT_NEAR(std::tan(q1 / 2) * std::tan(sense(simulation, "q2") / 2), expected, 1e-8) << i;
    }
}

TEST(Hooke, OutputSpeedFollowsTheClassicalRatio) {
    // omega_out / omega_in = cos(b) / (1 - sin^2(b) cos^2(theta)), theta measured from the plane of the shafts.
    Simulation simulation(example("joints/universal.yaml"), options("global", "trapezoidal"));
    const double bend = pi / 6;
    for (int i = 1; i <= 30; ++i) {
        ASSERT_TRUE(simulation.advance(0.05 * i, 1e-3).ok);
        const double theta = 10 * simulation.time();
        const double s = std::sin(bend) * std::sin(theta);
        EXPECT_NEAR(sense(simulation, "output"), 10 * std::cos(bend) / (1 - s * s), 1e-6) << i;
    }
}

// Crank 1, ground 2, coupler and rocker 2.5, the coupler as long again beyond the elbow: where two circles meet.
TEST(CouplerCurve, OfHoekensLinkageGoesStraightForHalfATurn) {
    Simulation simulation(example("loops/coupler-curve.yaml"), options("global", "trapezoidal"));
    double lowest = 10;
    double highest = 0;
    for (int i = 0; i <= 20; ++i) {
        ASSERT_TRUE(simulation.advance(0.05 * i, 1e-3).ok);
        const double turn = pi + 2 * pi * 0.05 * i;
        const Vec2 a(std::cos(turn), std::sin(turn));
        const Vec2 apart = Vec2(2, 0) - a;
        const Vec2 across(-apart.y(), apart.x());
        const Vec2 elbow = a + 0.5 * apart + across * std::sqrt(6.25 / apart.squaredNorm() - 0.25);
        const Vec2 tip = a + 2 * (elbow - a);
        EXPECT_NEAR(sense(simulation, "elbow.x"), elbow.x(), 1e-7) << i;
        EXPECT_NEAR(sense(simulation, "coupler.x"), tip.x(), 1e-7) << i;
        EXPECT_NEAR(sense(simulation, "coupler.y"), tip.y(), 1e-7) << i;
        if (i > 5 && i < 15) continue;
        lowest = std::min(lowest, tip.y());
        highest = std::max(highest, tip.y());
    }
    EXPECT_LT(highest - lowest, 0.02) << "over a way of 4";
}

TEST(ConstantVelocity, OutputTurnsAsTheInput) {
    Simulation simulation(example("joints/constant-velocity.yaml"));
    for (int i = 1; i <= 10; ++i) {
        ASSERT_TRUE(simulation.advance(0.2 * i, 1e-3).ok);
        EXPECT_NEAR(sense(simulation, "output"), sense(simulation, "input"), 1e-9);
    }
}

}  // namespace
}  // namespace limber::testing
