#pragma once
// Steps that divide themselves: recovery from failures, and the step control of Seguy 2003.

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

/// The same as a stepper.
class RecoveringStepper final : public Stepper {
public:
    RecoveringStepper(std::unique_ptr<Stepper> inner, int max_halvings);
    StepReport start(State& state) override { return inner_->start(state); }
    StepReport step(State& state, double h) override;
    const System& system() const override { return inner_->system(); }
    void expect_parts_of(double step) override { inner_->expect_parts_of(step); }
    double perturbation() const override { return inner_->perturbation(); }
    const Stepper& inner() const { return *inner_; }
    Stepper& inner() { return *inner_; }

private:
    std::unique_ptr<Stepper> inner_;
    int max_halvings_;
};

/// Seguy 2003 eq. (24) inside a step of given length: with p the squared constraint-acceleration perturbation at the
/// end of a substep, the substep is repeated with half the length if p > eps, and the next is 3/2 as long if p < 0.1
/// eps.
class PerturbationControl final : public Stepper {
public:
    PerturbationControl(std::unique_ptr<Stepper> inner, double tolerance, int max_halvings);
    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    const System& system() const override { return inner_->system(); }
    void expect_parts_of(double step) override { inner_->expect_parts_of(step); }
    double perturbation() const override { return inner_->perturbation(); }

private:
    std::unique_ptr<Stepper> inner_;
    double tolerance_;
    int max_halvings_;
    double current_ = 0;  // length of the substep in use
    State saved_;
};

}  // namespace limber
