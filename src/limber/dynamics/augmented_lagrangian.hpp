#pragma once
// Acceleration-based augmented Lagrangian (Bayo, Garcia de Jalon and Serna 1988; Seguy 2003 eqs. 9-13, Joli 2008 eq.
// 24).
//
//   (M + J^T W J) a_1     = Q - J^T W g,             g = bias + kv Phi' + kp Phi,   lambda_0 = 0
//   lambda_i              = lambda_(i-1) + W (J a_i + g)
//   (M + J^T W J) (a_(i+1) - a_i) = -J^T W (J a_i + g)
//
// until the constraint accelerations J a + g vanish. The matrix is regular at singular positions and with redundant
// constraints. Successive corrections are made conjugate (see multiplier_iteration.hpp), which changes nothing where one
// or two suffice and helps where the constraints act weakly.

#include "limber/dynamics/formulation.hpp"
#include "limber/dynamics/penalized_mass.hpp"

namespace limber {

class AugmentedLagrangianSolver : public AccelerationSolver {
public:
    AugmentedLagrangianSolver(std::shared_ptr<const System> system, const FormulationOptions& options);

    bool solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a, VecX& lambda) override;
    /// The same as in the base class, with the matrix of the last solve for the positions; the matrix for the velocities serves the next
    /// solve at the projected positions.
    bool project(double t, VecX& q, VecX& v, std::span<const double> memory) override;

protected:
    /// First solve, without multipliers: a = S^-1 (Q - J^T W g).
    bool solve_penalty(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a);

    PenalizedMass mass_;
    VecX residual_;

private:
    bool factorize_at(double t, const VecX& q, std::span<const double> memory);

    double factorised_t_ = 0;
    VecX factorised_q_;  // where the matrix was factorised; empty: nowhere yet
    VecX projection_lambda_, before_;
};

}  // namespace limber
