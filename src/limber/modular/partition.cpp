#include "limber/modular/partition.hpp"

#include <metis.h>

#include <algorithm>

#include "limber/math/metis_lock.hpp"
#include "limber/model/error.hpp"

namespace limber {

std::vector<int> partition_graph(const std::vector<std::set<int>>& neighbours, const std::vector<int>& weight,
                                 int parts) {
    std::vector<int> result(neighbours.size(), 0);
    parts = std::clamp(parts, 1, std::max(1, static_cast<int>(neighbours.size())));
    if (parts == 1) return result;
    std::vector<idx_t> start{0};
    std::vector<idx_t> neighbour;
    for (const auto& list : neighbours) {
        neighbour.insert(neighbour.end(), list.begin(), list.end());
        start.push_back(static_cast<idx_t>(neighbour.size()));
    }
    auto count = static_cast<idx_t>(neighbours.size());
    idx_t constraints = 1;
    idx_t wanted = parts;
    idx_t cut = 0;
    std::vector<idx_t> weights(weight.begin(), weight.end());
    std::vector<idx_t> place(neighbours.size());
    idx_t settings[METIS_NOPTIONS];
    METIS_SetDefaultOptions(settings);
    settings[METIS_OPTION_SEED] = 1;
    // Recursive bisection balances better where there are only a few vertices per part.
    const auto partition = parts <= 8 ? METIS_PartGraphRecursive : METIS_PartGraphKway;
    const auto lock = lock_metis();
    const int status =
        partition(&count, &constraints, start.data(), neighbour.data(), weights.empty() ? nullptr : weights.data(),
                  nullptr, nullptr, &wanted, nullptr, nullptr, settings, &cut, place.data());
    if (status != METIS_OK) throw ModelError("the mechanism could not be divided automatically");
    std::vector<int> number(parts, -1);
    int next = 0;
    for (std::size_t i = 0; i < place.size(); ++i) {
        int& own = number[place[i]];
        if (own < 0) own = next++;
        result[i] = own;
    }
    return result;
}

}  // namespace limber
