#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>

/// Returns whether each edge has a reciprocal. Counts edges, and does not rely on the topology's order.
inline bool IsSymmetric(const netuit::Topology& topology) {
  std::vector<std::pair<netuit::NodeId, netuit::NodeId>> there;
  std::vector<std::pair<netuit::NodeId, netuit::NodeId>> back;
  for (netuit::EdgeId edge = 0; edge < topology.NumEdges(); ++edge) {
    there.emplace_back(topology.Source(edge), topology.Target(edge));
    back.emplace_back(topology.Target(edge), topology.Source(edge));
  }
  std::sort(there.begin(), there.end());
  std::sort(back.begin(), back.end());
  return there == back;
}

/// Returns whether input i and output i of each node have the same neighbour.
inline bool IsReciprocal(const netuit::Topology& topology) {
  for (netuit::NodeId node = 0; node < topology.NumNodes(); ++node) {
    if (topology.OutNeighbors(node).size() != topology.InEdges(node).size()) return false;
    for (std::size_t k = 0; k < topology.OutNeighbors(node).size(); ++k) {
      if (!topology.IsReciprocal(node, k)) return false;
    }
  }
  return true;
}

/// Returns whether no two edges have the same ends, and no edge is a loop.
inline bool IsSimple(const netuit::Topology& topology) {
  for (netuit::NodeId node = 0; node < topology.NumNodes(); ++node) {
    std::vector<netuit::NodeId> targets(topology.OutNeighbors(node).begin(), topology.OutNeighbors(node).end());
    std::sort(targets.begin(), targets.end());
    if (std::ranges::adjacent_find(targets) != targets.end()) return false;
    if (std::ranges::binary_search(targets, node)) return false;
  }
  return true;
}

/// Returns how many nodes have that many outputs.
inline std::size_t CountOfDegree(const netuit::Topology& topology, std::size_t degree) {
  std::size_t count = 0;
  for (netuit::NodeId node = 0; node < topology.NumNodes(); ++node) {
    count += topology.OutNeighbors(node).size() == degree ? 1U : 0U;
  }
  return count;
}

/// A directed multigraph with loops and parallel edges, in which some edges have reciprocals. The weights number the edges,
/// from 2.
inline std::vector<netuit::Edge> RandomEdges(netuit::NodeId num_nodes, std::size_t num_edges,
                                             netuit::RandomStream& random) {
  std::vector<netuit::Edge> edges;
  while (edges.size() < num_edges) {
    const bool is_reverse = !edges.empty() && random.Below(2) == 0;
    const netuit::Edge other =
        edges.empty() ? netuit::Edge{} : edges[random.Below(static_cast<std::uint32_t>(edges.size()))];
    edges.push_back(is_reverse ? netuit::Edge{other.target, other.source}
                               : netuit::Edge{random.Below(num_nodes), random.Below(num_nodes)});
    edges.back().weight = static_cast<double>(edges.size()) + 1;
  }
  return edges;
}

/// Two rings of so many nodes each, without an edge between them.
inline netuit::Topology TwoRings(netuit::NodeId num_nodes) {
  std::vector<netuit::Edge> edges;
  for (netuit::NodeId node = 0; node < 2 * num_nodes; ++node) {
    const netuit::NodeId next = node / num_nodes * num_nodes + (node + 1) % num_nodes;
    edges.push_back({node, next});
    edges.push_back({next, node});
  }
  return {2 * num_nodes, std::move(edges)};
}
