#pragma once
// Classical Runge-Kutta scheme of fourth order on q' = M^-1 p, p' = ... of canonical momenta. Drift is kept down as by
// RungeKutta4.

#include "limber/dynamics/canonical_momenta.hpp"
#include "limber/integration/stepper.hpp"

namespace limber {

class MomentumRungeKutta4 final : public Stepper {
public:
    /// The solver must be a MomentumSolver as well.
    MomentumRungeKutta4(std::unique_ptr<AccelerationSolver> solver, bool use_gains, bool use_projection);
    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    const System& system() const override { return solver_->system(); }

private:
    std::unique_ptr<AccelerationSolver> solver_;
    MomentumSolver& momenta_;
    bool use_gains_, use_projection_;
    VecX q_, p_, p_start_, a_, lambda_;
    VecX velocity_[4], rate_[4];
};

}  // namespace limber
