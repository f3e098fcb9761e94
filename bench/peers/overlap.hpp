#pragma once
// How far solids have entered each other.

#include "scene.hpp"

namespace peers {

/// The deepest overlap of two solids, or of a solid and a wall, in metres; 0 if nothing overlaps. Solids must be of one
/// kind.
double deepest_overlap(const Scene& scene, const std::vector<LinkState>& states);

/// The corners of a link's box, at the start.
std::array<Vec, 8> corners(const Link& link);

}  // namespace peers
