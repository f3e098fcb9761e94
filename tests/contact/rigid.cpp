// Rigid bodies in contact by time-stepping, against closed forms.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/energy.hpp"
#include "support/models.hpp"
#include "support/stepping.hpp"

namespace limber {
namespace {

using namespace testing;

constexpr double g = 9.81;

TEST(MoreauJean, FreeFlightIsExactAndKeepsItsEnergy) {
    Simulation s = stepping(R"(
limber: 1
bodies:
  brick: {box: {size: [0.3, 0.2, 0.1], mass: 2}, at: [0, 0, 1], velocity: [1, 0, 3], angular-velocity: [3, 0.1, 2]}
sensors: {place: {position: brick}}
)");
    const double before = mechanical_energy(s);
    run(s, 1, 1e-3);
    EXPECT_NEAR(sense(s, "place.x"), 1, 1e-12);
    EXPECT_NEAR(sense(s, "place.z"), 1 + 3 - g / 2, 1e-12);
    EXPECT_NEAR(mechanical_energy(s), before, 1e-11);
}

TEST(MoreauJean, BallBouncesToTheHeightItsRestitutionAllows) {
    // Falls 1 m; after the first impact it rises to e^2 of that, the next impact comes 2 e sqrt(2 h/g) later.
    for (const double e : {0.0, 0.5, 1.0}) {
        Simulation s = stepping(fmt::format(R"(
limber: 1
bodies:
  ground: {{shapes: [{{plane: {{}}}}]}}
  ball: {{sphere: {{radius: 0.1, mass: 1}}, at: [0, 0, 1.1]}}
contacts: {{floor: {{rigid: [ball, ground], restitution: {}}}}}
sensors: {{place: {{position: ball}}}}
)",
                                            e));
        const double fall = std::sqrt(2 / g);
        run(s, fall * (1 + e), 1e-4);
        EXPECT_NEAR(sense(s, "place.z"), 0.1 + e * e, 2e-3);
        EXPECT_LE(mechanical_energy(s), g * 1.1 + 1e-9);
    }
}

std::string brick_on_slope(double friction, double angle) {
    return fmt::format(R"(
limber: 1
gravity: [{}, 0, {}]
bodies:
  ground: {{shapes: [{{plane: {{}}}}]}}
  brick: {{box: {{size: [0.2, 0.1, 0.06], mass: 3}}, at: [0, 0, 0.03]}}
contacts: {{slope: {{rigid: [brick, ground], friction: {}}}}}
sensors: {{place: {{position: brick}}, speed: {{velocity: brick}}}}
)",
                       g * std::sin(angle), -g * std::cos(angle), friction);
}

TEST(MoreauJean, BrickSticksBelowTheFrictionAngleForAMinute) {
    const double friction = 0.5;
    Simulation s = stepping(brick_on_slope(friction, std::atan(0.99 * friction)));
    run(s, 60, 5e-3);
    EXPECT_NEAR(sense(s, "place.x"), 0, 1e-9);
    EXPECT_NEAR(sense(s, "place.z"), 0.03, 1e-9);
    EXPECT_NEAR(sense(s, "speed.x"), 0, 1e-9);
}

TEST(MoreauJean, BrickSlidesBeyondTheFrictionAngle) {
    const double friction = 0.5;
    const double angle = std::atan(1.01 * friction);
    Simulation s = stepping(brick_on_slope(friction, angle));
    run(s, 60, 5e-3);
    const double a = g * (std::sin(angle) - friction * std::cos(angle));
    EXPECT_NEAR(sense(s, "speed.x"), a * 60, 1e-6 * a * 60);
    EXPECT_NEAR(sense(s, "place.x"), a * 1800, a * 60 * 5e-3);  // first order
    EXPECT_NEAR(sense(s, "place.z"), 0.03, 1e-8);
}

