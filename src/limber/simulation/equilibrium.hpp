#pragma once
// Static equilibrium: positions at which nothing accelerates, with all velocities zero.
//
// Newton's method on the balance of forces, damped by pseudo-time: with a the accelerations of the mechanism released
// at rest,
//
//   (M + s K + J^T W J) dq = s M a - J^T W Phi
//
// is one implicit step of length sqrt(s) in a viscous world for small s (dynamic relaxation: always downhill) and
// Newton's step for large s; W grows with s as s K does. s grows as the accelerations fall, and shrinks when a step
// made things worse or goes against the forces (towards an equilibrium that does not last). Where that gets stuck, the
// mechanism is let move and stopped whenever it slows down. Directions in which nothing pulls (the place of a vehicle
// on flat ground) are left as they are.
//
// Stops: no step of Newton's method may pass one that is open; the motion closes it, and from then on it is an equation
// like those of joints. What has been found counts if all that is closed then pushes.

#include <functional>
#include <memory>
#include <string>

#include "limber/dynamics/formulation.hpp"
#include "limber/methods/integrators.hpp"

namespace limber {

struct EquilibriumReport {
    bool converged = false;
    int iterations = 0;
    double residual = 0;  ///< largest acceleration of a coordinate left when released
    std::string reason;   ///< if it did not converge
};

/// How a mechanism moves where Newton's method gets stuck.
struct Relaxation {
    std::unique_ptr<Stepper> stepper;               ///< damps; see make_relaxation_stepper()
    std::function<bool(const State&)> is_possible;  ///< empty: everything is; else whether no open stop is violated
};

/// A structural integrator with numerical damping.
std::unique_ptr<Stepper> make_relaxation_stepper(const std::shared_ptr<const System>& system);

/// Moves state.q; velocities are set to zero. The solver and the stepper must belong to the system.
EquilibriumReport find_equilibrium(const System& system, AccelerationSolver& solver, const Relaxation& relaxation,
                                   State& state, int max_rounds = 40);

}  // namespace limber
