#pragma once

#include "limber/simulation/simulation.hpp"

namespace limber::testing {

/// Kinetic and potential.
inline double mechanical_energy(Simulation& simulation) {
    const Energies e = simulation.observer().compute_energies(simulation.state());
    return e.kinetic + e.potential;
}

}  // namespace limber::testing
