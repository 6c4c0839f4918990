#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>

namespace sssp {

/// The lengths of the shortest ways from a root, on one process (Dijkstra). All programs add up a way's weights from the root, so
/// all lengths are the same, bit for bit.
inline std::vector<double> SolveSerially(const netuit::Topology& graph, netuit::NodeId root) {
  std::vector<double> lengths(graph.NumNodes(), std::numeric_limits<double>::infinity());
  using Entry = std::pair<double, netuit::NodeId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> nearest;
  lengths[root] = 0;
  nearest.emplace(0, root);
  while (!nearest.empty()) {
    const auto [length, node] = nearest.top();
    nearest.pop();
    if (length > lengths[node]) continue;
    const auto targets = graph.OutNeighbors(node);
    for (std::size_t k = 0; k < targets.size(); ++k) {
      const double further = length + graph.EdgeWeight(graph.FirstOutEdge(node) + k);
      if (further >= lengths[targets[k]]) continue;
      lengths[targets[k]] = further;
      nearest.emplace(further, targets[k]);
    }
  }
  return lengths;
}

}  // namespace sssp
