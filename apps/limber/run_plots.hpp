#pragma once
// Plots of a run that the command line asks for: sensors over time, or one against the other.

#include <string>
#include <utility>
#include <vector>

#include "limber/io/svg_plot.hpp"
#include "limber/simulation/run.hpp"

namespace limber::app {

/// Columns, separated by commas, and a file.
using PlotRequest = std::pair<std::string, std::string>;

/// Plots over time, and paths of pairs x, y.
struct RunPlots {
    std::vector<PlotRequest> over_time, paths;

    /// Throws ModelError: sensors must exist before the run starts, not after it.
    void check(const std::vector<std::string>& columns) const;
    /// Each with its request. `units`: of the columns, without t.
    std::vector<std::pair<PlotRequest, Plot>> make(const ResultTable& table, const std::vector<std::string>& units,
                                                   const std::string& title) const;
};

}  // namespace limber::app
