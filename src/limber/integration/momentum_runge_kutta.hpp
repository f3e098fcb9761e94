#pragma once
// Classical Runge-Kutta scheme of fourth order on q' = M^-1 p, p' = ... of canonical momenta. Drift is kept down as by
// RungeKutta4.

#include "limber/dynamics/canonical_momenta.hpp"
#include "limber/integration/explicit_stepper.hpp"

namespace limber {

class MomentumRungeKutta4 final : public ExplicitStepper {
public:
    /// The solver must be a MomentumSolver as well.
    MomentumRungeKutta4(std::unique_ptr<AccelerationSolver> solver, bool use_gains, int projection_interval);

protected:
    bool advance(const State& state, double h, int& evaluations) override;

private:
    MomentumSolver& momenta_;
    VecX p_, p_start_;
    VecX velocity_[4], rate_[4];
};

}  // namespace limber
