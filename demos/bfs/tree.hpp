#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
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

/// A result of a search of an undirected graph, to be checked by the rules of Graph500: it is a tree; its edges are in the graph;
/// they join levels that differ by one; edges of the graph join levels that differ by one at most, or nodes of which none is in the
/// tree. So the tree spans what the root reaches.
class Tree {
 public:
  /// `parents` is by node, and the root is its own parent.
  Tree(netuit::NodeId num_nodes, netuit::NodeId root, std::span<const netuit::NodeId> parents) : root_(root), parents_(parents) {
    if (parents.size() != num_nodes) complaint_ = "a node has no result";
    else if (auto levels = Levels(root, parents)) levels_ = std::move(*levels);
    else complaint_ = "the parents are no tree with " + Named(root) + " as its root";
  }
  /// Says why the parents are no tree, or nothing.
  const std::string& Complaint() const { return complaint_; }
  /// Says which rule the edges of a node break, or nothing. Requires a tree.
  std::string ComplaintAbout(netuit::NodeId node, std::span<const netuit::NodeId> neighbors) const {
    bool has_parent = node == root_ || parents_[node] == netuit::no_node;
    for (const netuit::NodeId neighbor : neighbors) {
      has_parent |= neighbor == parents_[node];
      if ((levels_[node] == no_level) != (levels_[neighbor] == no_level))
        return "only one of " + Named(node) + " and its neighbour " + Named(neighbor) + " is reached";
      if (levels_[node] > levels_[neighbor] + 1 && levels_[node] != no_level)
        return Named(node) + " is more than one level away from its neighbour " + Named(neighbor);
    }
    return has_parent ? "" : Named(node) + " has a parent that is not its neighbour";
  }

 private:
  static std::string Named(netuit::NodeId node) { return "node " + std::to_string(node); }

  netuit::NodeId root_;
  std::span<const netuit::NodeId> parents_;
  std::vector<std::uint32_t> levels_;
  std::string complaint_;
};

}  // namespace bfs
