// Steps that fail or are too rough divide themselves; what cannot be saved is reported and the last good state kept.

#include "limber/integration/step_control.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

// A stepper for x' = 1 that refuses steps longer than a limit.
class Picky final : public Stepper {
public:
    Picky(std::shared_ptr<const System> system, double limit) : system_(std::move(system)), limit_(limit) {}
    StepReport start(State&) override { return {}; }
    StepReport step(State& state, double h) override {
        ++attempts;
        StepReport report;
        report.ok = h <= limit_;
        report.reason = report.ok ? "" : "too long";
        if (report.ok) {
            state.t += h;
            state.q[0] += h;
        }
        return report;
    }
    const System& system() const override { return *system_; }
    int attempts = 0;

private:
    std::shared_ptr<const System> system_;
    double limit_;
};

State unit_state() {
    State state;
    state.q = VecX::Zero(1);
    return state;
}

TEST(RecoveringStepper, HalvesUntilTheStepSucceeds) {
    auto inner = std::make_unique<Picky>(nullptr, 0.3);
    RecoveringStepper stepper(std::move(inner), 10);
    State state = unit_state();
    const StepReport report = stepper.step(state, 1.0);
    EXPECT_TRUE(report.ok);
    EXPECT_EQ(report.substeps, 4);
    EXPECT_DOUBLE_EQ(state.q[0], 1);
    EXPECT_DOUBLE_EQ(state.t, 1);
}

TEST(RecoveringStepper, KeepsTheLastGoodStateAndTheReason) {
    RecoveringStepper stepper(std::make_unique<Picky>(nullptr, 1e-9), 5);
    State state = unit_state();
    state.q[0] = 7;
    const StepReport report = stepper.step(state, 1.0);
    EXPECT_FALSE(report.ok);
    EXPECT_EQ(report.reason, "too long");
    EXPECT_DOUBLE_EQ(state.q[0], 7);
    EXPECT_DOUBLE_EQ(state.t, 0);
}

TEST(RecoveringStepper, SavesAStiffRunThatOneStepCannotDo) {
    // Newton from far away: a very stiff nonlinear spring hit at speed with a long step.
    Simulation simulation(read(R"(
limber: 1
plane: xy
gravity: none
bodies: {m: {point: {mass: 1}, at: [2, 0], velocity: [-20, 0]}}
forces: {k: {spring: [ground, m], law: 'if(x < 0, 1e7*x*abs(x), 0)', free-length: 1}}
sensors: {m: {position: m}}
)"));
    for (int i = 0; i < 20; ++i) {
        const StepReport report = simulation.step(0.02);
        ASSERT_TRUE(report.ok) << report.reason;
        EXPECT_GT(sense(simulation, "m.x"), 0.3) << "the mass went through the wall";
    }
    EXPECT_GT(sense(simulation, "m.x"), 2) << "and it came back";
}

// Seguy 2003 eq. (24): a tight tolerance takes more substeps and keeps the constraints better.
TEST(PerturbationControl, TradesStepsForConstraintErrors) {
    const auto run_with = [](double tolerance, long& substeps) {
        SimulationOptions o = options("augmented-lagrangian", "trapezoidal");
        o.integrator_options.step_control = tolerance;
        Simulation simulation(example("double-pendulum.yaml"), o);
        substeps = 0;
        double worst = 0;
        for (int i = 0; i < 150; ++i) {
            const StepReport report = simulation.step(0.02);
            EXPECT_TRUE(report.ok) << report.reason;
            substeps += report.substeps;
            worst = std::max(worst, simulation.observer().compute_errors(simulation.state()).position);
        }
        EXPECT_NEAR(simulation.time(), 3, 1e-9);
        return worst;
    };
    long loose = 0;
    long tight = 0;
    const double loose_error = run_with(1e2, loose);
    const double tight_error = run_with(1e-2, tight);
    EXPECT_GE(loose, 150);
    EXPECT_GT(tight, 2 * loose);
    EXPECT_LT(tight_error, 0.1 * loose_error);
}

// Gains alone fade errors out slowly; where the motion is too fast for the step, a projection keeps joints closed.
TEST(PredictorCorrector, KeepsJointsClosedInViolentMotion) {
    const auto worst_error = [](Stabilisation stabilisation) {
        SimulationOptions o = options("baumgarte", "trapezoidal");
        o.formulation_options.stabilisation = stabilisation;
        Model model = example("double-pendulum.yaml");
        model.gravity[1] = Number(-300);
        Simulation simulation(model, o);
        double worst = 0;
        for (int i = 0; i < 200; ++i) {
            EXPECT_TRUE(simulation.step(5e-3).ok);
            worst = std::max(worst, simulation.observer().compute_errors(simulation.state()).position);
        }
        return worst;
    };
    EXPECT_GT(worst_error(Stabilisation::gains), 1e-3);
    EXPECT_LT(worst_error(Stabilisation::automatic), 5e-5);
}

TEST(Failure, OfACorrectorTooCoarseForItsForcesIsExplained) {
    // Explicit fixed-point iteration cannot follow a spring of 1e6 N/m with steps of 0.1 s; it must say so, not blow up
    // silently.
    SimulationOptions o = options("baumgarte", "trapezoidal");
    o.integrator_options.max_halvings = 0;
    Simulation simulation(read(R"(
limber: 1
plane: xy
bodies: {m: {point: {mass: 1}, at: [1.01, 0]}}
forces: {k: {spring: [ground, m], stiffness: 1e6, free-length: 1}}
sensors: {m: {position: m}}
)"),
                          o);
    StepReport report;
    for (int i = 0; i < 60 && report.ok; ++i) report = simulation.step(0.1);
    EXPECT_FALSE(report.ok);
    EXPECT_FALSE(report.reason.empty());
    EXPECT_TRUE(simulation.state().q.allFinite());
}

}  // namespace
}  // namespace limber::testing
