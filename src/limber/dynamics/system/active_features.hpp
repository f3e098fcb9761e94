#pragma once
// Which features a system must keep up to date. Internal to the room.

#include <algorithm>
#include <vector>

#include "limber/kinematics/mechanism/mechanism.hpp"

namespace limber {

namespace active_features_detail {
template <int D>
void add(const Measure<D>& measure, std::vector<int>& list) {
    list.insert(list.end(), measure.feature.begin(), measure.feature.begin() + measure.count);
}
inline void make_unique(std::vector<int>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}
}  // namespace active_features_detail

/// Those that stepping needs: of the rows a system has (others hold by its choice of coordinates) and of forces.
template <int D>
std::vector<int> stepping_features(const ConstraintSet<D>& rows, const Mechanism<D>& mechanism) {
    std::vector<int> list = rows.slot_feature;
    list.insert(list.end(), mechanism.forces.slot_feature.begin(), mechanism.forces.slot_feature.end());
    for (const Row& row : rows.rows)
        if (row.kind == RowKind::user_velocity)
            for (const int input : rows.user_rows[row.user].inputs)
                active_features_detail::add(rows.measures[input], list);
    active_features_detail::make_unique(list);
    return list;
}

/// Those of the measures that count turns or keep places on curves.
template <int D>
std::vector<int> counting_features(const Mechanism<D>& mechanism) {
    std::vector<int> list;
    for (const MemoryBlock& block : mechanism.memory_layout.blocks)
        if (block.measure >= 0) active_features_detail::add(mechanism.measure(block.measure), list);
    active_features_detail::make_unique(list);
    return list;
}

}  // namespace limber
