// Quasi-static sliding on a rough plane: the two links of Figurina.

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

struct Shift {
    double x, y, turn;  // of the hub; of the first link, in degrees
};

// Published for equal masses and l2/l1 = 0.4 and 0.75: where the hub is when the elbow is folded. Here by dynamics, slowly enough.
TEST(Crawler, FoldsAsFigurinaSays) {
    const auto expect = [](const char* l2, const Shift& published) {
        Simulation simulation(example("contact/two-link-crawler.yaml", {{"l2", l2}}), options("global", "moreau-jean"));
        const StepReport report = simulation.advance(60, 0.02);
        ASSERT_TRUE(report.ok) << report.reason;
        const double distance = std::hypot(published.x, published.y);
        const double x = sense(simulation, "hub.x");
        const double y = sense(simulation, "hub.y");
        EXPECT_NEAR(x, published.x, 2e-3 * distance) << l2;
        EXPECT_NEAR(y, published.y, 2e-3 * distance) << l2;
        const double turn = std::atan2(y - sense(simulation, "tail.y"), x - sense(simulation, "tail.x"));
        EXPECT_NEAR(turn * 180 / pi, published.turn, 2e-3 * std::abs(published.turn)) << l2;
    };
    expect("0.4", {-0.011545, -0.151516, -8.71479});
    expect("0.75", {-0.027987, -0.372187, -23.4403});
}

// With l2 = 0.4 hub and tip move until the elbow is bent by arccos(1 - 0.4), from then on the tip alone. What is left of the hub's motion is the error
// of the integrator, of first order in the step.
TEST(Crawler, HubStopsWhereFigurinaSays) {
    Simulation simulation(example("contact/two-link-crawler.yaml"), options("global", "moreau-jean"));
    const double stops_at = 60 * std::acos(0.6) / pi;
    const auto hub_at = [&](double time) {
        const StepReport report = simulation.advance(time, 0.02);
        EXPECT_TRUE(report.ok) << report.reason;
        return sense(simulation, "hub.y");
    };
    const double before = hub_at(stops_at - 1);
    const double there = hub_at(stops_at + 0.5);
    const double later = hub_at(stops_at + 5);
    EXPECT_LT(std::abs(later - there) / 4.5, 0.02 * std::abs(there - before) / 1.5);
}

}  // namespace
}  // namespace limber::testing
