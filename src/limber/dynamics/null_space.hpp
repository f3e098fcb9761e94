#pragma once
// Orthogonal decomposition of the velocity space (Aghili and Piedboeuf 2002).
//
// In coordinates x = D^(1/2) q with D the diagonal of inertias, J' = J D^(-1/2) is decomposed with pivoting:
// J'^T P = Q R with rank r. Then
//   velocity          v - D^(-1/2) Q_1 R^-T (J v + Phi_t)             its constraint part is set by the constraints
//   constraint part   x_c = Q_1 y_1,  R^T y_1 = -(bias + gains)      accelerations forced by the constraints
//   self-motion part  x_s = Q_2 y_2,  (Q_2^T M' Q_2) y_2 = Q_2^T (Q' - M' x_c)
//   multipliers       R lambda = Q_1^T (Q' - M' x)                    (zero for rows found dependent)
//
// Redundant rows are dependent only where the constraints hold; a little away from there (predicted positions) they
// would pass for independent and lock the mechanism. So the rank is limited to the largest one seen on the constraints.
//
// After each step positions and velocities are projected onto the constraints in the metric of the masses (see the
// base class), which keeps momentum; a projection in the metric of D would not.
//
// Dense, of cost n^3: for small and medium mechanisms. No gains, no penalty; dependent rows are dropped by rank.

#include "limber/dynamics/formulation.hpp"
#include "limber/math/linear_solver.hpp"
#include "limber/math/pivoted_qr.hpp"

namespace limber {

class NullSpaceSolver final : public AccelerationSolver {
public:
    NullSpaceSolver(std::shared_ptr<const System> system, const FormulationOptions& options);

    bool solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a, VecX& lambda) override;
    bool project(double t, VecX& q, VecX& v, std::span<const double> memory) override;
    bool project_step(const VecX& start, double t, double h, VecX& q, VecX& v, std::span<const double> memory) override;

private:
    void update_rank_limit(double t, const VecX& q, std::span<const double> memory);
    void decompose(int rank_limit);
    /// x -= D^(-1/2) Q_1 R^-T (rows): the least change of x that removes a violation of the first `count` rows.
    void correct(const PivotedQr& qr, const VecX& violation, VecX& x);
    bool solve_self_motion(VecX& y, int rank);

    PivotedQr qr_;
    int rank_limit_ = 0;  // largest rank seen where the constraints hold
    VecX scale_;          // D^(-1/2)
    VecX row_scale_;      // rows are divided by their size so that the rank test compares like with like
    VecX x_, y_, rows_, product_, velocity_;
    MatX null_basis_, mass_times_basis_, reduced_;
};

}  // namespace limber
