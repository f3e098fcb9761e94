#pragma once
// Stops by the augmented Lagrangian with projected multipliers (Glowinski and Nasser eqs. 7-19, 40, 41), without
// looking for instants of contact: for comparison with the event-driven stepper.
//
//   M a + J1^T (mu + r1 g1) - J2^T (lambda + r g+) - JT^T tau = Q,      g+ = max(0, -gap)       (14) and (19)
//   mu <- mu + r1 g1                      joints, drivers: equations, G1 of eq. (10)             (15), (41)
//   lambda <- max(0, lambda - rho gap)    stops: inequalities, G2
//   tau <- P(tau - rho' JT v),  |tau| <= friction * lambda     dry friction: r = 0 (their ref. 8)
//
// at the end of the step, one iteration of Newton's method with (16)-(18) for each update of the multipliers (40),
// (41), with a and v from the difference formulas of a structural scheme: linear acceleration (27)-(31), the
// higher-order scheme (32)-(39) with the misprints mended, or any other. Special cases: r = 0, the method of
// multipliers, and lambda = 0, the penalty method. By default rho = r, which is ten times rho*, or rho* without a
// penalty: what makes one update exact for a single contact, rho* = 1 / (beta h^2 J S^-1 J^T). r1 suits mass and step,
// and where there are equations velocities and accelerations are brought onto them at the end of the step, as in
// global.hpp.
//
// What the paper leaves open is what the multipliers are when a gap closes:
//
//   force      they are forces, which the accelerations carry on into the next step. There is no restitution: what an
//              impact does follows from the scheme, and changes with the place of contact within the step
//   impulse    they are impulses of this step (projected_impulses.hpp), and accelerations are those of the motion
//              thereafter, "updated from the solution of equation (14) after convergence". The motion without impact is
//              found first; where it violates a stop that was open, the step is found anew with all of them, and with
//              the forces Q at the velocities without impact

#include <array>
#include <memory>

#include "limber/contact/contact_options.hpp"
#include "limber/contact/stops/projected_impulses.hpp"
#include "limber/dynamics/system/system.hpp"
#include "limber/integration/structural.hpp"
#include "limber/math/linear_solver.hpp"
#include "limber/math/multiplier_iteration.hpp"

namespace limber {

template <int D>
class ProjectedMultiplierStepper final : public Stepper {
public:
    /// Throws ModelError if the scheme does not fit, for friction in joints, and for stops that latch.
    ProjectedMultiplierStepper(std::shared_ptr<const MechanismSystem<D>> system,
                               std::unique_ptr<AccelerationSolver> starter, const StructuralScheme& scheme,
                               const ContactOptions& options);

    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    const System& system() const override { return *system_; }

private:
    void find_rows();
    void find_first_acceleration(State& state);
    bool factorize(const DifferenceFormulas& f, const VecX& active_penalty);
    bool choose_parameters(const DifferenceFormulas& f);
    /// solution = S^-1 J_i^T
    void solve_row(int row, VecX& solution);
    double row_times(int row, const VecX& x) const;
    /// What is to become zero, as lengths.
    void update_openings(const DifferenceFormulas& f);
    /// (15), (41); by how much the openings would have to be others for it to change nothing.
    double update_multipliers();
    double update_friction(int friction);
    void update_forces();
    /// Impulses: stops that are open at the start wait until the motion without them has violated one; then all take
    /// part, and forces are those at the velocities without impact. False: none has to.
    bool admit_violated();
    /// What the kinetic energy may be after an impact: that of the motion without it, and the work on the way back.
    double find_kinetic_limit();
    /// Newton's method with multipliers. On failure the reason is in the report.
    bool solve_motion(const DifferenceFormulas& f, double t, StepReport& report);
    /// Coefficients for what sticks or slides at the start of the step.
    void choose_coefficients(const State& state);
    /// What slides now under its static coefficient gets the kinetic one. False: nothing does.
    bool let_go(double tolerance);
    /// x <- x - S^-1 J1^T nu, such that J1 x + rhs = 0.
    void project(const VecX& rhs, VecX& x);

    std::shared_ptr<const MechanismSystem<D>> system_;
    const Mechanism<D>& m_;
    std::unique_ptr<AccelerationSolver> starter_;
    StructuralScheme scheme_;
    ContactOptions options_;
    std::unique_ptr<Evaluation> evaluation_;
    std::unique_ptr<LinearSolver> linear_;
    MultiplierIteration projection_;
    ProjectedImpulses<D> impulses_;
    DifferenceFormulas formulas_;
    State end_;
    std::vector<int> stop_rows_;           // of the system, of each stop
    std::vector<int> friction_rows_;       // the first one of each friction element; others follow
    std::vector<int> joint_rows_;          // all others
    std::vector<double> memory_, matrix_;  // memory_: with all contacts evaluated
    std::vector<double> coefficients_;     // of friction
    std::vector<bool> may_let_go_, is_waiting_;
    bool is_impact_ = false;
    double free_energy_ = 0;          // kinetic, without impact
    VecX free_q_, free_v_;            // the motion without it
    VecX all_penalties_, all_rates_;  // of those that wait, too
    BodyStates<D> states_;
    VecX q_, v_, a_, residual_, product_;
    // Beside the rows: multipliers as forces in the direction of the row, what acts in all, and what is to become zero.
    VecX lambda_, lambda_before_, lambda_tried_, active_before_, forces_, openings_;
    VecX penalty_, rate_, active_, row_force_, joint_weight_, row_residual_, row_multipliers_;
};

}  // namespace limber
