// The longitudinal force of tyres, against the brush model's formulas and steady driving and braking worked out here.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/kinematics/forces/tyre.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr double slip_stiffness = 60000, grip = 0.9;

// F of a slip, load N: bristles that stick over a part of the contact, and slide over the rest.
double brush_force(double slip, double load) {
    const double x = std::abs(slip_stiffness * slip) / (grip * load);
    const double size = x < 3 ? grip * load * (x - x * x / 3 + x * x * x / 27) : grip * load;
    return slip < 0 ? -size : size;
}

// Of total mass m on a wheel of inertia I, height h under its centre and constant slip s = (h w - v) / (h w): the
// torque
//   T = F h + I w' with  F = m v',  v = h w (1 - s)
double steady_slip(double torque, double mass, double inertia, double height, double load) {
    double low = -0.2;
    double high = 0.2;
    for (int i = 0; i < 100; ++i) {
        const double s = (low + high) / 2;
        const double f = brush_force(s, load);
        (f * height + inertia * f / (mass * height * (1 - s)) < torque ? low : high) = s;
    }
    return low;
}

struct SteadyRun {
    double slip, force, acceleration, load;
};

// What drives the wheel ahead, in space and in the plane.
Model driven_by(std::string text, const std::string& law) {
    const std::string given = "law: torque";
    const std::size_t place = text.find(given);
    text.replace(place, given.size(), "law: \"" + law + "\"");
    return read(text);
}

SteadyRun measure_steady(const std::string& text, double torque, const char* formulation, const char* integrator) {
    Simulation s(driven_by(text, std::to_string(torque)), options(formulation, integrator));
    // What the start has shaken fades within the first second. The wheel turns by 0.025 rad in a step.
    EXPECT_TRUE(s.advance(1.0, 2.5e-4).ok);
    const double before = sense(s, "sledge.x");
    EXPECT_TRUE(s.advance(1.2, 2.5e-4).ok);
    return {sense(s, "wheel.slip-ratio"), sense(s, "wheel.longitudinal"), (sense(s, "sledge.x") - before) / 0.2,
            sense(s, "wheel.normal")};
}

const std::string in_space = R"(
limber: 1
roads: {flat: {height: 0}}
bodies:
  sledge: {mass: 100, inertia: [1, 1, 1], at: [0, 0, 1], velocity: [30, 0, 0]}
  strut: {mass: 250, inertia: [1, 1, 1], at: [0, 0, 0.6], velocity: [30, 0, 0]}
  rim: {mass: 20, inertia: [0.6, 0.6, 1], at: [0, 0, 0.306757], turn: [1, 0, 0, -90 deg], velocity: [30, 0, 0], angular-velocity: [0, 97.797, 0]}
joints:
  track: {prismatic: [ground, sledge], at: [0, 0, 1], axis: [1, 0, 0]}
  suspension: {prismatic: [sledge, strut], at: [0, 0, 0.6], axis: [0, 0, 1]}
  axle: {revolute: [strut, rim], at: [0, 0, 0.306757], axis: [0, 1, 0]}
forces:
  engine: {motor: axle.angle, law: torque}
  tyre: {tyre: rim, road: flat, radius: 0.32, stiffness: 200000, damping: 8000, longitudinal: {stiffness: 60000, friction: 0.9}}
sensors: {wheel: {tyre: tyre}, sledge: {velocity: sledge}}
)";
const std::string in_plane = R"(
limber: 1
plane: xy
roads: {flat: {height: 0}}
bodies:
  sledge: {mass: 100, inertia: [1], at: [0, 1], velocity: [30, 0]}
  strut: {mass: 250, inertia: [1], at: [0, 0.6], velocity: [30, 0]}
  rim: {mass: 20, inertia: [1], at: [0, 0.306757], velocity: [30, 0], angular-velocity: -97.797}
joints:
  track: {prismatic: [ground, sledge], at: [0, 1], axis: [1, 0]}
  suspension: {prismatic: [sledge, strut], at: [0, 0.6], axis: [0, 1]}
  axle: {revolute: [rim, strut], at: [0, 0.306757]}
forces:
  engine: {motor: axle.angle, law: torque}
  tyre: {tyre: rim, road: flat, radius: 0.32, stiffness: 200000, damping: 8000, longitudinal: {stiffness: 60000, friction: 0.9}}
sensors: {wheel: {tyre: tyre}, sledge: {velocity: sledge}}
)";

TEST(TyreDrive, SettlesAtTheSlipOfItsTorque) {
    constexpr double mass = 370;
    const double load = 270 * 9.81;  // the track carries the sledge
    const double height = 0.32 - load / 200000;
    for (const std::string& text : {in_space, in_plane})
        for (const auto& [formulation, integrator] :
             {std::pair{"augmented-lagrangian", "rk4"}, std::pair{"global", "trapezoidal"},
              std::pair{"semi-recursive", "trapezoidal"}, std::pair{"articulated-body", "rk4"}})
            for (const double torque : {300.0, 600.0, -300.0, -650.0}) {
                SCOPED_TRACE(::testing::Message() << formulation << " " << torque << text.substr(10, 9));
                const SteadyRun run = measure_steady(text, torque, formulation, integrator);
                const double slip = steady_slip(torque, mass, 1, height, load);
                const double force = brush_force(slip, load);
                EXPECT_NEAR(run.load, load, 1e-4 * load);
                // The slow speed of 0.1 m/s takes 1e-5 of the slip.
                EXPECT_NEAR(run.slip, slip, 1e-4 * std::abs(slip));
                EXPECT_NEAR(run.force, force, 1e-4 * std::abs(force));
                EXPECT_NEAR(run.acceleration, force / mass, 1e-4 * std::abs(force / mass));
            }
}

