#pragma once
// Semi-recursive formulation: relative coordinates z of the forest, reduced to independent ones y by a second velocity transformation
// (Cuadrado and Dopico; Garcia de Jalon and Bayo 1994).
//
//   z = (d, y),   z' = R y' + s,   R = [ -J_d^-1 J_y ; 1 ]
//   R^T (M z'' - Q) = 0
//
// Difference formulas are applied to y alone; Newton's method finds y at the end of the step with the tangent R^T (M + gamma h C +
// beta h^2 K) R, and for every y the dependent positions, velocities and accelerations follow from the constraints exactly.
//
// The independent coordinates are those that a factorisation with full pivoting of J in the metric of the masses leaves over (Terze 2002:
// the constraint subspace is best represented by coordinates aligned with it). They are chosen anew when the present choice becomes
// poor. Since all coordinates of a state satisfy the constraints, another choice makes no jump.
//
// Where the speed of a driver jumps, the impulse goes to the independent velocities too, as everywhere else: least change in the metric of the
// masses.
//
// No multipliers, no penalty: where the rank of J falls (dead points) there is nothing to hold on to, and the step may fail.

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "limber/dynamics/step_solver.hpp"
#include "limber/kinematics/elements/time_function.hpp"

namespace limber {

class SemiRecursiveSolver final : public StepSolver {
public:
    SemiRecursiveSolver(std::shared_ptr<const System> system, const FormulationOptions& options);

    StepReport step(State& state, const DifferenceFormulas& formulas) override;
    const System& system() const override { return *system_; }

private:
    /// Splits coordinates and rows at the configuration of the evaluation.
    void choose();
    /// J_d and R at the configuration of the evaluation. False if J_d is singular.
    bool update_transformation();
    /// Dependent positions for the independent ones in q_.
    bool close(const State& state, const DifferenceFormulas& f, double t);
    void update_motion(const State& state, const DifferenceFormulas& f);
    void complete(VecX& x, const VecX& rhs);
    void complete_accelerations(const State& state, const DifferenceFormulas& f);
    /// Whether the speed of a driver jumps within a step.
    bool has_jump(double t, double h) const;
    void share_jump();
    void share_jump_of_positions(const State& state, const DifferenceFormulas& f);
    void share_jump_of_velocities(const State& state, const DifferenceFormulas& f);
    void reduce(const MatX& columns, MatX& m) const;
    void gather_rows(const VecX& rows);
    void solve_dependent();
    /// Whether forces balance at the last iterate.
    bool is_balanced() const;
    void make_dense_jacobian();
    bool is_on(int row) const;
    /// Whether contacts have opened or closed since the last choice.
    bool have_rows_changed() const;

    std::shared_ptr<const System> system_;
    FormulationOptions options_;
    std::unique_ptr<Evaluation> evaluation_;
    int rank_ = -1;  // -1: not chosen yet
    std::vector<int> dependent_, independent_, rows_used_;
    std::vector<bool> was_on_;  // rows, when the choice was made
    double quality_ = 0;        // smallest over largest pivot of J_d when it was chosen
    MatX jacobian_, scaled_, dependent_jacobian_, independent_jacobian_, transformation_, tangent_, product_, reduced_;
    Eigen::FullPivLU<MatX> choice_;
    Eigen::PartialPivLU<MatX> factor_;
    Eigen::LDLT<MatX> newton_;
    std::vector<double> values_;
    VecX q_, v_, a_, scheme_a_, lambda_, residual_, reduced_residual_, rows_, selected_, ordered_;
    // For speeds of drivers that jump: the drivers, time_partial at the start of the step, the formulas with the jump in them, scratch.
    std::vector<TimeFunction> laws_;
    VecX time_partial_, change_, mass_column_;
    DifferenceFormulas shifted_;
};

}  // namespace limber
