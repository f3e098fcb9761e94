#pragma once
// Lagrange multipliers with Baumgarte stabilisation (Baumgarte 1972; Joli 2008 eqs. 8-14):
//
//   [ M  J^T ] [ a      ]   [ Q                            ]
//   [ J   0  ] [ lambda ] = [ -(bias + kv Phi' + kp Phi)   ]
//
// Redundant rows make this singular, massless bodies make M singular. Solved as the quasi-definite matrix
//   [ M + J^T m J   J^T ]       m: inertia of the rows (adds a multiple of the constraint equations to the first line),
//   [ J             -d  ]       d: 1e-8 / m
// which has an L D L^T factorisation in any order, with refinement against the exact equations, made conjugate where
// constraints act weakly (see multiplier_iteration.hpp). From zero the refinement converges to the multipliers of
// smallest norm: the pseudo-inverse solution. Conditions that are none where the constraints are closed are left out
// (see open_constraints.hpp).

#include "limber/dynamics/formulation.hpp"
#include "limber/dynamics/left_out_rows.hpp"
#include "limber/math/linear_solver.hpp"
#include "limber/math/multiplier_iteration.hpp"

namespace limber {

class BaumgarteSolver final : public AccelerationSolver {
public:
    BaumgarteSolver(std::shared_ptr<const System> system, const FormulationOptions& options);

    bool solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a, VecX& lambda) override;
    bool has_dependent_velocities() const override {
        return is_overconstrained_ && left_out_.are_velocities_dependent();
    }

private:
    void assemble();
    void refine(VecX& a, VecX& lambda);
    void respond(VecX& x);
    /// The first refinements, from zero.
    void start(VecX& a, VecX& lambda);
    void leave_out_uncertain(VecX& a, VecX& lambda);

    SymmetricPattern pattern_;  // of the saddle-point matrix
    std::vector<int> mass_place_, row_place_, diagonal_place_;
    std::vector<double> matrix_, block_;
    std::unique_ptr<LinearSolver> solver_;
    MultiplierIteration iteration_;
    VecX weight_;  // 1 / d
    LeftOutRows left_out_;
    bool is_overconstrained_ = false;
    VecX x_, rows_, product_, trial_;
};

}  // namespace limber
