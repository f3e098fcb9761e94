#pragma once
// What explicit schemes have in common: an acceleration solver, constraints kept by gains during the step or by
// projection at its end, and an evaluation there, which is the first one of the next step.

#include <limits>

#include "limber/integration/stepper.hpp"

namespace limber {

class ExplicitStepper : public Stepper {
public:
    /// Projects after every so many steps; 0: never.
    ExplicitStepper(std::unique_ptr<AccelerationSolver> solver, bool use_gains, int projection_interval);
    StepReport start(State& state) final;
    StepReport step(State& state, double h) final;
    const System& system() const final { return solver_->system(); }
    void expect_parts_of(double step) final { whole_step_ = step; }
    void limit_perturbation(double limit) final { perturbation_limit_ = limit; }
    Perturbation perturbation() const final { return perturbation_; }
    StepReport restart(State& state) final { return restart_state(*solver_, state); }

protected:
    /// Finds positions and velocities at the end of a step, q_ and v_, and counts its evaluations. False: the solver
    /// says why.
    virtual bool advance(const State& state, double h, int& evaluations) = 0;
    /// Moves q_ and v_ onto the constraints.
    virtual bool project_end(const State& state, double h);

    AccelerationSolver& solver() { return *solver_; }

    VecX q_, v_, a_, lambda_;

private:
    std::unique_ptr<AccelerationSolver> solver_;
    bool use_gains_;
    int projection_interval_, unprojected_steps_ = 0;
    double whole_step_ = 0;
    double perturbation_limit_ = std::numeric_limits<double>::infinity();
    Perturbation perturbation_;
};

}  // namespace limber
