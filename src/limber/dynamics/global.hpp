#pragma once
// Global formulation: index-3 augmented Lagrangian in dependent coordinates with Newton's method and
// mass-damping-stiffness-orthogonal projections (Cuadrado and Dopico eqs. 1, 2, 25-27, 35, 36; Cuadrado et al.
// 2001).
//
//   M a + J^T (lambda + alpha Phi) = Q,     lambda <- lambda + alpha Phi
//
// Schemes that weight the equilibrium over the step (HHT, generalized-alpha) do so through the acceleration A of the
// difference formulas, (1 - dm) A' + dm A = (1 - df) a' + df a, so that the equations of motion themselves hold at the
// end of the step. For a constant M this is the weighted equilibrium of the paper (eq. 38); for a varying one it keeps
// the second order (Arnold and Bruls 2007).
//
// With a and v expressed by the positions q (difference formulas), Newton's matrix is
//   S = M + gamma h C + beta h^2 (K + sum lambda_i Phi_i,qq) + J^T W J,      W = beta h^2 alpha = penalty * row inertia
// so the penalty follows mass / h^2 by itself. S and J are evaluated once per step at the predicted positions (C and K,
// where they are costly, every few steps as long as the iteration converges fast); an iteration is
//   S dq = -beta h^2 (M a + J^T lambda - Q) - J^T W Phi,   lambda <- lambda + W / (beta h^2) (Phi + J dq)
// The multiplier update uses the constraint after the step to first order, which equals eq. (2) up to second order
// and is free of the rounding error of alpha Phi. Velocity constraints enter with (beta h / gamma) phi in place of
// Phi.
//
// Then, with the same factorised S,
//   S v = (S - J^T W J) v* - J^T W Phi_t,   S a = (S - J^T W J) a* - J^T W (J' v + Phi_t')

#include "limber/dynamics/newton_iteration.hpp"
#include "limber/dynamics/step_solver.hpp"
#include "limber/math/broyden_updates.hpp"
#include "limber/math/linear_solver.hpp"

namespace limber {

class GlobalSolver final : public CoupledStepSolver {
public:
    GlobalSolver(std::shared_ptr<const System> system, const FormulationOptions& options);

    StepReport step(State& state, const DifferenceFormulas& formulas) override;
    const System& system() const override { return *system_; }

    void renew() override;
    void open(const State& start, const DifferenceFormulas& formulas) override;
    bool approach(const State& start, const DifferenceFormulas& formulas, bool refresh) override;
    bool is_balanced(const DifferenceFormulas& formulas) const override;
    NewtonProgress advance(const DifferenceFormulas& formulas, const VecX& response) override;
    StepReport close(State& state, const DifferenceFormulas& formulas) override;
    const VecX& positions() const override { return q_; }
    const VecX& velocities() const override { return v_; }
    const VecX& change() const override { return change_; }

    void borrow_inertia(double inertia_share) override { borrowed_inertia_ = inertia_share; }
    Evaluation& evaluation() override { return *evaluation_; }
    void respond(VecX& force) override { solver_->solve(force); }
    void change_velocities(State& end, const VecX& change) override;
    void change_accelerations(State& end, const VecX& change) override;

private:
    void settle_accelerations(State& end);
    void update_acceleration(const State& state, const DifferenceFormulas& formulas);
    bool factorize_tangent(const DifferenceFormulas& f, bool with_stiffness);
    bool can_reuse_stiffness(const DifferenceFormulas& f) const;
    /// Residual of the equilibrium (times beta h^2) and of the constraints.
    void update_residual(const DifferenceFormulas& f);
    /// The change of the positions that takes out the residual, to first order.
    void find_change();
    void find_multiplier_change(const DifferenceFormulas& f);
    NewtonProgress take_change(const DifferenceFormulas& f);
    /// Takes what does nothing out of the change of the multipliers.
    void drop_idle_multipliers();
    double find_enough(const State& start, const DifferenceFormulas& f) const;
    bool has_settled(const State& start, const DifferenceFormulas& f, const ConvergenceWatch& watch) const;
    bool is_balanced_to(const DifferenceFormulas& f, double acceleration, double opening) const;
    /// x <- x - S^-1 J^T W (J x + rhs), until J x + rhs is small.
    void project(const VecX& rhs, VecX& x);

    std::shared_ptr<const System> system_;
    FormulationOptions options_;
    std::unique_ptr<Evaluation> evaluation_;
    std::unique_ptr<LinearSolver> solver_;
    std::vector<double> tangent_, jacobian_;  // jacobian_: J at the factorised configuration
    VecX weight_;                             // W
    VecX q_, v_, a_, scheme_a_, lambda_, change_, multiplier_change_;
    BroydenUpdates updates_;
    TangentChoice choice_;
    VecX residual_, rows_, product_;
    std::vector<double> stiffness_;  // gamma h C + beta h^2 K, of the step stiffness_age_ steps ago
    int stiffness_age_ = 1 << 20;
    double stiffness_step_ = 0, stiffness_beta_ = 0;
    double convergence_rate_ = 1;  // worst of the last step
    double borrowed_inertia_ = 0;
    bool are_velocities_dependent_ = false;
    double scheme_share_ = 1;  // of a change of the acceleration that the scheme's one takes part in
};

}  // namespace limber
