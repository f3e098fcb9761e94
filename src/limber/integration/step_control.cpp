#include "limber/integration/step_control.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace limber {
namespace {

// Of the tolerance: a perturbation from before that is worth a restart.
constexpr double worth_a_restart = 0.05;

}  // namespace

RecoveringStepper::RecoveringStepper(std::unique_ptr<Stepper> inner, int max_halvings)
    : DividingStepper(std::move(inner)), max_halvings_(max_halvings) {}

StepReport RecoveringStepper::step(State& state, double h) {
    return step_with_halvings(state, h, max_halvings_,
                              [&](State& part, double length) { return inner().step(part, length); });
}

PerturbationControl::PerturbationControl(std::unique_ptr<Stepper> inner, double tolerance, int max_halvings)
    : DividingStepper(std::move(inner)), tolerance_(tolerance), max_halvings_(max_halvings) {}

StepReport PerturbationControl::start(State& state) {
    current_ = from_before_ = 0;
    return inner().start(state);
}

bool PerturbationControl::put_on_constraints(State& state, StepReport& report) {
    saved_ = state;
    const StepReport restarted = inner().restart(state);
    report.iterations += restarted.iterations;
    // Once is enough: what is left then is none of the motion's making.
    from_before_ = 0;
    if (restarted.ok) return true;
    state = saved_;
    return false;
}

StepReport PerturbationControl::step(State& state, double h) {
    const double given = std::max(h, whole_step_);
    const double shortest = h * std::pow(0.5, max_halvings_) * (1 + 1e-9);
    const double end = state.t + h;
    inner().expect_parts_of(given);
    if (current_ <= 0) current_ = h;
    StepReport report;
    report.substeps = 0;
    good_ = state;
    while (state.t < end - 1e-12 * h) {
        const double length = std::min(current_, end - state.t);
        const bool is_shortest = length <= shortest;
        inner().limit_perturbation(is_shortest ? std::numeric_limits<double>::max() : tolerance_);
        saved_ = state;
        const StepReport part = inner().step(state, length);
        report.iterations += part.iterations;
        if (!part.ok) {
            state = saved_;
            if (from_before_ > worth_a_restart * tolerance_ && put_on_constraints(state, report)) continue;
            if (!is_shortest) {
                current_ = length / 2;
                continue;
            }
            state = good_;
            report.ok = false;
            report.reason = part.reason;
            return report;
        }
        ++report.substeps;
        const Perturbation perturbation = inner().perturbation();
        from_before_ = perturbation.last;
        if (perturbation.largest > tolerance_) put_on_constraints(state, report);
        if (perturbation.largest <= 0.1 * tolerance_) current_ = std::min(1.5 * std::max(current_, length), given);
    }
    state.t = end;
    return report;
}

std::unique_ptr<DividingStepper> with_halvings(std::unique_ptr<Stepper> stepper, const IntegratorOptions& options) {
    if (options.step_control > 0)
        return std::make_unique<PerturbationControl>(std::move(stepper), options.step_control, options.max_halvings);
    return std::make_unique<RecoveringStepper>(std::move(stepper), options.max_halvings);
}

FormulationOptions with_gains_under_control(FormulationOptions options, const IntegratorOptions& integrator) {
    if (integrator.step_control <= 0) return options;
    if (options.frequency == 0) options.frequency = 2 * pi * std::sqrt(0.1);
    if (options.damping == 0) options.damping = 1;
    return options;
}

}  // namespace limber
