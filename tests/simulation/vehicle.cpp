// The Iltis vehicle against its data sheet (Frik, Leister and Schwartz 1993; Robotran's results), roads, tyres and
// equilibrium.

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "limber/kinematics/forces/road.hpp"
#include "limber/kinematics/forces/tyre.hpp"
#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

class Iltis : public ::testing::TestWithParam<std::string> {};

TEST_P(Iltis, HasTheNominalForcesOfTheDataSheet) {
    Simulation s(example("iltis/bump-in-phase.yaml"), options(GetParam(), "rk4"));
    EXPECT_EQ(s.compute_mobility().freedoms, 10);
    EXPECT_NEAR(sense(s, "leafforce00"), -2728.856, 0.01);
    EXPECT_NEAR(sense(s, "shockforce10"), -128.026, 0.01);
    EXPECT_NEAR(sense(s, "load00"), 3829.500, 0.01);
    EXPECT_NEAR(sense(s, "load11"), 3593.520, 0.01);
}

TEST_P(Iltis, SettlesAsPublished) {
    SimulationOptions o = options(GetParam(), "rk4");
    o.from_equilibrium = true;
    Simulation s(example("iltis/bump-in-phase.yaml"), o);
    EXPECT_LT(s.equilibrium().residual, 1e-6);
    EXPECT_NEAR(sense(s, "chassis.z") - 0.57, -7.083e-3, 0.05e-3);
    EXPECT_NEAR(sense(s, "pitch"), 0.1465, 0.001);
    for (const char* side : {"0", "1"}) {
        const std::string front = std::string("0") + side;
        const std::string rear = std::string("1") + side;
        EXPECT_NEAR(sense(s, "load" + front), 3831.31, 1);
        EXPECT_NEAR(sense(s, "load" + rear), 3591.91, 1);
        EXPECT_NEAR(sense(s, "shockforce" + front), -335.29, 1);
        EXPECT_NEAR(sense(s, "shockforce" + rear), -241.64, 1);
        EXPECT_NEAR(sense(s, "leafforce" + front), -3068.62, 1);
        EXPECT_NEAR(sense(s, "leafforce" + rear), -2885.51, 1);
    }
}

