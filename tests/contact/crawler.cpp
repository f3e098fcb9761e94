// Quasi-static sliding on a rough plane: the two links of Figurina.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

struct Shift {
    double x, y, turn;  // of the hub; of the first link, in degrees
};

// The elbow is bent by pi in 60 s. Inertia takes part with accelerations of (pi/60)^2 over those of friction, mu g, and
// the motion is of first order in the bend of a step.
constexpr double bending = pi / 60;
double relative_error(double step) {
    return bending * bending / (0.5 * 9.81) + bending * step;
}

// Published for equal masses and l2/l1 = 0.4 and 0.75: where the hub is when the elbow is folded. Here by dynamics,
// slowly enough.
void expect_shift(const std::string& file, const char* integrator, const char* l2, const Shift& published) {
    Simulation simulation(example(file, {{"l2", l2}}), options("global", integrator));
    const double step = 0.02;
    const StepReport report = simulation.advance(60, step);
    ASSERT_TRUE(report.ok) << report.reason;
    const double distance = std::hypot(published.x, published.y);
    const double x = sense(simulation, "hub.x");
    const double y = sense(simulation, "hub.y");
    EXPECT_NEAR(x, published.x, relative_error(step) * distance) << l2;
    EXPECT_NEAR(y, published.y, relative_error(step) * distance) << l2;
    const double turn = std::atan2(y - sense(simulation, "tail.y"), x - sense(simulation, "tail.x"));
    EXPECT_NEAR(turn * 180 / pi, published.turn, relative_error(step) * std::abs(published.turn)) << l2;
}

TEST(Crawler, FoldsAsFigurinaSays) {
    expect_shift("contact/two-link-crawler.yaml", "moreau-jean", "0.4", {-0.011545, -0.151516, -8.71479});
    expect_shift("contact/two-link-crawler.yaml", "moreau-jean", "0.75", {-0.027987, -0.372187, -23.4403});
}

// By events; with a scheme that damps what rings where two points come to rest together.
TEST(Crawler, FoldsAsFigurinaSaysOnWalls) {
    expect_shift("contact/two-link-crawler-walls.yaml", "newmark", "0.4", {-0.011545, -0.151516, -8.71479});
    expect_shift("contact/two-link-crawler-walls.yaml", "newmark", "0.75", {-0.027987, -0.372187, -23.4403});
}

// With l2 = 0.4 hub and tip move until the elbow is bent by arccos(1 - 0.4), from then on the tip alone. What is left
// of the hub's motion is the error of the integrator, of first order in the step.
TEST(Crawler, HubStopsWhereFigurinaSays) {
    const double stops_at = 60 * std::acos(0.6) / pi;
    struct Speeds {
        double before, after;
    };
    const auto speeds = [&](double step) {
        Simulation simulation(example("contact/two-link-crawler.yaml"), options("global", "moreau-jean"));
        const auto hub_at = [&](double time) {
            const StepReport report = simulation.advance(time, step);
            EXPECT_TRUE(report.ok) << report.reason;
            return sense(simulation, "hub.y");
        };
        const double early = hub_at(stops_at - 2);
        const double before = (hub_at(stops_at - 1) - early);
        const double there = hub_at(stops_at + 1);
        return Speeds{before, (hub_at(stops_at + 5) - there) / 4};
    };
    const Speeds coarse = speeds(0.04);
    const Speeds fine = speeds(0.02);
    EXPECT_LT(std::abs(fine.after), 0.01 * std::abs(fine.before));
    EXPECT_NEAR(coarse.after / fine.after, 2, 2 * bending * 0.04);  // what is of second order in the bend of a step
}

}  // namespace
}  // namespace limber::testing
