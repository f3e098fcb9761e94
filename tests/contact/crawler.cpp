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

// With l2 = 0.4 hub and tip move until the elbow is bent by arccos(1 - 0.4), from then on the tip alone.
TEST(Crawler, HubStopsWhereFigurinaSays) {
    Simulation simulation(example("contact/two-link-crawler.yaml"), options("global", "moreau-jean"));
    const double stops_at = 60 * std::acos(0.6) / pi;
    ASSERT_TRUE(simulation.advance(stops_at - 1, 0.02).ok);
    const double before = sense(simulation, "hub.y");
    ASSERT_TRUE(simulation.advance(stops_at + 0.5, 0.02).ok);
    const double there = sense(simulation, "hub.y");
    EXPECT_GT(std::abs(there - before), 1e-4);
    ASSERT_TRUE(simulation.advance(stops_at + 5, 0.02).ok);
    EXPECT_NEAR(sense(simulation, "hub.y"), there, 1e-6);
}

}  // namespace
}  // namespace limber::testing
