#pragma once
// How a run went, for people and for programs.

#include <string>

#include "limber/simulation/run.hpp"

namespace limber::app {

/// One JSON object; its keys are documented and stay.
std::string json_summary(const RunSummary& summary, const SimulationOptions& options, double step);

/// On standard output. `until` is the end that was asked for.
void print_summary(const Simulation& simulation, const RunSummary& summary, double step, double until);

}  // namespace limber::app
