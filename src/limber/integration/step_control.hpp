#pragma once
// Steps that divide themselves: recovery from failures, and the step control of Seguy 2003.

#include <memory>
#include <utility>

#include "limber/integration/stepper.hpp"

namespace limber {

/// A step that fails is done as two halves, and so on. The state stays at the last good one if even the smallest
/// part fails. `step(state, h)` leaves it untouched when it fails.
template <class Step>
StepReport step_with_halvings(State& state, double h, int max_halvings, const Step& step) {
    StepReport report = step(state, h);
    if (report.ok || max_halvings == 0) return report;
    const State good = state;
    const double end = good.t + h;
    int parts = 1;
    for (int halving = 0; halving < max_halvings; ++halving) {
        parts *= 2;
        state = good;
        StepReport attempt;
        attempt.iterations = report.iterations;
        attempt.substeps = 0;
        for (int i = 0; i < parts && attempt.ok; ++i) {
            const StepReport part = step(state, h / parts);
            attempt.ok = part.ok;
            attempt.reason = part.reason;
            attempt.iterations += part.iterations;
            attempt.substeps += part.substeps;
        }
        report = attempt;
        if (report.ok) {
            state.t = end;
            return report;
        }
    }
    state = good;
    return report;
}

/// A stepper that takes the steps of another one, some of them in parts.
class DividingStepper : public Stepper {
public:
    explicit DividingStepper(std::unique_ptr<Stepper> inner) : inner_(std::move(inner)) {}
    const System& system() const override { return inner_->system(); }
    const Stepper& inner() const { return *inner_; }
    Stepper& inner() { return *inner_; }

private:
    std::unique_ptr<Stepper> inner_;
};

/// One that divides steps that fail.
class RecoveringStepper final : public DividingStepper {
public:
    RecoveringStepper(std::unique_ptr<Stepper> inner, int max_halvings);
    StepReport start(State& state) override { return inner().start(state); }
    StepReport step(State& state, double h) override;
    void expect_parts_of(double step) override { inner().expect_parts_of(step); }
    Perturbation perturbation() const override { return inner().perturbation(); }

private:
    int max_halvings_;
};

/// Seguy 2003 section 3.2 inside a step of given length. With p the constraint-acceleration perturbation (23), squared,
/// the largest of the evaluations of a substep (the predictor phase included):
///
///   p > eps          the substep is repeated with half the length                      (24-b)
///   p <= 0.1 eps     the next one is 3/2 as long, at most as long as the given step    (24-a)
///
/// The gains are those of the given step throughout, so an error that is there already weighs as much in a short
/// substep as in a long one: no length mends it. Then, and where the length has dropped to the shortest, "the equations
/// must be reformulated at the velocity level": the mechanism restarts with its positions on the constraints and
/// velocities changed by impulses of these.
class PerturbationControl final : public DividingStepper {
public:
    PerturbationControl(std::unique_ptr<Stepper> inner, double tolerance, int max_halvings);
    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    void expect_parts_of(double step) override { whole_step_ = step; }
    Perturbation perturbation() const override { return inner().perturbation(); }

private:
    /// Brings a state onto the constraints, if that can be done; else leaves it as it is.
    bool put_on_constraints(State& state, StepReport& report);

    double tolerance_;
    int max_halvings_;
    double whole_step_ = 0;
    double current_ = 0;      // length of the substep in use
    double from_before_ = 0;  // of the perturbation: what the last substep has left
    State saved_, good_;
};

/// Divides steps that fail; with step control, those that disturb the constraints too much, too.
std::unique_ptr<DividingStepper> with_halvings(std::unique_ptr<Stepper> stepper, const IntegratorOptions& options);

/// Gains that suit step control: those of Seguy 2003 eq. (17), ten times the stiffness of Joli 2008 eq. (12), which
/// substeps that follow the perturbation can bear, and critical damping. Those that are given stay.
FormulationOptions with_gains_under_control(FormulationOptions options, const IntegratorOptions& integrator);

}  // namespace limber
