#pragma once
// Graphs cut into parts of about equal weight with few edges between them (METIS). The same graph gives the same parts.

#include <set>
#include <vector>

namespace limber {

/// The part of each vertex, numbered from 0 in the order in which vertices first meet them; there may be fewer parts
/// than asked for. An empty weight counts vertices.
std::vector<int> partition_graph(const std::vector<std::set<int>>& neighbours, const std::vector<int>& weight,
                                 int parts);

}  // namespace limber
