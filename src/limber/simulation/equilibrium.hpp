#pragma once
// Static equilibrium: positions at which nothing accelerates, with all velocities zero.
//
// Newton's method on the balance of forces, damped by pseudo-time: with a the accelerations of the mechanism released at rest,
//
//   (M + s K + J^T W J) dq = s M a - J^T W Phi
//
// is one implicit step of length sqrt(s) in a viscous world for small s (dynamic relaxation: always downhill) and Newton's step for
// large s; W grows with s as s K does. s grows as the accelerations fall, and shrinks when a step made things worse or goes against the
// forces (towards an equilibrium that does not last). Where that gets stuck, the mechanism is let move and stopped whenever it slows down.
// Directions in which nothing pulls (the place of a vehicle on flat ground) are left as they are.

#include <memory>
#include <string>

#include "limber/dynamics/formulation.hpp"

namespace limber {

struct EquilibriumReport {
    bool converged = false;
    int iterations = 0;
    double residual = 0;  ///< largest acceleration of a coordinate left when released
    std::string reason;   ///< if it did not converge
};

/// Moves state.q; velocities are set to zero. The solver must belong to the system.
EquilibriumReport find_equilibrium(const std::shared_ptr<const System>& system, AccelerationSolver& solver,
                                   State& state, int max_rounds = 40);

}  // namespace limber
