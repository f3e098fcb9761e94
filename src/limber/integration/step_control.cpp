#include "limber/integration/step_control.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace limber {

RecoveringStepper::RecoveringStepper(std::unique_ptr<Stepper> inner, int max_halvings)
    : inner_(std::move(inner)), max_halvings_(max_halvings) {}

StepReport RecoveringStepper::step(State& state, double h) {
    return step_with_halvings(state, h, max_halvings_,
                              [&](State& part, double length) { return inner_->step(part, length); });
}

PerturbationControl::PerturbationControl(std::unique_ptr<Stepper> inner, double tolerance, int max_halvings)
    : inner_(std::move(inner)), tolerance_(tolerance), max_halvings_(max_halvings) {}

StepReport PerturbationControl::start(State& state) {
    current_ = 0;
    return inner_->start(state);
}

StepReport PerturbationControl::step(State& state, double h) {
    const double end = state.t + h;
    const double smallest = h * std::pow(0.5, max_halvings_);
    if (current_ <= 0) current_ = h;
    StepReport report;
    report.substeps = 0;
    saved_ = state;
    const State good = state;
    while (state.t < end - 1e-12 * h) {
        const double length = std::min(current_, end - state.t);
        saved_ = state;
        const StepReport part = inner_->step(state, length);
        report.iterations += part.iterations;
        const bool rough = part.ok && inner_->perturbation() > tolerance_;
        if ((!part.ok || rough) && length > smallest) {
            state = saved_;
            current_ = length / 2;
            continue;
        }
        if (!part.ok) {
            report.ok = false;
            report.reason = part.reason;
            state = good;
            return report;
        }
        ++report.substeps;
        if (inner_->perturbation() < 0.1 * tolerance_) current_ = std::min(1.5 * std::max(current_, length), h);
    }
    state.t = end;
    return report;
}

}  // namespace limber
