#pragma once
// Classical Runge-Kutta scheme of fourth order on q' = v, v' = a(t, q, v).
//
// Drift is removed after each step by projecting positions and velocities onto the constraints (keeps the order), or
// kept down during the step by Baumgarte gains.

#include "limber/integration/stepper.hpp"

namespace limber {

class RungeKutta4 final : public Stepper {
public:
    RungeKutta4(std::unique_ptr<AccelerationSolver> solver, bool use_gains, bool use_projection);
    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    const System& system() const override { return solver_->system(); }
    double perturbation() const override { return solver_->perturbation(); }

private:
    std::unique_ptr<AccelerationSolver> solver_;
    bool use_gains_, use_projection_;
    VecX q_, v_, stage_q_, stage_v_, lambda_;
    VecX a1_, a2_, a3_, a4_;
};

}  // namespace limber
