// A coin on its rim: steady motions with closed forms.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

// See the example: the centre stays where it is while the coin goes round, with an error of first order in the step, as
// that of the force is; no larger than the way that the point of contact makes in a step.
TEST(Coin, RollsAroundItsCentre) {
    const double turn = 2 * pi / std::sqrt(4 * 9.81 / (0.1 * 0.5));
    struct Error {
        double distance, force;
    };
    const auto error_with = [&](double step) {
        Simulation simulation(example("contact/spinning-coin.yaml"), options("global", "moreau-jean"));
        const StepReport report = simulation.advance(turn, step);
        EXPECT_TRUE(report.ok) << report.reason;
        return Error{std::hypot(sense(simulation, "centre.x"), sense(simulation, "centre.y"),
                                sense(simulation, "centre.z") - 0.05),
                     std::abs(sense(simulation, "table.normal") - 0.05 * 9.81)};
    };
    const Error coarse = error_with(turn / 500);
    const Error fine = error_with(turn / 2000);
    EXPECT_LT(fine.distance, 2 * pi * 0.1 * std::cos(pi / 6) / 2000);
    // Errors of second order change the ratio by less than a tenth.
    EXPECT_NEAR(coarse.distance / fine.distance, 4, 0.4);
    EXPECT_NEAR(coarse.force / fine.force, 4, 0.4);
}

// The same by events, without slip: exact but for rk4, (2 pi/500)^4/120 per radian, which is 1.3e-9 in a turn; of
// energy one order less.
TEST(Coin, RollsAroundItsCentreOnAWall) {
    const double turn = 2 * pi / std::sqrt(4 * 9.81 / (0.1 * 0.5));
    for (const char* formulation : {"global", "augmented-lagrangian", "null-space"}) {
        Simulation simulation(example("contact/spinning-coin-walls.yaml"), options(formulation, "rk4"));
        const double energy = sense(simulation, "energy");
        const StepReport report = simulation.advance(turn, turn / 500);
        ASSERT_TRUE(report.ok) << report.reason;
        EXPECT_NEAR(sense(simulation, "push"), 0.05 * 9.81, 2e-9) << formulation;
        EXPECT_NEAR(sense(simulation, "energy"), energy, 2e-11) << formulation;
        EXPECT_LT(std::hypot(sense(simulation, "centre.x"), sense(simulation, "centre.y"),
                             sense(simulation, "centre.z") - 0.05),
                  2e-9)
            << formulation;
        // Drawn where the rim touches, which has come back to where it was.
        MotionView view;
        simulation.observer().compute_view(simulation.state(), false, view);
        ASSERT_EQ(view.contacts.size(), 1U);
        EXPECT_LT((view.contacts[0].point - Vec3(-0.1 * std::cos(pi / 6), 0, 0)).norm(), 2e-9) << formulation;
    }
}

// Dropped at a tilt, without friction: the rim strikes radius cos(tilt) beside the centre, the moment of inertia about
// a diameter is m r^2/4.
TEST(Coin, FallsOnItsRim) {
    Simulation simulation(
        example("contact/spinning-coin-walls.yaml", {{"turns", "0"}, {"height", "0.05"}, {"mu", "0"}, {"e", "0.4"}}),
        options("global", "rk4"));
    const double speed = std::sqrt(2 * 9.81 * 0.05);
    double struck_at = 0;
    while (struck_at == 0 && simulation.time() < 1) {
        const StepReport report = simulation.step(1e-3);
        ASSERT_TRUE(report.ok) << report.reason;
        for (const ContactEvent& event : report.events)
            if (event.kind == ContactEvent::Kind::impact) struck_at = event.t;
    }
    EXPECT_NEAR(struck_at, speed / 9.81, 1e-9);
    EXPECT_NEAR(sense(simulation, "impulse"), 1.4 * 0.05 * speed / (1 + 4 * 0.75), 1e-9);
}

// Upright and turning about the vertical, without slip: it stays up if rate^2 > c := 4 g/(5 a), a the radius. A thin
// disc (m a^2/4 about a diameter, m a^2/2 about its axis) that leans a little and turns about its axis at s obeys
//   5/4 lean'' = (g/a - rate^2/4) lean + 3/2 rate s,   s' = -2/3 rate lean'
// Its lean at the start is l. The velocities drawn, rate about the vertical alone, have s = rate l and slip by a rate
// l; taking that away, a push at the rim takes 2/3 of s. From s = rate l/3 - 2/3 rate (lean - l) follows
//   lean'' = -(rate^2 - c) lean + 6/5 rate^2 l
// Stable with 1.1 c it swings to l (12/5 rate^2/(rate^2 - c) - 1) = 25.4 l; with 0.9 c it leans 200 l after 1.28 s.
TEST(Coin, SpinKeepsItUpright) {
    const auto lowest_after = [](double share) {
        Simulation simulation(read(R"(
limber: 1
parameters: {radius: 0.1, lean: 0.001, rate: sqrt()" +
                                   std::to_string(share) + R"(*4*9.81/(5*radius))}
bodies:
  coin:
    disc: {radius: radius, thickness: 1e-6, mass: 0.05}
    at: [0, 0, radius*cos(lean)]
    z: [0, cos(lean), sin(lean)]
    x: [1, 0, 0]
    angular-velocity: [0, 0, rate]
joints:
  table: {rolling-disc: [ground, coin], radius: radius}
sensors:
  centre: {position: coin}
)"),
                              options("global", "trapezoidal"));
        double lowest = 1;
        while (simulation.time() < 2) {
            const StepReport report = simulation.step(0.001);
            EXPECT_TRUE(report.ok) << report.reason;
            if (!report.ok) break;
            lowest = std::min(lowest, sense(simulation, "centre.z"));
        }
        return lowest;
    };
    const double drop = 0.1 * (1 - std::cos(25.4e-3));
    // What is not linear is lean^2 of it, 6e-4, and ten times as much where rate^2 and c nearly cancel; twice that of
    // the drop.
    EXPECT_NEAR(lowest_after(1.1), 0.1 - drop, 0.015 * drop);
    EXPECT_LT(lowest_after(0.9), 0.1 * std::cos(0.2));
}

}  // namespace
}  // namespace limber::testing
