// Rules of contact in a running session: added, changed, removed, taken back; time travel.

#include <gtest/gtest.h>

#include "limber/simulation/session.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr const char* brick_on_floor = R"(
limber: 1
gravity: [0, 0, -10]
bodies:
  ground: {shapes: [{plane: {}}]}
  brick: {box: {size: [0.2, 0.2, 0.1], mass: 2}, at: [0, 0, 0.05], velocity: [1, 0, 0]}
contacts: {floor: {rigid: [brick, ground], friction: 0.5}}
)";

constexpr double step = 1e-3;
// Contacts are solved to 1e-10 of the velocities that come in, 1 m/s, in each of a few hundred steps.
constexpr double solved = 1e-8;

Session sliding() {
    SimulationOptions chosen;
    chosen.integrator = "moreau-jean";
    SessionOptions o;
    o.step = step;
    return Session(read(brick_on_floor), chosen, o);
}

Vec3 place(const Session& s) {
    return s.simulation().body_frame("brick").position;
}

void apply(Session& s, const std::string& edit) {
    const EditReport report = s.apply(edit);
    EXPECT_TRUE(report.ok) << edit << ": " << report.reason;
}

// v = 1 - mu g t: at rest after 0.2 s with mu = 0.5, after 0.05 s more with the friction doubled at 0.1 s. What touches
// is moved by its velocity at the end of a step, so that under a deceleration a it falls behind by a t h/2.
TEST(LiveContacts, FrictionChangesWhileItSlides) {
    Session s = sliding();
    ASSERT_TRUE(s.advance(0.1).ok);
    apply(s, "set contacts.floor.friction 1");
    ASSERT_TRUE(s.advance(0.5).ok);
    EXPECT_NEAR(place(s).x(), 0.1 - 0.5 * 5 * 0.01 + 0.5 * 0.5 * 0.05 - (5 * 0.1 + 10 * 0.05) * step / 2, solved);
    EXPECT_NEAR(place(s).z(), 0.05, 1e-9);
}

TEST(LiveContacts, RulesComeAndGo) {
    Session s = sliding();
    ASSERT_TRUE(s.advance(0.05).ok);
    apply(s, "remove contacts.floor");
    ASSERT_TRUE(s.advance(0.15).ok);
    EXPECT_NEAR(place(s).z(), 0.05 - 0.5 * 10 * 0.01, solved);  // free flight is exact
    apply(s, "go 0.04");
    apply(s, "add contacts.ice {rigid: [brick, ground]}");
    const double from = place(s).x();
    ASSERT_TRUE(s.advance(0.24).ok);
    // Of two rules the last one counts: without friction the speed of 0.04 s stays.
    EXPECT_NEAR(place(s).x() - from, 0.8 * 0.2, solved);
    EXPECT_NEAR(place(s).z(), 0.05, 1e-9);
    EXPECT_FALSE(s.apply("add contacts.bad {rigid: [brick, moon]}").ok);
}

TEST(LiveContacts, GoBackInTimeToTheSameBits) {
    Session s = sliding();
    ASSERT_TRUE(s.advance(0.3).ok);
    const std::uint64_t end = s.fingerprint();
    apply(s, "go 0.1");
    ASSERT_TRUE(s.advance(0.3).ok);
    EXPECT_EQ(s.fingerprint(), end);
}

}  // namespace
}  // namespace limber::testing
