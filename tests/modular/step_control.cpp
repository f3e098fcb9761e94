// Step control of a mechanism divided into components (Seguy 2003 section 3.2), against the independent integration.

#include "limber/integration/step_control.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/measures.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

struct DividedRun {
    double error = 0;  // of the tip after 3 s
    long substeps = 0;
    double gap = 0;
};

DividedRun run_divided(Gluing gluing, double tolerance) {
    SimulationOptions o = options("augmented-lagrangian", "trapezoidal");
    o.modular.division = "body";
    o.modular.coupling = Coupling::acceleration;
    o.modular.gluing = gluing;
    o.integrator_options.step_control = tolerance;
    Simulation simulation(example("double-pendulum.yaml"), o);
    DividedRun run;
    for (int i = 0; i < 150; ++i) {
        const StepReport report = simulation.step(0.02);
        EXPECT_TRUE(report.ok) << report.reason;
        run.substeps += report.substeps;
        run.gap = std::max(run.gap, simulation.observer().compute_errors(simulation.state()).position);
    }
    const auto& [t, x, y] = examples::pendulum_tip[3];
    run.error = std::hypot(sense(simulation, "tip.x") - x, sense(simulation, "tip.y") - y);
    return run;
}

TEST(DividedStepControl, BringsTheDoublePendulumToItsPlace) {
    const DividedRun run = run_divided(Gluing::direct, 1);
    EXPECT_LT(run.error, 2e-3);
    EXPECT_LT(run.substeps, 1000);
    EXPECT_GT(run_divided(Gluing::direct, 0).error, 0.03);
}

TEST(DividedStepControl, HoldsSpringsInPlaceOfJoints) {
    const DividedRun controlled = run_divided(Gluing::penalty, 1);
    const DividedRun fixed = run_divided(Gluing::penalty, 0);
    EXPECT_LT(controlled.error, 0.2 * fixed.error);
    EXPECT_LT(controlled.gap, 0.1 * fixed.gap);
    EXPECT_GT(controlled.substeps, 150);
}

}  // namespace
}  // namespace limber::testing
