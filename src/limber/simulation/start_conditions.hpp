#pragma once
// Parameters that are found before the motion begins (StartCondition): n numbers p so that n columns of the sensors
// have given values,
//   r_i(p) = sensor_i(p) - equals_i(p) = 0
// by Newton's method with differences for dr/dp, each step halved until it comes nearer. The sensors are read of the
// model as it starts, or in static equilibrium. What has been found is a fixed point: solving again changes no bit.

#include <string>
#include <vector>

#include "limber/simulation/options.hpp"

namespace limber {

/// The model with its parameters found; as it is, if it has no conditions. Throws ModelError where there is no solution
/// near the guess, or a parameter has no effect.
Model solve_start_conditions(Model model, const SimulationOptions& options);

/// "k = 123.4: height is 0.3 in equilibrium", of a model whose parameters have been found.
std::vector<std::string> describe_start_conditions(const Model& model);

}  // namespace limber
