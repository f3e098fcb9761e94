#pragma once
// Motions without inertia at the start of a run and after every change: found, put into balance, or refused.

#include "limber/kinematics/body_space/inertialess.hpp"
#include "limber/modular/modular_stepper.hpp"
#include "limber/simulation/options.hpp"

namespace limber {

/// Throws ModelError if these options cannot find the motions, which are determined by forces. `modular` is null unless
/// the mechanism is divided.
template <int D>
void refuse_unfit_options(const InertialessMotions<D>& motions, const Mechanism<D>& mechanism,
                          const SimulationOptions& options, const ModularSystem<D>* modular);

/// The same mechanism at rest, for methods that look at accelerations: bodies without mass get some, and forces that
/// carry its weight, in further memory.
template <int D>
struct StaticMechanism {
    std::shared_ptr<const Mechanism<D>> mechanism;
    std::vector<double> further_memory;
};
template <int D>
StaticMechanism<D> make_static_mechanism(std::shared_ptr<const Mechanism<D>> mechanism, const std::vector<int>& bodies,
                                         double t);

/// Puts motions without inertia into balance where forces or velocities have changed suddenly.
template <int D>
void balance_state(const MechanismSystem<D>& system, State& state);

}  // namespace limber
