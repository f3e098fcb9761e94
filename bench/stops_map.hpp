#pragma once
// How the iteration of Glowinski and Nasser converges over (r, rho, step), "the variables controlling the stability".

#include <string>

namespace limber::bench {

/// Draws the map, and tells what it shows as lines of a table.
std::string map_convergence(const std::string& svg_file);

}  // namespace limber::bench