// Over the bump at 5 m/s; the published loads are vertical components, which differ from the normal force by under 1 %.
TEST_P(Iltis, PassesTheBumpAsPublished) {
    struct Instant {
        double t, x, z, pitch, front, rear;
    };
    const Instant published[] = {
        {0.2088, 1.0364, 13.474, -0.8036, 5486.4, 3354.0},  {0.4058, 1.9844, 85.736, -4.8595, 2551.2, 3642.5},
        {0.6042, 2.9240, 117.855, -5.6130, 1530.8, 5514.3}, {0.8061, 3.8654, 117.483, 2.0459, 4037.4, 2703.8},
        {1.0048, 4.7988, 82.359, 7.5609, 5811.9, 1386.6},   {1.2073, 5.7597, 33.612, 4.2435, 3790.9, 3277.2},
        {1.4039, 6.7110, -14.500, -0.6332, 3274.5, 5325.6}, {1.6092, 7.7192, -14.898, -0.6971, 3702.8, 3536.7},
        {1.7866, 8.5916, -6.779, 0.3461, 4040.1, 3196.5},   {2.0139, 9.7083, -7.687, 0.2144, 3810.0, 3667.6},
        {2.5000, 12.0964, -7.171, 0.1765, 3847.1, 3582.5}};
    SimulationOptions o = options(GetParam(), find_formulation(GetParam()).is_step_solver() ? "trapezoidal" : "rk4");
    o.from_equilibrium = true;
    Simulation s(example("iltis/bump-in-phase.yaml"), o);
    for (const Instant& p : published) {
        ASSERT_TRUE(s.advance(p.t, GetParam() == "null-space" ? 2e-3 : 1e-3).ok);  // slow, and exact enough
        EXPECT_NEAR(1e3 * (sense(s, "chassis.z") - 0.57), p.z, 1) << p.t;
        EXPECT_NEAR(sense(s, "chassis.x"), p.x, 2e-3) << p.t;
        EXPECT_NEAR(sense(s, "pitch"), p.pitch, 0.05) << p.t;
        EXPECT_NEAR(sense(s, "load00"), p.front, 0.02 * p.front) << p.t;
        EXPECT_NEAR(sense(s, "load11"), p.rear, 0.02 * p.rear) << p.t;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Iltis,
                         ::testing::Values("global", "hybrid", "semi-recursive", "composite-body", "articulated-body",
                                           "null-space"),
                         [](const auto& info) { return test_name(info.param); });

TEST(Road, PiecesHaveTheirHeightsSlopesAndCurvatures) {
    RoadProfile road;
    road.add_bump(0.97, 5, 0.2);
    road.add_ramp(8, 16, 0.8, 0.4);
    road.add_stairs(20, 3, 1, -0.16, 0.15);
    EXPECT_DOUBLE_EQ(road.evaluate(0.5).f, 0);
    EXPECT_NEAR(road.evaluate(0.97 + 2.5).f, 0.2, 1e-15);
    EXPECT_NEAR(road.evaluate(12).f, 0.4, 1e-15);
    EXPECT_NEAR(road.evaluate(12).fx, 0.1, 1e-15);
    EXPECT_NEAR(road.evaluate(8).f, 0.1 * 0.4 / 8,
                1e-15);  // a parabola: a quarter of the rounding times half the slope
    EXPECT_NEAR(road.evaluate(18).f, 0.8, 1e-15);
    EXPECT_NEAR(road.evaluate(20.075).f, 0.8 - 0.08, 1e-14);
    EXPECT_NEAR(road.evaluate(30).f, 0.8 - 0.48, 1e-14);
    constexpr double h = 1e-5;
    for (int i = 0; i < 180; ++i) {
        const double x = 0.55 + 0.13 * i;
        const UnaryDerivatives at = road.evaluate(x);
        EXPECT_NEAR(at.fx, (road.evaluate(x + h).f - road.evaluate(x - h).f) / (2 * h), 1e-4) << x;
    }
}

TEST(Road, RandomRoadsHaveTheRoughnessOfTheirClass) {
    // ISO 8608: variance between wavelengths 100 m and 0.35 m is the integral of G(n0) (n/n0)^-2 dn.
    constexpr double roughness = 64e-6;
    RoadProfile road;
    road.add_random(0, 2000, roughness, 7);
    double sum = 0;
    int count = 0;
    for (; count < 19800; ++count) {
        const double z = road.evaluate(10 + 0.1 * count).f;
        sum += z * z;
    }
    const double expected = roughness * 0.01 * (1 / 0.01 - 0.35);
    EXPECT_NEAR(sum / count, expected, 0.25 * expected);
    RoadProfile again;
    again.add_random(0, 2000, roughness, 7);
    EXPECT_EQ(road.evaluate(123.4).f, again.evaluate(123.4).f);
    RoadProfile other;
    other.add_random(0, 2000, roughness, 8);
    EXPECT_NE(road.evaluate(123.4).f, other.evaluate(123.4).f);
    EXPECT_LT(std::abs(road.evaluate(-50).f), 1e-9);
}

TEST(Tyre, FollowsTheCalspanFormulas) {
    // Numbers of the data sheet at 4000 N, slip 2 degrees, no camber, evaluated by hand:
    //   f = (B1 F + B3 + B4 F^2) SN, s = (A1 F (F - A2) - A0 A2) / (A2 f F) alpha, g = s - s|s|/3 + s^3/27, F_y = f F g
    TyreLaw law;
    auto road = std::make_shared<RoadProfile>();
    law.road = road;
    law.stiffness = 460000;
    law.radius = 0.364;
    law.lateral =
        CalspanCoefficients{2625, 14.47, 12930, 2.29, 18175, -0.464e-4, 1.216, 2.18e-11, 1.0274, -0.171e-4, 0.171e-4};
    const double load = 4000;
    const double alpha = 2 * pi / 180;
    const double f = (-0.464e-4 * load + 1.216 + 2.18e-11 * load * load) * 1.0274;
    const double s = (14.47 * load * (load - 12930) - 2625 * 12930) / (12930 * f * load) * alpha;
    const double side = f * load * (s - s * std::abs(s) / 3 + s * s * s / 27);
    const Vec3 centre(0, 0, law.radius - load / law.stiffness);
    const TyreWrench w =
        evaluate_tyre(law, false, {centre, Vec3::UnitY(), Vec3(20 * std::cos(alpha), 20 * std::sin(alpha), 0)});
    EXPECT_NEAR(w.normal, load, 1e-6);
    EXPECT_NEAR(w.force.y(), side, 1e-4 * std::abs(side));
    EXPECT_LT(side, 0);  // against the slip
    EXPECT_NEAR(w.moment.z(), (-0.171e-4 * load + 0.171e-4 * std::abs(side)) * side, 1e-3);
    EXPECT_NEAR(w.moment.x(), centre.z() * side, 1e-3 * std::abs(side));
    // Lifted off: nothing.
    EXPECT_EQ(evaluate_tyre(law, false, {Vec3(0, 0, 0.4), Vec3::UnitY(), Vec3(20, 1, 0)}).force.norm(), 0);
}

// Where the wheel's plane meets the road: the nearest of all points of both planes, found here by solving for it.
TEST(Tyre, ActsWhereThePlaneOfTheWheelMeetsTheRoad) {
    auto road = std::make_shared<RoadProfile>();
    road->add_ramp(-10, 10, 4, 1);  // slope 0.2
    TyreLaw law;
    law.road = road;
    law.stiffness = 460000;
    law.radius = 0.364;
    const Vec3 normal = Vec3(-0.2, 0, 1).normalized();
    const Vec3 centre(0.5, 0.1, road->evaluate(0.5).f + 0.355);
    const double load = 460000 * (0.364 - 0.355) * normal.z();
    const double height = 0.355 * normal.z();
    const Vec3 velocity(15, 0.4, 0.1);
    for (const bool has_side_force : {false, true})
        for (const double camber : {-0.6, -0.05, 0.0, 0.02, 0.3, 1.0})
            for (const double heading : {0.0, 0.4}) {
                SCOPED_TRACE(::testing::Message() << "camber " << camber << ", heading " << heading);
                if (has_side_force)
                    law.lateral = CalspanCoefficients{2625,  14.47,    12930,  2.29,      18175,   -0.464e-4,
                                                      1.216, 2.18e-11, 1.0274, -0.171e-4, 0.171e-4};
                const Vec3 left =
                    normal.cross(Vec3(std::cos(heading), std::sin(heading), 0.2 * std::cos(heading)).normalized());
                const Vec3 axis = std::cos(camber) * left + std::sin(camber) * normal;
                const TyreWrench w = evaluate_tyre(law, false, {centre, axis, velocity});
                // |p|^2 least with axis.p = 0 and normal.p = -height
                Eigen::Matrix<double, 5, 5> m = Eigen::Matrix<double, 5, 5>::Zero();
                m.topLeftCorner<3, 3>().setIdentity();
                m.block<3, 1>(0, 3) = axis;
                m.block<3, 1>(0, 4) = normal;
                m.block<1, 3>(3, 0) = axis.transpose();
                m.block<1, 3>(4, 0) = normal.transpose();
                Eigen::Matrix<double, 5, 1> rhs;
                rhs << 0, 0, 0, 0, -height;
                const Vec3 arm = m.fullPivLu().solve(rhs).head<3>();
                EXPECT_NEAR(w.normal, load, 1e-6);
                EXPECT_NEAR(w.force.dot(normal), load, 1e-6);
                Vec3 moment = w.moment - arm.cross(w.force);
                EXPECT_LT(moment.cross(normal).norm(), 1e-9 * load) << moment.transpose();  // left: the aligning moment
                if (!has_side_force) {
                    EXPECT_LT((w.moment - load * height * std::tan(camber) * left.cross(normal)).norm(), 1e-9 * load);
                    EXPECT_LT(moment.norm(), 1e-9 * load);
                }
            }
    // On its side there is no such point, and nothing breaks.
    law.lateral.reset();
    const TyreWrench lying = evaluate_tyre(law, false, {centre, normal, velocity});
    EXPECT_NEAR(lying.normal, load, 1e-6);
    EXPECT_LT(lying.moment.norm(), 1e-9 * load);
}

// Newton's method must not be held up by the penalty of loaded joints, and must leave alone what nothing holds: place
// and heading.
TEST(Equilibrium, OfTheVehicleIsFoundFastAndStraightInAllCoordinates) {
    for (const std::string& coordinates : all_coordinates()) {
        SimulationOptions o = options("augmented-lagrangian", "rk4", coordinates);
        o.from_equilibrium = true;
        Simulation s(example("iltis/bump-in-phase.yaml"), o);
        EXPECT_LE(s.equilibrium().iterations, 16) << coordinates;
        EXPECT_NEAR(sense(s, "chassis.y"), 0, 1e-8) << coordinates;
        EXPECT_NEAR(sense(s, "nose.y"), 0, 1e-7) << coordinates;
        EXPECT_NEAR(sense(s, "chassis.z") - 0.57, -7.083e-3, 0.05e-3) << coordinates;
    }
}

TEST(Equilibrium, OfAHangingChainIsACatenaryOfRods) {
    // Ten rods between two supports: joint forces are horizontal force H and weights, so tan(angle_i) is linear in i.
    SimulationOptions o = options("hybrid", "trapezoidal");
    o.from_equilibrium = true;
    Simulation s(read(R"(
limber: 1
plane: xy
bodies:
  ground: {markers: {left: [0, 0], right: [8, 0]}}
  for i in 1..10:
    rod<i>: {rod: {from: [0.8*(i - 1), -0.3*sin(0.1*pi*(i-1))], to: [0.8*i, -0.3*sin(0.1*pi*i)], mass: 1}}
joints:
  first: {revolute: [ground.left, rod1.from]}
  for i in 2..10:
    pin<i>: {revolute: [rod<i-1>.to, rod<i>.from]}
  last: {revolute: [rod10.to, ground.right]}
sensors:
  pull: {reaction: first}
  for i in 1..10:
    a<i>: {position: rod<i>.from}
    b<i>: {position: rod<i>.to}
)"),
                 o);
    EXPECT_TRUE(s.equilibrium().converged);
    const double pull = std::abs(sense(s, "pull.fx"));
    ASSERT_GT(pull, 1);
    for (int i = 1; i <= 10; ++i) {
        const std::string n = std::to_string(i);
        const double slope = (sense(s, "b" + n + ".y") - sense(s, "a" + n + ".y")) /
                             (sense(s, "b" + n + ".x") - sense(s, "a" + n + ".x"));
        EXPECT_NEAR(slope, 9.81 * (i - 5.5) / pull, 1e-6) << i;
    }
}

TEST(Equilibrium, SaysWhenThereIsNone) {
    SimulationOptions o = options("global", "trapezoidal");
    o.from_equilibrium = true;
    try {
        Simulation s(read("{limber: 1, bodies: {ball: {sphere: {radius: 1, mass: 1}}}}"), o);
        ADD_FAILURE() << "a falling ball has no equilibrium";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("no equilibrium found"), std::string::npos) << error.what();
    }
}

