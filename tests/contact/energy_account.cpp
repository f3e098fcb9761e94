// What contacts do to energy and momentum, as results tell it: swings that must not grow, losses, impulses and the
// residual of the conditions of contact.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/energy.hpp"
#include "support/models.hpp"
#include "support/stepping.hpp"

namespace limber {
namespace {

using namespace testing;

constexpr double g = 9.81;

// A bar that hangs over a peg with its weight below. A step moves the weight along the tangent, and parting what then
// overlaps takes it up the arc: if nothing paid for that the swing would grow.
constexpr double peg = 0.02;
constexpr double arm = 0.12;  // from the bar's lower side to the centre of mass
constexpr double inertia = 0.002;

Simulation swinging_frame() {
    return stepping(R"(
limber: 1
plane: xy
bodies:
  ground: {shapes: [{sphere: {radius: 0.02}}]}
  frame:
    mass: 1
    inertia: 0.002
    at: [0, -0.1]
    velocity: [0.12, 0]
    angular-velocity: 1
    shapes: [{box: {size: [0.4, 0.01], at: [0, 0.125]}}]
contacts: {hang: {rigid: [frame, ground], friction: 0.8}}
sensors: {place: {position: frame}}
)");
}

TEST(SwingingFrame, NeverGainsEnergyAndLosesLessWithSmallerSteps) {
    const auto lost = [](double h) {
        Simulation s = swinging_frame();
        const double start = mechanical_energy(s);
        double last = start;
        for (int k = 0; k < std::lround(2 / h); ++k) {
            EXPECT_TRUE(s.step(h).ok);
            const double now = mechanical_energy(s);
            EXPECT_LE(now, last + 1e-12) << s.time();
            last = now;
        }
        return start - last;
    };
    const double coarse = lost(2e-3);
    const double fine = lost(1e-3);
    const double swing = 0.5 * (inertia + arm * arm);  // kinetic energy at one radian a second
    EXPECT_LT(coarse, swing);
    // Of first order in the step.
    EXPECT_GT(coarse / fine, 1.6);
}

// Rolling on the peg without slip: small swings have w^2 = g (r + d)/(k^2 + d^2).
TEST(SwingingFrame, HasThePeriodOfAPendulumThatRolls) {
    const double h = 1e-4;
    Simulation s = swinging_frame();
    std::vector<double> crossings;
    double last = 0;
    for (int k = 0; k < std::lround(1.2 / h); ++k) {
        ASSERT_TRUE(s.step(h).ok);
        const double x = sense(s, "place.x");
        if (k > 0 && last * x < 0) crossings.push_back(s.time() - h * x / (x - last));
        last = x;
    }
    ASSERT_GE(crossings.size(), 3U);
    const double half_period = std::acos(-1.0) / std::sqrt(g * (peg + arm) / (inertia + arm * arm));
    // Larger swings take longer by a part of the square of their angle, 0.11 at first; and the method is of first
    // order: h of a half period.
    EXPECT_NEAR(crossings[1] - crossings[0], half_period, half_period * 0.11 * 0.11 + h);
}

// A ball falls, stays, and is carried: what pushed it has balanced its weight all the time, and taken its momentum.
TEST(ContactAccount, ImpulsesBalanceTheWeight) {
    Simulation s = stepping(R"(
limber: 1
bodies:
  ground: {shapes: [{plane: {}}]}
  ball: {sphere: {radius: 0.1, mass: 2}, at: [0, 0, 0.3], velocity: [0, 0, -1]}
contacts: {floor: {rigid: [ball, ground], restitution: 0.5}}
sensors: {floor: {contact: floor}, lost: {energy: impacts}, off: {error: complementarity}}
)");
    const double start = mechanical_energy(s);
    run(s, 3, 1e-3);
    EXPECT_NEAR(sense(s, "floor.impulse"), 2 * (1 + g * 3), 1e-9);
    // All of it is gone but what rests: the height of the centre, by the overlap that is allowed.
    EXPECT_NEAR(sense(s, "lost"), start - 2 * g * 0.1, 2 * g * 1e-7);
    EXPECT_LT(sense(s, "off"), 1e-10 * g * 1e-3 * 1e-3);
}

// Of every step: what bodies have and what contacts have taken is the same. Boxes that turn about no axis of theirs, so
// that turning freely takes part.
TEST(ContactAccount, LossesCloseTheBalance) {
    for (const double restitution : {0.0, 0.9}) {
        Simulation s = stepping(fmt::format(R"(
limber: 1
bodies:
  ground: {{shapes: [{{plane: {{}}}}]}}
  one: {{box: {{size: [0.1, 0.2, 0.05], mass: 1}}, at: [0, 0, 0.2], xyz: [0.3, 0.5, 0.1], angular-velocity: [5, -9, 3]}}
  two: {{box: {{size: [0.1, 0.1, 0.15], mass: 2}}, at: [0.02, 0, 0.45], xyz: [1, 0.2, 0.4], angular-velocity: [-4, 7, 2]}}
contacts: {{all: {{rigid: [all, all], friction: 0.3, restitution: {}}}}}
sensors: {{lost: {{energy: impacts}}}}
)",
                                            restitution));
        const double start = mechanical_energy(s);
        double most = 0;
        for (int k = 0; k < 1000; ++k) {
            ASSERT_TRUE(s.step(1e-3).ok);
            // A sum of a thousand numbers of some joules.
            ASSERT_NEAR(mechanical_energy(s) + sense(s, "lost"), start, 1e-11 * start) << s.time();
            most = std::max(most, sense(s, "lost"));
        }
        EXPECT_GT(most, 0.2 * start);
    }
}

// Stops by events are closed to rounding and never overlap. Held by a penalty r a block that falls from the height z
// gives way by d, m g (z + d) = r d^2/2.
TEST(ContactAccount, StopsTellHowFarTheyAreOff) {
    const Model model = read(R"(
limber: 1
bodies:
  block: {mass: 2, inertia: [1, 1, 1], at: [0, 0, 0.01]}
joints: {rail: {prismatic: [ground, block], axis: [0, 0, 1]}}
stops: {floor: {limit: rail.displacement, min: 0}}
sensors: {off: {error: complementarity}}
)");
    const auto largest = [&](const SimulationOptions& options) {
        Simulation s(model, options);
        double most = 0;
        for (int k = 0; k < 2000; ++k) {
            EXPECT_TRUE(s.step(1e-4).ok);
            most = std::max(most, sense(s, "off"));
        }
        return most;
    };
    EXPECT_LT(largest({}), 1e-12);
    SimulationOptions soft;
    soft.formulation = "semi-recursive";
    soft.coordinates = "relative";
    soft.integrator = "trapezoidal";
    soft.contact_options.treatment = ContactTreatment::penalty;
    soft.contact_options.stiffness = 1e5;
    const double weight = 2 * g;
    const double depth = (weight + std::sqrt(weight * (weight + 2 * 1e5 * 0.01))) / 1e5;
    // A step sees the depth near its largest, and begins within one: (w h)^2 of it, w^2 = r/m.
    EXPECT_NEAR(largest(soft), depth, 1e5 / 2 * 1e-8 * depth);
}

}  // namespace
}  // namespace limber
