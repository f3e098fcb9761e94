// Stops in a running session: added, changed, removed; time travel; energy accounts.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/simulation/session.hpp"
#include "support/model_text.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

Session bouncing(const std::string& formulation) {
    SessionOptions o;
    o.step = 1e-3;
    return Session(example("contact/bouncing-ball.yaml"), options(formulation, "trapezoidal"), o);
}

void expect_ok(const EditReport& report) {
    EXPECT_TRUE(report.ok) << report.reason;
}

double height(const Session& s) {
    return s.simulation().body_frame("ball").position.y();
}

// Flights are parabolas and rest is rest: exact but for rounding, and for velocities projected to 1e-10 of themselves.
constexpr double exact_place = 1e-10;
constexpr double exact_energy = 1e-8;  // of some 30 J

class LiveStops : public ::testing::TestWithParam<std::string> {};

TEST_P(LiveStops, CanBeAddedAndTakenAwayWhileItRuns) {
    Session s = bouncing(GetParam());
    ASSERT_TRUE(s.advance(1.8).ok);
    EXPECT_NEAR(height(s), 0.1, exact_place);
    EXPECT_NEAR(s.energy_drift(), 0, exact_energy);
    // A body that is taken away from under it: falls freely for half a second.
    expect_ok(s.apply("remove stops.floor with dependents"));
    ASSERT_TRUE(s.advance(2.3).ok);
    EXPECT_NEAR(height(s), 0.1 - 0.5 * 10 * 0.25, exact_place);
    EXPECT_NEAR(s.energy_drift(), 0, exact_energy);
    // It is below the floor now: the same floor cannot come back, a lower one can.
    EXPECT_FALSE(s.apply("add stops.floor {wall: [ground, ball], radius: 0.1}").ok);
    expect_ok(s.apply("add stops.net {cable: [ground, ball], length: 2}"));
    ASSERT_TRUE(s.advance(3).ok);
    EXPECT_NEAR(height(s), -2, exact_place);
    EXPECT_NEAR(s.energy_drift(), 0, exact_energy);
}

TEST_P(LiveStops, OpenLengthsAreThoseOfTheMoment) {
    Session s = bouncing(GetParam());
    ASSERT_TRUE(s.advance(0.3).ok);
    const double now = height(s);
    expect_ok(s.apply("add stops.shelf {stop: [ground, ball], restitution: 1}"));
    ASSERT_TRUE(s.advance(0.301).ok);
    EXPECT_GT(height(s), now);
}

TEST_P(LiveStops, StayClosedThroughOtherEdits) {
    Session s = bouncing(GetParam());
    ASSERT_TRUE(s.advance(1.8).ok);
    expect_ok(s.apply("set bodies.ball.disc.mass 3"));
    ASSERT_TRUE(s.advance(2).ok);
    EXPECT_NEAR(height(s), 0.1, exact_place);
    expect_ok(s.apply("impulse ball [0, 3]"));
    ASSERT_TRUE(s.advance(2.1).ok);
    EXPECT_NEAR(height(s), 0.1 + 0.1 - 0.05, exact_place);
}

TEST_P(LiveStops, GoBackInTimeToTheSameBits) {
    Session s = bouncing(GetParam());
    ASSERT_TRUE(s.advance(1.6).ok);
    const State end = s.simulation().state();
    expect_ok(s.apply("go 0.7"));
    ASSERT_TRUE(s.advance(1.6).ok);
    EXPECT_TRUE(same_bits(end.q, s.simulation().state().q));
    EXPECT_TRUE(same_bits(end.v, s.simulation().state().v));
    EXPECT_EQ(end.memory, s.simulation().state().memory);
}

INSTANTIATE_TEST_SUITE_P(Some, LiveStops,
                         ::testing::Values("global", "augmented-lagrangian", "semi-recursive", "null-space"),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace limber::testing