// Nothing pulls a vehicle on a flat road along it: its parts move about the centre of mass, which stays.
TEST_P(Iltis, KeepsItsCentreOfMassWhereNothingPulls) {
    const Model model = example("iltis/bump-in-phase.yaml");
    const auto centre = [&](bool from_equilibrium) {
        SimulationOptions o = options(GetParam(), "rk4");
        o.from_equilibrium = from_equilibrium;
        Simulation s(model, o);
        MotionView view;
        s.observer().compute_view(s.state(), false, view);
        const ModelEvaluation numbers(model);
        Vec3 sum = Vec3::Zero();
        double mass = 0;
        std::size_t b = 0;
        for (const auto handle : model.bodies.handles()) {
            if (handle == model.ground()) continue;
            const double m = numbers.mass_properties(handle).mass;
            sum += m * view.centres[b++];
            mass += m;
        }
        return Vec3(sum / mass);
    };
    const Vec3 drawn = centre(false);
    const Vec3 settled = centre(true);
    EXPECT_NEAR(settled.x(), drawn.x(), 1e-12);
    EXPECT_NEAR(settled.y(), drawn.y(), 1e-12);
    EXPECT_LT(settled.z(), drawn.z() - 1e-3);
}

}  // namespace
}  // namespace limber::testing
