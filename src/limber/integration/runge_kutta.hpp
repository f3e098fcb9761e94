#pragma once
// Classical Runge-Kutta scheme of fourth order on q' = v, v' = a(t, q, v).
//
// Drift is removed after each step by projecting positions and velocities onto the constraints (keeps the order), or
// kept down during the step by Baumgarte gains.

#include "limber/integration/explicit_stepper.hpp"

namespace limber {

class RungeKutta4 final : public ExplicitStepper {
public:
    RungeKutta4(std::unique_ptr<AccelerationSolver> solver, bool use_gains, int projection_interval);

protected:
    bool advance(const State& state, double h, int& evaluations) override;

private:
    VecX stage_q_, stage_v_;
    VecX a2_, a3_, a4_;
};

}  // namespace limber
