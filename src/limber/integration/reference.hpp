#pragma once
// Reference solutions, for checking the other schemes: SUNDIALS on the index-1 accelerations, with adaptive steps;
// after every internal step positions and velocities are projected onto the constraints.
//
//   smooth problems   ARKODE, explicit Runge-Kutta pair of orders 8 and 7
//   stiff problems    CVODE, backward differentiation of variable order, once the explicit pair needs too many steps

#include "limber/integration/stepper.hpp"

namespace limber {

class ReferenceStepper final : public Stepper {
public:
    ReferenceStepper(std::unique_ptr<AccelerationSolver> solver, double tolerance);
    ~ReferenceStepper() override;
    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    const System& system() const override;
    bool tell(StepListener* listener) override;
    /// Whether the problem turned out to be stiff.
    bool is_stiff() const;

private:
    struct Problem;
    class Engine;
    class ExplicitEngine;
    class StiffEngine;

    bool continues(const State& state, double h) const;

    std::unique_ptr<Problem> problem_;
    std::unique_ptr<Engine> engine_;
    double tolerance_;
    double reached_ = 0;  // time of the engine's own state
    bool is_started_ = false;
};

}  // namespace limber
