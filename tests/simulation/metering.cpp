// The work done in a run, and the time it takes to find it.

#include <gtest/gtest.h>

#include "limber/simulation/run.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

// A driver that pulls a cart with constant acceleration c does the work m c^2 T^2 / 2; finding it is told apart from
// the steps.
TEST(Metering, DoesNotCountAsSteps) {
    const Model driven = read(R"(
limber: 1
plane: xy
bodies: {cart: {mass: 3, inertia: 1}}
joints: {rail: {prismatic: [ground, cart], at: [0, 0], axis: [1, 0]}}
drivers: {pull: {coordinate: rail.displacement, follows: "t^2"}}
)");
    RunOptions choice;
    choice.until = 1;
    choice.step = 0.01;
    for (const auto& formulation : formulation_names()) {
        Simulation s(driven, options(formulation, "trapezoidal"));
        const RunSummary summary = run(s, choice).summary;
        EXPECT_NEAR(summary.work, 0.5 * 3 * 2 * 2, 1e-6) << formulation;
        EXPECT_LT(summary.energy_drift, 1e-6) << formulation;
        EXPECT_GT(summary.metering_time, 0) << formulation;
        EXPECT_GT(summary.wall_time, 0) << formulation;
    }
    Simulation free(read("limber: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n"), options("global", "trapezoidal"));
    EXPECT_EQ(run(free, choice).summary.metering_time, 0);
}

}  // namespace
}  // namespace limber::testing
