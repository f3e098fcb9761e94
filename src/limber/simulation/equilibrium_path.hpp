#pragma once
// Equilibria of a model over one of its numbers, a load, by steps of arclength: through limit points and onto branches
// that are not stable (statics/load_path.hpp).

#include <functional>
#include <string>
#include <vector>

#include "limber/simulation/simulation.hpp"

namespace limber {

struct EquilibriumPathPoint {
    double value = 0;             ///< of the load
    int unstable = 0;             ///< freedoms that grow when disturbed
    bool is_limit = false;        ///< the load has an extremum here
    std::vector<double> sensors;  ///< beside EquilibriumPath::columns
};

struct EquilibriumPath {
    bool has_arrived = false;
    std::string reason;  ///< why not
    int iterations = 0;
    std::vector<std::string> columns;
    std::vector<EquilibriumPathPoint> points;  ///< from the first equilibrium on, limit points among them
};

/// The model with a value of the load; values may change forces only, and those in proportion.
using ModelAtLoad = std::function<Model(double value)>;

/// From the equilibrium at `from`, found as a simulation that starts from equilibrium finds it, to `to`. Throws
/// ModelError if the value changes more than it may, and std::runtime_error if there is no equilibrium at `from`.
EquilibriumPath follow_equilibria(const ModelAtLoad& model_at, double from, double to, SimulationOptions options,
                                  const StaticProgress& progress = {});

}  // namespace limber
