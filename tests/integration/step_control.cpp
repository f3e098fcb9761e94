// Steps that fail or are too rough divide themselves; what cannot be saved is reported and the last good state kept.

#include "limber/integration/step_control.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/measures.hpp"
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

// The double pendulum of Seguy 2003 with steps of 0.02 s against an independent integration. Fixed steps take 300
// evaluations and are 4 cm off.
struct ControlledRun {
    double error = 0;  // of the tip after 3 s
    long evaluations = 0;
};

ControlledRun run_pendulum(double tolerance, double step) {
    SimulationOptions o = options("augmented-lagrangian", "trapezoidal");
    o.integrator_options.step_control = tolerance;
    Simulation simulation(example("double-pendulum.yaml"), o);
    ControlledRun run;
    for (long i = 0; i < std::lround(3 / step); ++i) {
        const StepReport report = simulation.step(step);
        EXPECT_TRUE(report.ok) << report.reason;
        run.evaluations += report.iterations;
    }
    const auto& [t, x, y] = examples::pendulum_tip[3];
    run.error = std::hypot(sense(simulation, "tip.x") - x, sense(simulation, "tip.y") - y);
    return run;
}

TEST(PerturbationControl, BringsTheDoublePendulumToItsPlace) {
    for (const double tolerance : {0.7, 1.0, 1.4}) {
        const ControlledRun run = run_pendulum(tolerance, 0.02);
        EXPECT_LT(run.error, 1e-3) << tolerance;
        EXPECT_LT(run.evaluations, 3000) << tolerance;
    }
    EXPECT_GT(run_pendulum(0, 0.02).error, 0.03);
    // A smaller tolerance costs more and gains more.
    const ControlledRun loose = run_pendulum(100, 0.02), tight = run_pendulum(1e-2, 0.02);
    EXPECT_GT(loose.error, 10 * tight.error);
    EXPECT_GT(tight.evaluations, loose.evaluations);
}

// A stepper whose constraint is off by a given amount until it is restarted: no shorter step helps.
class Perturbed final : public Stepper {
public:
    StepReport start(State&) override { return {}; }
    StepReport step(State& state, double h) override {
        perturbation_ = {};
        perturbation_.add(left + created * h);
        StepReport report;
        report.iterations = 1;
        report.ok = perturbation_.last <= limit_;
        if (!report.ok) return report;
        left = perturbation_.last;
        state.t += h;
        ++steps;
        return report;
    }
    const System& system() const override { return *system_; }
    void limit_perturbation(double limit) override { limit_ = limit; }
    Perturbation perturbation() const override { return perturbation_; }
    void expect_parts_of(double step) override { given = step; }
    StepReport restart(State&) override {
        left = 0;
        ++restarts;
        return {};
    }
    double left = 0, created = 0, given = 0;
    int steps = 0, restarts = 0;

private:
    std::shared_ptr<const System> system_;
    double limit_ = 0;
    Perturbation perturbation_;
};

TEST(PerturbationControl, RestartsWhereNoLengthMendsWhatIsLeft) {
    auto owned = std::make_unique<Perturbed>();
    Perturbed& inner = *owned;
    inner.created = 8;  // per second: beyond the tolerance in eight steps of 1/16 s
    PerturbationControl stepper(std::move(owned), 1.0, 10);
    State state = unit_state();
    const StepReport report = stepper.step(state, 1.0);
    EXPECT_TRUE(report.ok);
    EXPECT_DOUBLE_EQ(state.t, 1);
    EXPECT_EQ(inner.given, 1) << "gains belong to the given step";
    EXPECT_GE(inner.restarts, 7) << "what is left reaches the tolerance every eighth of a second";
    EXPECT_LE(inner.restarts, 20);
    EXPECT_EQ(report.substeps, inner.steps);
}

TEST(PerturbationControl, RestartsWhenTheLengthHasDropped) {
    auto owned = std::make_unique<Perturbed>();
    Perturbed& inner = *owned;
    inner.created = 1e6;  // no length is short enough
    PerturbationControl stepper(std::move(owned), 1.0, 3);
    State state = unit_state();
    const StepReport report = stepper.step(state, 1.0);
    EXPECT_TRUE(report.ok);
    EXPECT_EQ(inner.steps, 8);
    EXPECT_EQ(inner.restarts, 8);
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
