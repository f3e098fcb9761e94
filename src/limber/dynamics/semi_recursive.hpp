#pragma once
// Semi-recursive formulation: relative coordinates z of the forest, reduced to independent ones y by a second velocity
// transformation (Cuadrado and Dopico; Garcia de Jalon and Bayo 1994).
//
//   z = (d, y)                      dependent and independent coordinates                                  (1)
//   Phi(d, y, t) = 0                d for given y, by Newton's method                                      (2)
//   J_d d'  = -J_y y'  - Phi_t      so z' = R y' + s,  R = [-J_d^-1 J_y; 1]                                (3)
//   J_d d'' = -J_y y'' - bias                                                                              (4)
//   r(y) = R^T (M z'' - Q) = 0      equations of motion                                                    (5)
//   y = y^ + beta h^2 A,  y' = y'^ + gamma h A,  y'' of A as in step_solver.hpp                            (6)
//   R^T (M + gamma h C + beta h^2 K) R dA = -r                                                             (7)
//   J_d^T lambda = (Q - M z'')_d    multipliers, for reactions and for K                                   (8)
//
// Difference formulas are applied to y alone. Newton's method finds their acceleration A; for every A the dependent
// positions, velocities and accelerations follow from the constraints exactly.
//
// The independent coordinates are those that a factorisation with full pivoting of J in the metric of the masses leaves
// over (Terze 2002: the constraint subspace is best represented by coordinates aligned with it). An error of y_k makes
// one of R_ik in d_i; in units of inertia m that is the magnification
//
//   g_i = max_k |R_ik| sqrt(m_i / m_k)                                                                     (9)
//
// of the dependent coordinate i: about one where the choice was made, and beyond all bounds where d_i can no longer
// follow from y (an Euler parameter passes zero in every turn of a body). Coordinates are chosen anew as soon as any
// g_i has become poor, long before. Since a state holds positions, velocities and accelerations of all coordinates, and
// all satisfy the constraints, another choice makes no jump and keeps the order.
//
// Where the speed of a driver jumps, positions and velocities of the independent coordinates take their part of the
// impulse, as in all other formulations: with rows the part of Phi or Phi' that the motion before does not foresee, and
// d = (-J_d^-1 rows, 0),
//
//   y += dy,   R^T M (R dy + d) = 0                                                                        (10)
//
// No multipliers, no penalty: where the rank of J falls (dead points) there is nothing to hold on to, and the step may
// fail.

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "limber/dynamics/newton_iteration.hpp"
#include "limber/dynamics/step_solver.hpp"
#include "limber/kinematics/elements/time_function.hpp"
#include "limber/math/broyden_updates.hpp"

namespace limber {

class SemiRecursiveSolver final : public StepSolver {
public:
    SemiRecursiveSolver(std::shared_ptr<const System> system, const FormulationOptions& options);

    StepReport step(State& state, const DifferenceFormulas& formulas) override;
    const System& system() const override { return *system_; }

private:
    // Which coordinates are independent, at the configuration of the evaluation.
    bool update_choice();
    void choose();
    void split();
    void resize();
    bool is_on(int row) const;
    bool have_rows_changed() const;

    // The velocity transformation there.
    void make_dense_jacobian();
    bool factorize_dependent();
    void update_transformation();
    void solve_dependent();
    void solve_dependent_transposed();
    void gather_rows(const VecX& rows);

    // One iterate.
    bool evaluate(const State& state, const DifferenceFormulas& f);
    bool close_loops(const State& state, const DifferenceFormulas& f);
    void update_motion(const State& state, const DifferenceFormulas& f);
    void complete(VecX& x, const VecX& rhs);
    void update_residual();
    void complete_accelerations(const State& state, const DifferenceFormulas& f);
    void factorize_tangent(const DifferenceFormulas& f);
    void factorize_reduced();
    void find_change();
    void take_change(const DifferenceFormulas& f);
    bool has_settled(const State& state, const DifferenceFormulas& f, double size, const ConvergenceWatch& watch) const;
    bool is_balanced() const;
    void update_multipliers();

    // Speeds of drivers that jump (semi_recursive_jumps.cpp).
    void prepare_for_jumps();
    bool has_jump(double t, double h) const;
    void share_jump();
    void share_jump_of_positions(const State& state, const DifferenceFormulas& f);
    void share_jump_of_velocities(const State& state, const DifferenceFormulas& f);

    StepReport fail(StepReport report, std::string reason);

    std::shared_ptr<const System> system_;
    FormulationOptions options_;
    std::unique_ptr<Evaluation> evaluation_;
    int rank_ = -1;  // -1: not chosen yet
    std::vector<int> dependent_, independent_, rows_used_;
    std::vector<bool> is_dependent_, was_on_;  // was_on_: rows, when the choice was made
    double magnification_ = 0;  // the largest g_i at the last transformation, and the least since the choice
    double least_magnification_ = 0;
    MatX jacobian_, scaled_, dependent_jacobian_, independent_jacobian_, transformation_, tangent_, product_, reduced_;
    Eigen::FullPivLU<MatX> choice_;
    Eigen::PartialPivLU<MatX> factor_;
    Eigen::LDLT<MatX> newton_;
    std::vector<double> values_;
    BroydenUpdates updates_;
    TangentChoice tangent_choice_;
    VecX q_, v_, a_, scheme_a_, lambda_, residual_, change_, rows_, selected_, ordered_;
    VecX reduced_residual_, reduced_change_, no_companion_;  // of the independent coordinates
    std::vector<TimeFunction> laws_;                         // of the drivers
    VecX time_partial_, mass_column_;                        // Phi_t at the start of a step with a jump
    DifferenceFormulas shifted_;                             // with the jump in them
};

}  // namespace limber
