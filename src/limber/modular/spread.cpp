#include "limber/modular/spread.hpp"

#include <set>

#include "limber/modular/partition.hpp"

namespace limber {

template <int D>
std::vector<int> spread_components(const Mechanism<D>& m, const Division& division, const DividedParts<D>& parts,
                                   int processes) {
    std::vector<std::set<int>> neighbours(parts.components.size());
    const auto join = [&](const std::vector<int>& bodies) {
        for (const int a : bodies)
            for (const int b : bodies) {
                const int from = division.component_of_body[a];
                const int to = division.component_of_body[b];
                if (from != to) neighbours[from].insert(to);
            }
    };
    for (const int e : parts.interface.elements) join(bodies_of_element(m, e));
    for (const int f : parts.interface.forces) join(bodies_of_force(m, f));
    std::vector<int> weight;
    weight.reserve(parts.components.size());
    for (const PartChoice& part : parts.components) weight.push_back(static_cast<int>(part.bodies.size()));
    return partition_graph(neighbours, weight, processes);
}

template std::vector<int> spread_components(const Mechanism<2>&, const Division&, const DividedParts<2>&, int);
template std::vector<int> spread_components(const Mechanism<3>&, const Division&, const DividedParts<3>&, int);

}  // namespace limber
