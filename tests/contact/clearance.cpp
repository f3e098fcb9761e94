// Clearance in joints, and the treatments of stops that look at the ends of steps only.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/model/error.hpp"
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

SimulationOptions treated(ContactTreatment treatment, const char* integrator, double stiffness = 0) {
    SimulationOptions o = options("semi-recursive", integrator, "relative");
    o.contact_options.treatment = treatment;
    o.contact_options.stiffness = stiffness;
    return o;
}

// Where a step resolves it, a stiff spring is nearly elastic: impulse and energy of case C1 with restitution 1. While
// it is touched, pi sqrt(m/k) long, other forces push, too: with four times the stiffness half as much is missing.
// Energy is lost or gained where contact begins and ends within a step, k (v h)^2 at most; the tip comes with 6.14 m/s.
TEST(ProjectedMultipliers, ResolvedPenaltyIsNearlyElastic) {
    const auto impulse_error = [](double stiffness, double h) {
        Simulation simulation(example("contact/double-pendulum-wall.yaml"),
                              treated(ContactTreatment::penalty, "trapezoidal", stiffness));
        EXPECT_TRUE(simulation.advance(0.69, h).ok);
        EXPECT_NEAR(sense(simulation, "energy"), -7.3575, stiffness * std::pow(6.14 * h, 2));
        return sense(simulation, "tip_impulse") - 4.13172356;
    };
    // Relative to the impulse; contact begins and ends somewhere in a step, which is 1/90 of it.
    EXPECT_NEAR(impulse_error(1e6, 2e-5) / impulse_error(4e6, 1e-5), 2, 0.1);
}

// Multipliers with and without a penalty have the same solution: no gap is negative at the end of a step. Both are
// iterated until rows are closed to 1e-10 and less; what is left is carried on as a speed, 1e-10 over a step of 1e-3 s,
// for up to 0.02 s.
TEST(ProjectedMultipliers, AugmentedLagrangianAndMultipliersAgree) {
    for (const char* integrator : {"linear-acceleration", "higher-order", "newmark"}) {
        const Model model = example("contact/double-pendulum-wall.yaml");
        Simulation first(model, treated(ContactTreatment::augmented_lagrangian, integrator));
        Simulation second(model, treated(ContactTreatment::multipliers, integrator));
        bool has_touched = false;
        for (int i = 0; i < 670; ++i) {
            ASSERT_TRUE(first.step(1e-3).ok);
            ASSERT_TRUE(second.step(1e-3).ok);
            EXPECT_GT(sense(first, "tip_gap"), -1e-10);
            EXPECT_NEAR(sense(first, "tip.x"), sense(second, "tip.x"), 1e-8) << integrator << " " << i;
            has_touched = has_touched || sense(first, "tip_impulse") > 0;
        }
        EXPECT_TRUE(has_touched);
    }
}

TEST(ProjectedMultipliers, NeedIndependentCoordinates) {
    SimulationOptions o = treated(ContactTreatment::multipliers, "trapezoidal");
    o.formulation = "global";
    o.coordinates = "natural";
    EXPECT_THROW(Simulation(example("contact/double-pendulum-wall.yaml"), o), ModelError);
}

}  // namespace
}  // namespace limber::testing
