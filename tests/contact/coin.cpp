// A coin on its rim: steady motions with closed forms.

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

// See the example: the centre stays where it is while the coin goes round, with an error of first order in the step.
TEST(Coin, RollsAroundItsCentre) {
    const double turn = 2 * pi / std::sqrt(4 * 9.81 / (0.1 * 0.5));
    const auto distance_after = [&](double step) {
        Simulation simulation(example("contact/spinning-coin.yaml"), options("global", "moreau-jean"));
        const StepReport report = simulation.advance(turn, step);
        EXPECT_TRUE(report.ok) << report.reason;
        EXPECT_NEAR(sense(simulation, "table.normal"), 0.05 * 9.81, 0.05);
        return std::hypot(sense(simulation, "centre.x"), sense(simulation, "centre.y"),
                          sense(simulation, "centre.z") - 0.05);
    };
    const double coarse = distance_after(turn / 500);
    const double fine = distance_after(turn / 2000);
    EXPECT_LT(fine, 1e-3);
    EXPECT_LT(fine, 0.4 * coarse);
}

// Upright and turning about the vertical, without slip: it stays up if rate^2 > 4 g/(5 radius).
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
    EXPECT_GT(lowest_after(1.1), 0.0999);
    EXPECT_LT(lowest_after(0.9), 0.098);
}

}  // namespace
}  // namespace limber::testing
