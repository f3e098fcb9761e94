#pragma once
// Stops by the augmented Lagrangian with projected multipliers (Glowinski and Nasser eqs. 7-19, 40, 41), without
// looking for instants of contact: for comparison with the event-driven stepper.
//
//   M a - J^T (lambda + r g+) = Q,       g+ = max(0, -gap)                        (14) and (19), by Newton's method
//   with (16)-(18) lambda <- max(0, lambda - rho gap)                                           (15), (41)
//
// at the end of the step, with a and v from the difference formulas of a structural scheme: linear acceleration
// (27)-(31), the higher-order scheme (32)-(39) with the misprints mended, or any other. Special cases: r = 0, the
// method of multipliers, and lambda = 0, the penalty method. By default rho is what makes one update exact for a single
// contact, rho = 1 / (beta h^2 J S^-1 J^T), and r ten times that.
//
// There is no restitution: what an impact does follows from the scheme, and changes with the place of contact within
// the step. The paper's coordinates are independent; so these must be (trees in relative coordinates, without ball
// joints).

#include <memory>

#include "limber/contact/contact_options.hpp"
#include "limber/dynamics/system/system.hpp"
#include "limber/integration/structural.hpp"
#include "limber/math/linear_solver.hpp"

namespace limber {

template <int D>
class ProjectedMultiplierStepper final : public Stepper {
public:
    /// Throws ModelError if the coordinates are not independent or the scheme does not fit.
    ProjectedMultiplierStepper(std::shared_ptr<const MechanismSystem<D>> system,
                               std::unique_ptr<AccelerationSolver> starter, const StructuralScheme& scheme,
                               const ContactOptions& options);

    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    const System& system() const override { return *system_; }

private:
    bool factorize(const DifferenceFormulas& f, const VecX& active_penalty);
    void choose_parameters(const DifferenceFormulas& f);
    /// Newton's method for fixed multipliers. False: it did not converge.
    bool solve_motion(const DifferenceFormulas& f, double t, int& iterations);

    std::shared_ptr<const MechanismSystem<D>> system_;
    const Mechanism<D>& m_;
    std::unique_ptr<AccelerationSolver> starter_;
    StructuralScheme scheme_;
    ContactOptions options_;
    std::unique_ptr<Evaluation> evaluation_;
    std::unique_ptr<LinearSolver> linear_;
    DifferenceFormulas formulas_;
    std::vector<double> memory_, matrix_;  // memory_: with all contacts evaluated
    VecX q_, v_, a_, lambda_, forces_, penalty_, rate_, active_, row_force_, residual_, product_;
};

}  // namespace limber
