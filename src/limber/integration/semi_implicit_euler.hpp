#pragma once
// Semi-implicit Euler: one evaluation per step.
//
//   v' = v + h a(t, q, v),     q' = q + h v'
//
// First order. Where the mass matrix is constant and forces depend on positions only (natural coordinates; a single
// joint) the step is symplectic: energy swings by O(h) and does not drift. Elsewhere the inertia forces are taken at
// the start of the step, and energy drifts in first order, as in all engines that step relative coordinates so.
//
// Euler parameters move along their great circles (System::move). Constraints are kept by forces of the start of the
// step for positions and of its end for velocities (AccelerationSolver::project_step), or by Baumgarte gains.

#include "limber/integration/explicit_stepper.hpp"

namespace limber {

class SemiImplicitEuler final : public ExplicitStepper {
public:
    using ExplicitStepper::ExplicitStepper;

protected:
    bool advance(const State& state, double h, int& evaluations) override;
    bool project_end(const State& state, double h) override;
};

}  // namespace limber
