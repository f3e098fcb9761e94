#pragma once
// Semi-implicit Euler: one evaluation per step.
//
//   v' = v + h a(t, q, v),     q' = q + h v'
//
// First order. Where the mass matrix is constant and forces depend on positions only (natural coordinates; a single joint) the step is
// symplectic: energy swings by O(h) and does not drift. Elsewhere the inertia forces are taken at the start of the step, and energy drifts
// in first order, as in all engines that step relative coordinates so.
//
// Euler parameters move along their great circles (System::move). Constraints are kept by forces of the start of the step for
// positions and of its end for velocities (AccelerationSolver::project_step), or by Baumgarte gains.

#include "limber/integration/stepper.hpp"

namespace limber {

class SemiImplicitEuler final : public Stepper {
public:
    SemiImplicitEuler(std::unique_ptr<AccelerationSolver> solver, bool use_gains, bool use_projection);
    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    const System& system() const override { return solver_->system(); }
    double perturbation() const override { return solver_->perturbation(); }

private:
    std::unique_ptr<AccelerationSolver> solver_;
    bool use_gains_, use_projection_;
    VecX q_, v_, a_, lambda_;
};

}  // namespace limber
