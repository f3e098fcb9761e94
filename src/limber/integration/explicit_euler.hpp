#pragma once
// Explicit Euler (Glowinski and Nasser, figure 9): one evaluation per step.
//
//   q' = q + h v,     v' = v + h a(t, q, v)
//
// First order. It feeds energy into all that swings, in proportion to the step: for comparison, not for use.

#include "limber/integration/explicit_stepper.hpp"

namespace limber {

class ExplicitEuler final : public ExplicitStepper {
public:
    using ExplicitStepper::ExplicitStepper;

protected:
    bool advance(const State& state, double h, int& evaluations) override;
};

}  // namespace limber