// mu m g slows the ball down and spins it up until v = w r: at 2 v0/(7 mu g), with 5/7 of the speed.
TEST(MoreauJean, BallSlidesThenRolls) {
    const double friction = 0.3;
    const double v0 = 7;
    Simulation s = stepping(fmt::format(R"(
limber: 1
bodies:
  ground: {{shapes: [{{plane: {{}}}}]}}
  ball: {{sphere: {{radius: 0.1, mass: 1}}, at: [0, 0, 0.1], velocity: [{}, 0, 0]}}
contacts: {{floor: {{rigid: [ball, ground], friction: {}}}}}
sensors: {{speed: {{velocity: ball}}, spin: {{angular-velocity: ball}}}}
)",
                                        v0, friction));
    const double rolls_at = 2 * v0 / (7 * friction * g);
    const double h = 1e-3;
    run(s, rolls_at - 2 * h, h);
    EXPECT_NEAR(sense(s, "speed.x"), v0 - friction * g * (rolls_at - 2 * h), 1e-9);
    EXPECT_GT(sense(s, "speed.x") - 0.1 * sense(s, "spin.y"), 1e-3);  // still slides
    run(s, rolls_at + 2 * h, h);
    EXPECT_NEAR(sense(s, "speed.x"), 5.0 / 7 * v0, 1e-9);
    EXPECT_NEAR(0.1 * sense(s, "spin.y"), 5.0 / 7 * v0, 1e-9);
    run(s, 5, h);
    EXPECT_NEAR(sense(s, "speed.x"), 5.0 / 7 * v0, 1e-9);
}

// Rolling resistance rho slows a rolling ball by 5/7 rho g / r.
TEST(MoreauJean, RollingResistanceStopsABall) {
    const double rho = 0.002;
    Simulation s = stepping(fmt::format(R"(
limber: 1
bodies:
  ground: {{shapes: [{{plane: {{}}}}]}}
  ball: {{sphere: {{radius: 0.1, mass: 1}}, at: [0, 0, 0.1], velocity: [1, 0, 0], angular-velocity: [0, 10, 0]}}
contacts: {{floor: {{rigid: [ball, ground], friction: 0.3, rolling: {}}}}}
sensors: {{speed: {{velocity: ball}}}}
)",
                                        rho));
    const double slowing = 5.0 / 7 * rho * g / 0.1;
    run(s, 1, 1e-3);
    EXPECT_NEAR(sense(s, "speed.x"), 1 - slowing, 1e-9);
    run(s, 1 / slowing + 0.1, 1e-3);
    EXPECT_NEAR(sense(s, "speed.x"), 0, 1e-9);
}

// A coin that lies flat and spins: friction at its rim, 2 mu g / R against the spin.
TEST(MoreauJean, FlatSpinningCoinStopsInTime) {
    Simulation s = stepping(R"(
limber: 1
bodies:
  ground: {shapes: [{plane: {}}]}
  coin: {cylinder: {radius: 0.02, length: 0.002, mass: 0.01}, at: [0, 0, 0.001], angular-velocity: [0, 0, 50]}
contacts: {floor: {rigid: [coin, ground], friction: 0.2}}
sensors: {spin: {angular-velocity: coin}, place: {position: coin}}
)");
    const double slowing = 2 * 0.2 * g / 0.02;
    run(s, 0.1, 1e-3);
    EXPECT_NEAR(sense(s, "spin.z"), 50 - slowing * 0.1, 1e-6);
    run(s, 50 / slowing + 0.01, 1e-3);
    EXPECT_NEAR(sense(s, "spin.z"), 0, 1e-9);
    EXPECT_NEAR(sense(s, "place.z"), 0.001, 1e-9);
}

// Housner's block: from a tilt q0 it comes back to upright after acosh(1/(1 - q0/alpha))/p (small angles), and leaves
// with 1 - 3/2 sin^2(alpha) of its rate.
TEST(MoreauJean, RockingBlockComesBackInHousnersTime) {
    const double b = 0.1;
    const double height = 0.4;
    const double alpha = std::atan(b / height);
    const double q0 = 0.05;
    Simulation s = stepping(fmt::format(R"(
limber: 1
plane: xy
bodies:
  ground: {{shapes: [{{plane: {{}}}}]}}
  block: {{box: {{size: [{}, {}], mass: 5}}, at: [{}, {}], angle: {}}}
contacts: {{floor: {{rigid: [block, ground], friction: 2}}}}
sensors: {{rate: {{angular-velocity: block}}, place: {{position: block}}}}
)",
                                        b, height, b / 2 * std::cos(q0) - height / 2 * std::sin(q0),
                                        b / 2 * std::sin(q0) + height / 2 * std::cos(q0), q0));
    // About the corner the inertia is 4/3 m R^2, R half the diagonal; the centre sinks by R (cos(alpha - q0) -
    // cos(alpha)).
    const double radius = std::hypot(b, height) / 2;
    const double arrives_with = std::sqrt(1.5 * g / radius * (std::cos(alpha - q0) - std::cos(alpha)));
    const double h = 1e-4;
    double largest = 0;
    double after = 0;
    double turned_at = 0;
    for (int k = 0; k < 20000 && after == 0; ++k) {
        ASSERT_TRUE(s.step(h).ok);
        const double rate = std::abs(sense(s, "rate"));
        if (rate < largest - 1e-3) {
            // A gap may take two steps to close.
            ASSERT_TRUE(s.step(h).ok);
            after = std::abs(sense(s, "rate"));
            turned_at = s.time();
        }
        largest = std::max(largest, rate);
    }
    EXPECT_NEAR(largest, arrives_with, 5e-3 * arrives_with);
    EXPECT_NEAR(after / largest, 1 - 1.5 * std::pow(std::sin(alpha), 2), 2e-3);
    const double p = std::sqrt(0.75 * g / radius);
    EXPECT_NEAR(turned_at, std::acosh(1 / (1 - q0 / alpha)) / p, 0.03 * turned_at);
}

