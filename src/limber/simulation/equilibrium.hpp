#pragma once
// Static equilibrium: positions at which nothing accelerates, with all velocities zero.
//
// Newton's method with exact tangents goes downhill from the start (statics/static_newton.hpp). Where it gets stuck the
// load path is followed: what is out of balance at the start is held, and let go bit by bit (statics/load_path.hpp).
// What neither finds, and what comes to rest on stops, is found by relaxation: the mechanism is let move, with
// numerical damping, and stopped whenever it slows down; then Newton's method tries again. The report tells which it
// was, and whether the equilibrium lasts.
//
// Stops: no step of Newton's method may pass one that is open; the motion closes it, and from then on it is an equation
// like those of joints. What has been found counts if all that is closed then pushes.

#include <functional>
#include <memory>
#include <string>

#include "limber/dynamics/formulation.hpp"
#include "limber/methods/integrators.hpp"
#include "limber/statics/static_newton.hpp"

namespace limber {

enum class EquilibriumMethod { newton, load_path, relaxation };
inline const char* equilibrium_method_name(EquilibriumMethod method) {
    constexpr const char* names[] = {"newton", "load-path", "relaxation"};
    return names[static_cast<int>(method)];
}

/// Which one is looked for, and who is told how it goes.
struct EquilibriumRequest {
    /// Where the load path leads that begins with everything held at the start, stable or not; otherwise downhill.
    bool is_nearest = false;
    StaticProgress progress;
};

struct EquilibriumReport {
    bool converged = false;
    int iterations = 0;
    double residual = 0;  ///< largest acceleration of a coordinate left when released
    std::string reason;   ///< if it did not converge
    EquilibriumMethod method = EquilibriumMethod::newton;
    int unstable = 0;           ///< freedoms that grow when disturbed: 0 if it lasts, -1 if that is not known
    int neutral = 0;            ///< freedoms that nothing pulls back, or away
    double growth = 0;          ///< of the fastest that grows, exp(growth t) [1/s]
    std::string unstable_body;  ///< that moves most in it
};

/// How a mechanism moves where Newton's method gets stuck.
struct Relaxation {
    std::unique_ptr<Stepper> stepper;               ///< damps; see make_relaxation_stepper()
    std::function<bool(const State&)> is_possible;  ///< empty: everything is; else whether no open stop is violated
};

/// A structural integrator with numerical damping.
std::unique_ptr<Stepper> make_relaxation_stepper(const std::shared_ptr<const System>& system);

/// Moves state.q; velocities are set to zero. The solver and the stepper must belong to the system.
template <int D>
EquilibriumReport find_equilibrium(const MechanismSystem<D>& system, AccelerationSolver& solver,
                                   const Relaxation& relaxation, State& state, const EquilibriumRequest& request = {});

}  // namespace limber
