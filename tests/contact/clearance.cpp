// Clearance in joints.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

// The crank turns at 10 rad/s, and its pin is as far from the slider as the rod is long, give or take the play. Step
// solvers close rows to 1e-10; gains leave what the accelerations of 5 m/s^2 make in a step, h^2 of them.
TEST(Clearance, SliderFollowsTheCrankWithinItsPlay) {
    for (const char* formulation : {"global", "augmented-lagrangian", "hybrid"}) {
        Simulation simulation(example("contact/slider-crank-clearance.yaml"), options(formulation, "trapezoidal"));
        const double open = formulation == std::string("augmented-lagrangian") ? 5e-4 * 5e-4 * 5 : 1e-10;
        int impacts = 0;
        double lost = 0;
        while (simulation.time() < 0.7) {
            const StepReport report = simulation.step(5e-4);
            ASSERT_TRUE(report.ok) << formulation << " at " << simulation.time() << ": " << report.reason;
            for (const ContactEvent& event : report.events) impacts += event.kind == ContactEvent::Kind::impact ? 1 : 0;
            const double angle = 10 * simulation.time();
            const auto place = [&](double rod) {
                return 0.05 * std::cos(angle) + std::sqrt(rod * rod - std::pow(0.05 * std::sin(angle), 2));
            };
            EXPECT_GT(sense(simulation, "slider.x"), place(0.12 - 0.0005) - 1.1 * open) << formulation;
            EXPECT_LT(sense(simulation, "slider.x"), place(0.12 + 0.0005) + 1.1 * open) << formulation;
            EXPECT_GT(sense(simulation, "gap"), -open) << formulation;
            EXPECT_LT(sense(simulation, "gap"), 0.0005 + 1e-15) << formulation;
        }
        lost = sense(simulation, "lost");
        EXPECT_GT(impacts, 1) << formulation;
        EXPECT_GT(lost, 0) << formulation;
    }
}

}  // namespace
}  // namespace limber::testing
