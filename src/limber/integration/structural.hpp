#pragma once
// Structural integrators as one family (Cuadrado and Dopico eqs. 38-42, table 2).
//
//   trapezoidal          beta 1/4, gamma 1/2
//   newmark(xi)          beta (1 - xi)^2 / 4, gamma (1 - 2 xi) / 2; xi in [-1, 0], first order for xi < 0
//   hht(delta_f)         beta (1 + delta_f)^2 / 4, gamma (1 + 2 delta_f) / 2; delta_f in [0, 1/3]
//   generalized-alpha    delta_m (2 rho - 1)/(rho + 1), delta_f rho/(rho + 1), gamma 1/2 - delta_m + delta_f,
//                        beta (1 - delta_m + delta_f)^2 / 4; rho in [0, 1]
//   linear-acceleration  beta 1/6, gamma 1/2 (Glowinski and Nasser eqs. 27-31)
//   higher-order         acceleration as a parabola through a_(n-1), a_n, a_(n+1)
//                        (Glowinski and Nasser eqs. 32-39, corrected); for equal steps
//                        q' = q + h v + h^2 (10 a_n - a_(n-1) + 3 a') / 24
//                        v' = v + h (8 a_n - a_(n-1) + 5 a') / 12

#include <limits>

#include "limber/dynamics/step_solver.hpp"
#include "limber/integration/stepper.hpp"

namespace limber {

struct StructuralScheme {
    double beta = 0.25, gamma = 0.5, delta_m = 0, delta_f = 0;
    bool looks_back = false;
};

StructuralScheme make_structural_scheme(const std::string& name, const IntegratorOptions& options);

/// Coefficients and predicted parts for a step of length h from the given state.
void update_formulas(const StructuralScheme& scheme, const State& state, double h, DifferenceFormulas& formulas);

/// A step solver driven by a structural scheme.
class StructuralStepper final : public Stepper {
public:
    StructuralStepper(std::unique_ptr<StepSolver> solver, std::unique_ptr<AccelerationSolver> starter,
                      StructuralScheme scheme);
    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    const System& system() const override { return solver_->system(); }

private:
    std::unique_ptr<StepSolver> solver_;
    std::unique_ptr<AccelerationSolver> starter_;
    StructuralScheme scheme_;
    DifferenceFormulas formulas_;
};

/// An acceleration solver driven by a structural scheme as predictor and corrector (Joli 2008 eqs. 37, 38):
/// accelerations are computed for the predicted motion, the motion is corrected with them. One pass is enough for
/// second order, two (the default) halve the error; more do not pay, and at dead points, where accelerations are
/// sensitive to the position, they hurt.
///
/// Steps that leave a constraint open by more than `tolerated_drift` end with a projection: 0 projects every step, or
/// every `projection_interval` steps, infinity none. In between it is a net under gains, which fade an error out over
/// many steps: in violent motion more would come in. A step that leaves a hundred times as much has failed.
class PredictorCorrector final : public Stepper {
public:
    PredictorCorrector(std::unique_ptr<AccelerationSolver> solver, StructuralScheme scheme, bool use_gains,
                       double tolerated_drift, int passes, int projection_interval);
    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    const System& system() const override { return solver_->system(); }
    void expect_parts_of(double step) override { whole_step_ = step; }
    void limit_perturbation(double limit) override { perturbation_limit_ = limit; }
    Perturbation perturbation() const override { return perturbation_; }
    StepReport restart(State& state) override { return restart_state(*solver_, state); }

private:
    std::unique_ptr<AccelerationSolver> solver_;
    StructuralScheme scheme_;
    bool end_on_constraints(double t, std::span<const double> memory, StepReport& report);

    bool use_gains_;
    double whole_step_ = 0;
    double tolerated_drift_;
    int passes_;
    int projection_interval_, unprojected_steps_ = 0;
    int growing_ = 0;
    double perturbation_limit_ = std::numeric_limits<double>::infinity();
    Perturbation perturbation_;
    DifferenceFormulas formulas_;
    VecX q_, v_, a_, scheme_a_, lambda_;
    VecX unprojected_q_, unprojected_v_;
};

}  // namespace limber
