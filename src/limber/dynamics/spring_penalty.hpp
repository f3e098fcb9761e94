#pragma once
// Constraints replaced by springs and dampers alone (Seguy 2003 section 2.3), as stiff as the step bears (section 3.1):
//
//   M a = Q - J^T lambda
//   lambda_j = m_j (omega^2 Phi_j + 2 damping omega Phi'_j),   omega = frequency / step       (6), (16)-(18)
//   mu_j     = 0.1 m_j / step phi_j                            of rows for velocities         (6), (21)
//
// m_j is what resists a force along the row, 1 / sum_k |J M^-1 J^T|_jk: then no oscillation of all rows together is
// faster than omega. Or it is that of (15), the diagonal of J M J^T. No equation is met exactly, and at the start,
// where no step is known yet, nothing holds at all: while the constraints are closed springs have no force.
//
// M must be regular: every coordinate needs an inertia. Euler parameters and bodies without mass have none.

#include "limber/dynamics/formulation.hpp"
#include "limber/math/linear_solver.hpp"

namespace limber {

class SpringPenaltySolver final : public AccelerationSolver {
public:
    SpringPenaltySolver(std::shared_ptr<const System> system, const FormulationOptions& options);

    bool solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a, VecX& lambda) override;
    /// Of the springs: J M^-1 J^T lambda.
    double perturbation(const VecX& a) override;

private:
    double find_row_inertia(int row);
    bool is_regular(const VecX& a);

    std::unique_ptr<LinearSolver> solver_;
    std::vector<double> matrix_;
    VecX springs_, column_, response_, row_of_admittance_;
};

}  // namespace limber
