#pragma once
// Pairs of boxes that overlap, by sorting their ends along the axis on which they lie furthest apart and sweeping (the
// linked linear lists of Muth and Eberhard on one axis; the boxes' other axes are compared directly). Boxes move little
// between calls, so the list is nearly sorted: insertion sort.

#include <span>
#include <utility>
#include <vector>

#include "limber/geometry/shape.hpp"

namespace limber {

class BroadPhase {
public:
    /// All pairs (i, j), i < j, of overlapping boxes, in ascending order whatever came before.
    void find_pairs(std::span<const Bounds> boxes, std::vector<std::pair<int, int>>& pairs);

private:
    std::vector<int> order_;  // by lower ends
    int axis_ = 0;
};

}  // namespace limber
