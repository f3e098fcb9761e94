// Painleve's paradox: where it begins, and that other failures are not taken for it.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/contact/stops/complementarity.hpp"
#include "limber/model/error.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

MatX matrix(double a, double b, double c, double d) {
    return (MatX(2, 2) << a, b, c, d).finished();
}

TEST(Painleve, OneSolutionNeedsPositiveMinors) {
    EXPECT_TRUE(has_one_solution(MatX::Identity(3, 3)));
    EXPECT_TRUE(has_one_solution(matrix(1, -3, 1, 1)));
    EXPECT_TRUE(has_one_solution(matrix(1, 1, 1, 1))) << "two contacts at one point";
    EXPECT_FALSE(has_one_solution(matrix(1, 0, 0, -1e-3)));
    EXPECT_FALSE(has_one_solution(matrix(1, 2, 2, 1)));
    // Minors of two contacts are positive, that of all three is 1 - 3^3.
    EXPECT_FALSE(has_one_solution((MatX(3, 3) << 1, -3, 0, 0, 1, -3, -3, 0, 1).finished()));
    // Many contacts take no longer than few.
    MatX many = MatX::Identity(60, 60);
    EXPECT_TRUE(has_one_solution(many));
    many(7, 40) = many(40, 7) = 2;
    EXPECT_FALSE(has_one_solution(many));
}

// A rod of 1 m that leans ahead at 60 degrees and slides on its foot: W = 1 + 3 cos^2, and friction takes 3 mu sin cos
// of it away. Up to mu = (1 + 3 cos^2)/(3 sin cos) there is a force, N = (g - w^2/2 sin) / (W - 3 mu sin cos) with m
// = 1.
TEST(Painleve, RodHasAForceUpToItsCriticalFriction) {
    const double lean = pi / 3;
    const double critical = (1 + 3 * std::pow(std::cos(lean), 2)) / (3 * std::sin(lean) * std::cos(lean));
    const auto rod = [](double mu) {
        return Simulation(read(R"(
limber: 1
plane: xy
parameters: {lean: 60 deg, mu: )" +
                               std::to_string(mu) + R"(}
bodies:
  rod: {rod: {from: [0, 0], to: [cos(lean), sin(lean)], mass: 1}, velocity: [-1, 0]}
stops:
  floor: {wall: [ground, rod.from], friction: mu}
sensors:
  push: {contact-force: floor}
)"),
                          options("global", "trapezoidal"));
    };
    for (const double share : {0.5, 0.9, 0.99}) {
        Simulation simulation = rod(share * critical);
        const double inertia = 1 + 3 * std::pow(std::cos(lean), 2);
        EXPECT_NEAR(sense(simulation, "push"), 9.81 / (inertia * (1 - share)), 1e-4 / (1 - share)) << share;
    }
    try {
        rod(1.001 * critical);
        FAIL() << "nothing was reported";
    } catch (const ModelError& error) {
        EXPECT_NE(std::string(error.what()).find("Painleve"), std::string::npos) << error.what();
    }
}

// The rod of above stands still on its foot, with 2 horizontal for 1 vertical, pushed down along itself by a force that
// falls off and across itself by one that does not:
// (-8 - q/2, 4 - q), q = 5 - 1000 t, so that the floor's force is (q/2 + 2, q - 1) as long as the foot stays. With mu =
// 2 that is until q = 8/3. Slip would need more force the more it has, and so cannot begin; but the pull is upwards by
// now, and the foot lifts off with (4 - q)/m.
TEST(Painleve, FootThatCannotSlipLiftsOff) {
    Simulation simulation(read(R"(
limber: 1
plane: xy
gravity: [0, 0]
parameters: {lean: atan(2)}
bodies:
  rod: {rod: {from: [0, 0], to: [cos(lean), sin(lean)], mass: 1}}
stops:
  floor: {wall: [ground, rod.from], friction: 2}
forces:
  pull: {force: rod.com, vector: [-8 - (5 - 1000*t)/2, 4 - (5 - 1000*t)]}
sensors:
  gap: {gap: floor}
)"),
                          options("global", "trapezoidal"));
    std::vector<ContactEvent> events;
    while (simulation.time() < 3.5e-3) {
        const StepReport report = simulation.step(1e-4);
        ASSERT_TRUE(report.ok) << report.reason;
        events.insert(events.end(), report.events.begin(), report.events.end());
    }
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].kind, ContactEvent::Kind::opened);
    // Until then the rod turns by 4e-5 rad.
    const double instant = (5 - 8.0 / 3) / 1000;
    EXPECT_NEAR(events[0].t, instant, 1e-3 * instant);
    const double flight = simulation.time() - instant;
    EXPECT_NEAR(sense(simulation, "gap"), 4.0 / 3 * flight * flight / 2 + 1000 * std::pow(flight, 3) / 6,
                2e-3 * flight * flight);
}

}  // namespace
}  // namespace limber::testing
