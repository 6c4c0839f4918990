#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <netuit/graph/topology.hpp>

namespace bfs {

/// Of nodes outside of a tree.
constexpr std::uint32_t no_level = std::numeric_limits<std::uint32_t>::max();

/// The level of each node of a tree. Nothing if the parents are no tree with this root.
inline std::optional<std::vector<std::uint32_t>> Levels(netuit::NodeId root, std::span<const netuit::NodeId> parents) {
  std::vector<std::uint32_t> levels(parents.size(), no_level);
  if (parents[root] != root) return {};
  levels[root] = 0;
  std::vector<netuit::NodeId> path;
  for (netuit::NodeId node = 0; node < parents.size(); ++node) {
    if (parents[node] == netuit::no_node) continue;
    path.clear();
    netuit::NodeId at = node;
    for (; levels[at] == no_level; at = parents[at]) {
      path.push_back(at);
      const bool is_cycle = path.size() > parents.size() || parents[at] == at;
      if (is_cycle || parents[at] >= parents.size()) return {};
    }
    for (std::uint32_t level = levels[at]; !path.empty(); path.pop_back()) levels[path.back()] = ++level;
  }
  return levels;
}

/// Says what is wrong with a breadth-first tree of an undirected graph, or nothing, by the rules of Graph500: it is a tree; its
/// edges are in the graph; they join levels that differ by one; edges of the graph join levels that differ by one at most, or nodes
/// of which none is in the tree. So the tree spans what the root reaches. `parents` is by node, and the root is its own parent.
inline std::string Complaint(const netuit::Topology& graph, netuit::NodeId root, std::span<const netuit::NodeId> parents) {
  const auto named = [](netuit::NodeId node) { return "node " + std::to_string(node); };
  if (parents.size() != graph.NumNodes()) return "a node has no result";
  const std::optional<std::vector<std::uint32_t>> tree = Levels(root, parents);
  if (!tree) return "the parents are no tree with " + named(root) + " as its root";
  const std::vector<std::uint32_t>& levels = *tree;
  for (netuit::NodeId node = 0; node < graph.NumNodes(); ++node) {
    bool has_parent = node == root || parents[node] == netuit::no_node;
    for (const netuit::EdgeId edge : graph.InEdges(node)) {
      const netuit::NodeId neighbor = graph.Source(edge);
      has_parent |= neighbor == parents[node];
      if ((levels[node] == no_level) != (levels[neighbor] == no_level))
        return "only one of " + named(node) + " and its neighbour " + named(neighbor) + " is reached";
      if (levels[node] > levels[neighbor] + 1 && levels[node] != no_level)
        return named(node) + " is more than one level away from its neighbour " + named(neighbor);
    }
    if (!has_parent) return named(node) + " has a parent that is not its neighbour";
  }
  return "";
}

}  // namespace bfs
