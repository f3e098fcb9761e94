#pragma once
// Which process computes which component.

#include "limber/modular/division.hpp"

namespace limber {

/// About equally many bodies for each process, with few joints between processes; the same on every process.
template <int D>
std::vector<int> spread_components(const Mechanism<D>& mechanism, const Division& division,
                                   const DividedParts<D>& parts, int processes);

}  // namespace limber
