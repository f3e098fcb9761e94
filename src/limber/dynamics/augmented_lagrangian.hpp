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

protected:
    /// First solve, without multipliers: a = S^-1 (Q - J^T W g).
    bool solve_penalty(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a);

    PenalizedMass mass_;
    VecX residual_;
};

}  // namespace limber
