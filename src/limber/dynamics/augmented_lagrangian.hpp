#pragma once
// Acceleration-based augmented Lagrangian (Bayo, Garcia de Jalon and Serna 1988; Seguy 2003 eqs. 9-13, Joli 2008 eq.
// 24).
//
//   (M + J^T W J) a_1     = Q - J^T W g,             g = bias + kv Phi' + kp Phi,   lambda_0 = 0
//   lambda_i              = lambda_(i-1) + W (J a_i + g)
//   (M + J^T W J) (a_(i+1) - a_i) = Q - M a_i - J^T lambda_i - J^T W (J a_i + g)
//
// until the constraint accelerations J a + g vanish. The matrix is regular at singular positions and with redundant
// constraints. Its rounding errors, of about penalty times those of M, would stay in a_i; the first three terms on the
// right, zero but for rounding, take them out. If one such pass is not enough, constraints act weakly somewhere: then
// further corrections are made conjugate (see multiplier_iteration.hpp) before the last pass. Conditions that are none
// where the constraints are closed are left out (see open_constraints.hpp).

#include "limber/dynamics/configuration.hpp"
#include "limber/dynamics/formulation.hpp"
#include "limber/dynamics/open_constraints.hpp"
#include "limber/dynamics/penalized_mass.hpp"

namespace limber {

class AugmentedLagrangianSolver : public AccelerationSolver {
public:
    AugmentedLagrangianSolver(std::shared_ptr<const System> system, const FormulationOptions& options);

    bool solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a, VecX& lambda) override;
    /// The same as in the base class, with the matrix of the last solve for the positions; the matrix for the
    /// velocities serves the next solve at the projected positions.
    bool project(double t, VecX& q, VecX& v, std::span<const double> memory) override;
    bool project_step(const VecX& start, double t, double h, VecX& q, VecX& v, std::span<const double> memory) override;
    bool has_dependent_velocities() const override { return is_overconstrained_ && mass_.are_velocities_dependent(); }

protected:
    /// First solve, without multipliers: a = S^-1 (Q - J^T W g).
    bool solve_penalty(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a);
    /// The same solution to rounding error of M.
    void refine_penalty(VecX& a);
    /// a_1 of the equations above, forces and target being up to date.
    void start(VecX& a);
    /// Solves again, by the function given, without combinations of rows that may be no condition, if there are such.
    /// Not where no row depends on others: there what is held weakly is a dead point, and the constraints say on which
    /// branch it is passed.
    template <class Again>
    void leave_out_uncertain(double enough, const Again& again) {
        if (!is_overconstrained_) return;
        const double uncertain = find_uncertain_share(*system_, *evaluation_, gains_);
        while (uncertain > 0 && residual_.lpNorm<Eigen::Infinity>() > enough &&
               mass_.leave_out(*evaluation_, residual_, uncertain))
            again();
    }

    PenalizedMass mass_;
    VecX residual_;

private:
    /// One pass of the iteration above.
    void refine(VecX& a, VecX& lambda);
    void balance(VecX& a);
    void update_residual(const VecX& a);
    /// Where the mechanism was designed.
    bool has_dependent_rows();
    /// Positions and matrix, unless they are those of the last call.
    bool factorize_at(double t, const VecX& q, std::span<const double> memory);
    bool project_velocities(double t, const VecX& q, VecX& v, std::span<const double> memory);

    Configuration factorized_at_;
    bool is_overconstrained_ = false;
    VecX projection_lambda_, before_, change_;
};

}  // namespace limber
