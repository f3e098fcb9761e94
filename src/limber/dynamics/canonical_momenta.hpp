#pragma once
// Canonical momenta in relative coordinates (Lefeber et al. 2002, corrected, for trees of any joints): the state is (q,
// p) with p = M v, and no acceleration is needed to advance it.
//
//   towards the roots    articulated inertias; momenta left over
//   towards the leaves   v = M^-1 p
//   towards the roots    p' = applied forces + what the motion of the columns makes of the momenta (RelativeSystem)
//
// Momenta that the equations conserve are conserved to rounding by any Runge-Kutta scheme, since they are linear in the
// state.
//
// Loop closures: v = M^-1 (p - J^T sigma) with J v + Phi_t = 0, and p' loses J^T lambda with the multipliers of the
// articulated-body method, which does need accelerations.

#include "limber/dynamics/articulated_body.hpp"

namespace limber {

/// What an integrator of (q, p) asks.
class MomentumSolver {
public:
    virtual ~MomentumSolver() = default;
    virtual void compute_momenta(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& p) = 0;
    /// v on entry counts only where there is no mass. False: not finite.
    virtual bool compute_velocities(double t, const VecX& q, const VecX& p, std::span<const double> memory,
                                    VecX& v) = 0;
    /// Velocities as above, and p'.
    virtual bool compute_rates(double t, const VecX& q, const VecX& p, std::span<const double> memory, VecX& v,
                               VecX& p_rate) = 0;
};

template <int D>
class CanonicalMomentaSolver final : public ArticulatedBodySolver<D>, public MomentumSolver {
public:
    CanonicalMomentaSolver(std::shared_ptr<const System> system, const FormulationOptions& options);
    void compute_momenta(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& p) override;
    bool compute_velocities(double t, const VecX& q, const VecX& p, std::span<const double> memory, VecX& v) override;
    bool compute_rates(double t, const VecX& q, const VecX& p, std::span<const double> memory, VecX& v,
                       VecX& p_rate) override;

private:
    VecX momentum_, a_, sigma_, lambda_, closure_rate_;
};

/// The system must be in relative coordinates.
std::unique_ptr<AccelerationSolver> make_canonical_momenta_solver(std::shared_ptr<const System> system,
                                                                  const FormulationOptions& options);

}  // namespace limber
