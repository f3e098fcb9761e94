#pragma once
// Any stepper of a mechanism whose force laws have kinks: corners that bump stops, tables of straight lines, roads and
// tyres that lift off have.
//
//   step      as if there were no kink
//   crossing  first instant at which an argument g of a force passes one, by the cubic through g and its rate at both
//             ends of the step (kink_crossing.hpp)
//   division  the step is made anew up to that instant, until the kink is met there, and so on for its rest. A part
//             that ended late by e would hand the acceleration omega^2 e r to the whole of the next one, so the kink
//             is met exactly.
//   bounce    What is short beside the step behind a kink, as the time on a stiff stop, is followed in shorter parts.
//             With rates r0 and r1 at the ends of the first one the trapezoidal rule on a spring has
//               (omega h / 2)^2 = (r0 - r1) / (r0 + r1),
//             and for half a period, until the kink is passed again, parts are a share of the step, so that the error
//             there falls with the step, and of 1 / omega.
//
// Schemes keep their order and their balance of energy across a corner then; not at a jump of a force, where the
// acceleration they carry on is that of before.

#include <memory>
#include <vector>

#include "limber/dynamics/system/system.hpp"
#include "limber/integration/stepper.hpp"
#include "limber/math/kink.hpp"

namespace limber {

/// Whether any force of the mechanism has one.
template <int D>
bool has_kinks(const Mechanism<D>& mechanism);

template <int D>
class KinkStepper final : public Stepper {
public:
    KinkStepper(std::unique_ptr<Stepper> inner, std::shared_ptr<const MechanismSystem<D>> system);

    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    const System& system() const override { return *system_; }
    void expect_parts_of(double step) override { inner_->expect_parts_of(step); }
    Perturbation perturbation() const override { return inner_->perturbation(); }
    bool tell(StepListener* listener) override {
        listener_ = listener;
        return true;
    }

private:
    /// Time behind a kink that is followed in parts.
    struct Bounce {
        double begin = 0, end = 0, part = 0;
    };
    /// The last arguments, if they are those of this state.
    void look_at_start(const State& state);
    void look(const State& state, KinkArguments& arguments);
    StepReport step_part(State& state, double length, double h, int trials);
    double find_part(double t, double length) const;
    /// How long the part may be that goes from before_ to now_, if it begins at a kink; notes the bounce.
    double find_bounce(double t, double length, double h);
    void end_bounces(double t, double h);

    std::unique_ptr<Stepper> inner_;
    std::shared_ptr<const MechanismSystem<D>> system_;
    const Mechanism<D>& m_;
    StepListener* listener_ = nullptr;
    std::vector<const ForceElement<D>*> forces_;  // that have kinks
    std::vector<int> features_used_, bodies_used_;
    KinkArguments before_, now_;
    std::vector<Bounce> bounces_;  // of each argument
    // Of the state that now_ belongs to, between two steps.
    double known_t_ = 0;
    VecX known_q_, known_v_;
    State start_, part_start_;
    BodyStates<D> states_;
    FeatureState<D> features_;
};

}  // namespace limber