// Case C1 by time-stepping: instant, impulse and energy of the first impact are those of the exact treatment, to first
// order in the step.
TEST(MoreauJean, DoublePendulumAgainstAWallConverges) {
    const struct {
        const char* restitution;
        double impulse, energy;
    } cases[] = {{"1", 4.13172356, -7.3575}, {"0.5", 3.09879267, -12.11360862}};
    for (const auto& expected : cases) {
        const auto follow = [&](double h, double tolerance) {
            Simulation s(example("contact/double-pendulum-rigid.yaml", {{"e", expected.restitution}}),
                         options("global", "moreau-jean"));
            double first = 0;
            double impulse = 0;
            while (s.time() < 0.69) {
                ASSERT_TRUE(s.step(h).ok);
                impulse += h * sense(s, "tip_wall.normal");
                if (first == 0 && impulse > 0) first = s.time();
            }
            EXPECT_NEAR(first, 0.655423130, 2 * h);
            EXPECT_NEAR(impulse, expected.impulse, tolerance);
            EXPECT_NEAR(sense(s, "energy"), expected.energy, tolerance);
        };
        follow(1e-3, 0.1);
        follow(1e-4, 0.01);
    }
}

TEST(MoreauJean, HingedRodComesToRestOnTheFloor) {
    // A rod hinged at the height 0.3 falls from horizontal: joints and contacts in one problem.
    Simulation s = stepping(R"(
limber: 1
bodies:
  ground: {shapes: [{plane: {}}]}
  arm: {rod: {from: [0, 0, 0.3], to: [0.5, 0, 0.3], radius: 0.02, mass: 1}}
joints: {pin: {revolute: [ground, arm.from], at: arm.from, axis: [0, 1, 0]}}
contacts: {floor: {rigid: [arm, ground], friction: 0.4, joined: true}}
sensors: {tip: {position: arm.to}, off: {error: position}, rate: {angular-velocity: arm}}
)");
    // A step moves points along straight lines, by which the tip leaves its circle by L (w h)^2/2. Where that is below
    // the floor it is lifted again in the step after; overlaps below 1e-7 of the size of the mechanism are left alone.
    const double h = 1e-3;
    const double weight = 1 * g;
    const double length = 0.5;
    double last = mechanical_energy(s);
    double turned = 0;  // the larger of the last two steps
    for (int k = 0; k < 3000; ++k) {
        const double before = std::abs(sense(s, "rate.y")) * h;
        ASSERT_TRUE(s.step(h).ok);
        const double now = mechanical_energy(s);
        const double lifted = length * std::pow(std::max(turned, before), 2) / 2 + 1e-7 * length;
        EXPECT_LE(now, last + weight * lifted) << s.time() << " " << now - last;
        turned = before;
        last = now;
        EXPECT_LT(sense(s, "off"), 1e-9);
    }
    EXPECT_NEAR(sense(s, "tip.z"), 0.02, 1e-5);
}

