#pragma once
// A model as a page draws it: bodies with their solids, markers, joints, forces, and what can be asked about them.

#include <nlohmann/json_fwd.hpp>

#include "limber/simulation/simulation.hpp"

namespace limber {

/// Everything about a mechanism that changes only when it is compiled anew, with the poses of the moment.
nlohmann::ordered_json describe_scene(const Simulation& simulation, Observer& observer);

}  // namespace limber
