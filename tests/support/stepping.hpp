#pragma once
// Rigid contacts by time-stepping.

#include <gtest/gtest.h>

#include "support/models.hpp"

namespace limber::testing {

inline Simulation stepping(const std::string& yaml) {
    SimulationOptions chosen;
    chosen.integrator = "moreau-jean";
    return Simulation(read(yaml), chosen);
}

inline void run(Simulation& simulation, double until, double h) {
    const StepReport report = simulation.advance(until, h);
    ASSERT_TRUE(report.ok) << report.reason;
}

}  // namespace limber::testing
