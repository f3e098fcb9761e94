// Contact points that persist: bodies that rest keep theirs, and what pushed in one step is the guess of the next.

#include <gtest/gtest.h>

#include <algorithm>

#include "support/models.hpp"
#include "support/stepping.hpp"

namespace limber {
namespace {

using namespace testing;

constexpr const char* stack = R"(
limber: 1
bodies:
  ground: {shapes: [{plane: {}}]}
  for i in 0..5:
    brick<i>: {box: {size: [0.2, 0.1, 0.06], mass: 3}, at: [0.01*i, 0.004*i, 0.03 + 0.061*i]}
contacts: {bricks: {rigid: [all, all], friction: 0.5}}
sensors: {load: {contact: bricks}}
)";

// Six bricks that fall onto each other by a millimetre, none straight above the other, and stand.
TEST(PersistentPoints, ImpulsesArePassedOnWhereAStackStands) {
    Simulation s = stepping(stack);
    const double h = 2e-3;
    int most = 0;
    for (int k = 0; k < 500; ++k) {
        const StepReport report = s.step(h);
        ASSERT_TRUE(report.ok) << report.reason;
        most = std::max(most, report.iterations);
    }
    EXPECT_GT(most, 5);  // while they fall onto each other the impulses have to be found
    std::vector<ContactPoint> before = s.state().contacts;
    ASSERT_GE(before.size(), 18U);  // three at least push each brick
    int iterations = 0;
    for (int k = 0; k < 50; ++k) {
        const StepReport report = s.step(h);
        ASSERT_TRUE(report.ok) << report.reason;
        iterations += report.iterations;
        const std::vector<ContactPoint>& now = s.state().contacts;
        ASSERT_EQ(now.size(), before.size());
        for (std::size_t i = 0; i < now.size(); ++i) {
            EXPECT_EQ(now[i].shape_a, before[i].shape_a);
            EXPECT_EQ(now[i].shape_b, before[i].shape_b);
            // What moves, moves at 1e-10 g h times a few, and the forces change by as little.
            EXPECT_NEAR((now[i].point - before[i].point).norm(), 0, 1e-12);
            EXPECT_NEAR((now[i].force - before[i].force).norm(), 0, 1e-7 * 6 * 3 * 9.81);
        }
        before = now;
    }
    // The impulses of the last step solve this one: one look, and now and then some more where what is left of each
    // step, 1e-10, has added up.
    EXPECT_LE(iterations, 2 * 50);
}

// Without what is remembered the same stack has to be solved anew, to the same forces: in the order of its first step,
// not of its last.
TEST(PersistentPoints, AStackThatForgetsIsSolvedAnew) {
    Simulation s = stepping(stack);
    run(s, 0.2, 2e-3);
    Simulation forgetful = stepping(stack);
    State state = s.state();
    for (ContactPoint& point : state.contacts) point.force.setZero();
    forgetful.restore(state);
    const int knowing = s.step(2e-3).iterations;
    const int anew = forgetful.step(2e-3).iterations;
    EXPECT_GT(anew, knowing);
    for (const Simulation* each : {&s, &forgetful}) {
        double weight = 0;
        for (const ContactPoint& point : each->state().contacts) weight += point.force.z();
        // Each brick's contact carries what is above it: 6 + 5 + 4 + 3 + 2 + 1 bricks.
        EXPECT_NEAR(weight, 21 * 3 * 9.81, 1e-6 * 21 * 3 * 9.81);
    }
}

}  // namespace
}  // namespace limber
