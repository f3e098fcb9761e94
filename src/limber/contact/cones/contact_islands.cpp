#include "limber/contact/cones/contact_islands.hpp"

#include <algorithm>
#include <numeric>

namespace limber {
namespace {

// Lists of what belongs to each island, one after the other: `island(k)` of the k-th thing, or -1.
template <class IslandOf>
void sort_into_islands(int things, int islands, const IslandOf& island, std::vector<int>& start, std::vector<int>& list,
                       std::vector<int>& next) {
    start.assign(islands + 1, 0);
    for (int k = 0; k < things; ++k)
        if (island(k) >= 0) ++start[island(k) + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    list.resize(start.back());
    next = start;
    for (int k = 0; k < things; ++k)
        if (island(k) >= 0) list[next[island(k)]++] = k;
}

}  // namespace

int ContactIslands::root(int body) {
    while (parent_[body] != body) {
        parent_[body] = parent_[parent_[body]];
        body = parent_[body];
    }
    return body;
}

void ContactIslands::find(std::span<const std::array<int, 2>> ends, int body_count) {
    parent_.resize(body_count);
    std::iota(parent_.begin(), parent_.end(), 0);
    for (const auto& [a, b] : ends)
        if (a >= 0 && b >= 0) parent_[std::max(root(a), root(b))] = std::min(root(a), root(b));
    // In the order of their first contacts.
    island_of_root_.assign(body_count, -1);
    int islands = 0;
    const auto root_of = [&](int contact) { return root(std::max(ends[contact][0], ends[contact][1])); };
    const int contact_count = static_cast<int>(ends.size());
    for (int k = 0; k < contact_count; ++k)
        if (island_of_root_[root_of(k)] < 0) island_of_root_[root_of(k)] = islands++;
    sort_into_islands(
        contact_count, islands, [&](int k) { return island_of_root_[root_of(k)]; }, contact_start_, contacts_, next_);
    sort_into_islands(
        body_count, islands, [&](int body) { return island_of_root_[root(body)]; }, body_start_, bodies_, next_);
    place_.resize(body_count);
    for (int island = 0; island < islands; ++island)
        for (int k = 0; const int body : bodies(island)) place_[body] = k++;
}

}  // namespace limber
