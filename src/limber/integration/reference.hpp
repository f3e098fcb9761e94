#pragma once
// Reference solutions, for checking the other schemes: SUNDIALS ARKODE, explicit Runge-Kutta of order 8 with
// adaptive steps, on the index-1 accelerations; after every internal step positions and velocities are projected
// onto the constraints.

#include "limber/integration/stepper.hpp"

namespace limber {

class ReferenceStepper final : public Stepper {
public:
    ReferenceStepper(std::unique_ptr<AccelerationSolver> solver, double tolerance);
    ~ReferenceStepper() override;
    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    const System& system() const override;

private:
    struct Sundials;
    std::unique_ptr<Sundials> sundials_;
};

}  // namespace limber