// What a driver moves knows no mercy: no impulse keeps a ball out of the press and the floor.
TEST(MoreauJean, CrushedBallIsReported) {
    Simulation s = stepping(R"(
limber: 1
bodies:
  ground: {shapes: [{plane: {}}], markers: {top: [0, 0, 1]}}
  ball: {sphere: {radius: 0.1, mass: 1}, at: [0, 0, 0.1]}
  press: {box: {size: [1, 1, 0.1], mass: 5}, at: [0, 0, 0.27], velocity: [0, 0, -1]}
joints: {rail: {prismatic: [ground.top, press], axis: [0, 0, 1]}}
drivers: {drive: {coordinate: rail.displacement, follows: -0.73 - t}}
contacts: {squeeze: {rigid: [all, all], friction: 0.3}}
)");
    StepReport report;
    for (int k = 0; k < 50 && report.ok; ++k) report = s.step(1e-3);
    EXPECT_FALSE(report.ok);
    EXPECT_NEAR(s.time(), 0.02, 2e-3);  // 2 cm at 1 m/s
    EXPECT_NE(report.reason.find("contact 'squeeze'"), std::string::npos) << report.reason;
    EXPECT_NE(report.reason.find("off by"), std::string::npos) << report.reason;
}

// Each touches all others: what that would need grows with the square of their number, and its factors with the cube.
TEST(MoreauJean, HundredsOfBodiesInOnePlaceAreReported) {
    Simulation s = stepping(R"(
limber: 1
bodies:
  for i in 1..500:
    b<i>: {sphere: {radius: 1, mass: 1}, at: [i/10000, 0, 0]}
contacts: {all: {rigid: [all, all]}}
)");
    const StepReport report = s.step(1e-3);
    EXPECT_FALSE(report.ok);
    EXPECT_EQ(report.reason.find("bodies touch at more than 100000 points"), 0U) << report.reason;
    EXPECT_NE(report.reason.find("place them apart"), std::string::npos) << report.reason;
}

TEST(MoreauJean, PendulumWithoutContactKeepsItsEnergy) {
    Simulation s = stepping(R"(
limber: 1
bodies: {arm: {rod: {from: [0, 0, 0], to: [1, 0, 0], mass: 1}}}
joints: {pin: {revolute: [ground, arm.from], axis: [0, 1, 0]}}
)");
    // Of second order without contacts: a quarter of the error with half the step.
    const State start = s.state();
    const auto largest_error = [&](double h) {
        s.restore(start);
        const double before = mechanical_energy(s);
        double largest = 0;
        for (int k = 0; k < std::lround(2 / h); ++k) {
            EXPECT_TRUE(s.step(h).ok);
            largest = std::max(largest, std::abs(mechanical_energy(s) - before));
        }
        return largest;
    };
    const double coarse = largest_error(2e-3);
    EXPECT_NEAR(coarse / largest_error(1e-3), 4, 0.2);
}

// Boxes and balls thrown into a corner: energy never grows, nothing sinks in.
TEST(MoreauJean, HeapNeverGainsEnergy) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> unit(-1, 1);
    for (const double restitution : {0.0, 0.6}) {
        std::string bodies;
        for (int i = 0; i < 12; ++i) {
            const std::string solid =
                i % 2 == 0 ? "sphere: {radius: 0.05, mass: 0.5}" : "box: {size: [0.12, 0.08, 0.06], mass: 0.5}";
            bodies += fmt::format(
                "  b{}: {{{}, at: [{:.3f}, {:.3f}, {:.3f}], xyz: [{:.2f}, {:.2f}, {:.2f}], velocity: [{:.2f}, {:.2f}, "
                "0]}}\n",
                i, solid, 0.1 * (i % 3) + 0.01 * unit(random), 0.15 * (i % 2), 0.2 + 0.13 * i, unit(random),
                unit(random), unit(random), unit(random), unit(random));
        }
        Simulation s = stepping(fmt::format(R"(
limber: 1
bodies:
  ground: {{shapes: [{{plane: {{}}}}, {{plane: {{at: [-0.2, 0, 0], z: [1, 0, 0]}}}}, {{plane: {{at: [0.4, 0, 0], z: [-1, 0, 0]}}}}]}}
{}
contacts: {{all: {{rigid: [all, all], friction: 0.4, restitution: {}}}}}
)",
                                            bodies, restitution));
        const double start = mechanical_energy(s);
        double last = start;
        for (int k = 0; k < 1500; ++k) {
            ASSERT_TRUE(s.step(2e-3).ok);
            const double now = mechanical_energy(s);
            // Impulses are found to 1e-10 of the velocities that come in.
            EXPECT_LE(now, last + 1e-10 * start) << s.time();
            last = now;
            for (const ContactPoint& c : s.state().contacts) EXPECT_GT(c.gap, -1e-7) << s.time();
        }
    }
}

}  // namespace
}  // namespace limber