// More torque than the road holds: the wheel stops, and the sledge is braked by friction alone.
TEST(TyreDrive, LocksUnderTooMuchTorque) {
    Simulation s(driven_by(in_space, "-5000*tanh(10*v)"), options("global", "trapezoidal"));
    ASSERT_TRUE(s.advance(0.5, 2e-4).ok);
    EXPECT_NEAR(sense(s, "wheel.longitudinal"), -grip * 270 * 9.81, 1e-3 * 270 * 9.81);
    EXPECT_LT(sense(s, "wheel.slip-ratio"), -10);
    const double before = sense(s, "sledge.x");
    ASSERT_TRUE(s.advance(1, 2e-4).ok);
    EXPECT_NEAR((sense(s, "sledge.x") - before) / 0.5, -grip * 9.81 * 270 / 370, 1e-3 * 9.81);
}

// Side slip and drive share the friction; the work of sliding is always lost.
TEST(TyreDrive, SharesItsFrictionWithTheSide) {
    TyreLaw law;
    auto road = std::make_shared<RoadProfile>();
    law.road = road;
    law.stiffness = 460000;
    law.radius = 0.364;
    law.lateral =
        CalspanCoefficients{2625, 14.47, 12930, 2.29, 18175, -0.464e-4, 1.216, 2.18e-11, 1.0274, -0.171e-4, 0.171e-4};
    law.longitudinal = BrushCoefficients{slip_stiffness, grip, 0.1};
    const double load = 4000;
    const double height = law.radius - load / law.stiffness;
    const double mu = (-0.464e-4 * load + 1.216 + 2.18e-11 * load * load) * 1.0274;
    for (const double slip : {-0.8, -0.05, -0.01, 0.0, 0.02, 0.3})
        for (const double alpha : {-0.1, -0.02, 0.0, 0.05}) {
            SCOPED_TRACE(::testing::Message() << slip << " " << alpha);
            const double rolling = 20;  // h w
            const double ahead = rolling * (1 - slip);
            const WheelMotion wheel{Vec3(0, 0, height), Vec3::UnitY(), Vec3(ahead, ahead * std::tan(alpha), 0),
                                    rolling / height};
            const double x = slip_stiffness * slip / (grip * load);
            const double y =
                (14.47 * load * (load - 12930) - 2625 * 12930) / (12930 * mu * load) * alpha * ahead / rolling;
            const double both = std::hypot(x, y);
            const double share = both < 3 ? 1 - both / 3 + both * both / 27 : 1 / both;
            const TyreWrench w = evaluate_tyre(law, false, wheel);
            EXPECT_NEAR(w.force.x(), grip * load * share * x, 2e-4 * load * std::abs(x) * share + 1e-9);
            EXPECT_NEAR(w.force.y(), mu * load * share * y, 2e-4 * load * std::abs(y) * share + 1e-9);
            EXPECT_NEAR(w.moment.y(), -height * w.force.x(), 1e-9 * load);
            const TyreContact contact = measure_tyre(law, false, wheel);
            EXPECT_NEAR(contact.slip_ratio, slip, 1e-4 * std::abs(slip) + 1e-12);
            // Force times sliding: nothing is gained.
            EXPECT_LE(w.force.x() * (ahead - rolling), 0);
            // Derivatives, by differences.
            TyreTangent tangent;
            evaluate_tyre(law, false, wheel, tangent);
            constexpr double d = 1e-6;
            const auto slope = [&](auto change) {
                WheelMotion more = wheel;
                WheelMotion less = wheel;
                change(more, d);
                change(less, -d);
                const TyreWrench a = evaluate_tyre(law, false, more);
                const TyreWrench b = evaluate_tyre(law, false, less);
                Eigen::Matrix<double, 6, 1> column;
                column << (a.force - b.force) / (2 * d), (a.moment - b.moment) / (2 * d);
                return column;
            };
            const double size = 1e-4 * load;
            EXPECT_LT((slope([](WheelMotion& m, double by) { m.spin += by; }) - tangent.by_spin).norm(), size);
            for (int k = 0; k < 3; ++k) {
                EXPECT_LT((slope([&](WheelMotion& m, double by) { m.velocity[k] += by; }) - tangent.by_velocity.col(k))
                              .norm(),
                          size);
                // A vertical stiffness of 460000 N/m is in the scale.
                EXPECT_LT((slope([&](WheelMotion& m, double by) { m.axis[k] += by; }) - tangent.by_axis.col(k)).norm(),
                          50 * size);
                EXPECT_LT(
                    (slope([&](WheelMotion& m, double by) { m.centre[k] += by; }) - tangent.by_centre.col(k)).norm(),
                    50 * size);
            }
        }
}

// Driven and braked: what is put in is found again, or lost in the tyre.
TEST(TyreDrive, KeepsTheBalanceOfEnergy) {
    for (const std::string& text : {in_space, in_plane}) {
        Simulation s(driven_by(text, "400*cos(6*t)"), options("global", "trapezoidal"));
        s.watch_work(true);
        s.begin_account();
        const double start = s.account().start;
        ASSERT_TRUE(s.advance(2, 5e-4).ok);
        const double drift = s.account().find_drift(s.observer().compute_energies(s.state()));
        EXPECT_LT(std::abs(drift), 1e-4 * start);
    }
}

}  // namespace
}  // namespace limber::testing
