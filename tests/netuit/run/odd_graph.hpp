#pragma once

#include <cstdint>
#include <netuit/graph/topology.hpp>
#include <utility>
#include <vector>

namespace netuit::testing {

inline std::uint64_t Mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15U ^ b;
  x = (x ^ x >> 31U) * 0xbf58476d1ce4e5b9U;
  return x ^ x >> 29U;
}

/// A directed graph with loops, parallel edges, nodes of none or one edge, and degrees from 0 to 40.
inline Topology MakeOddGraph(NodeId num_nodes, std::uint64_t seed) {
  std::vector<Edge> edges;
  std::uint64_t state = seed;
  const auto draw = [&](NodeId below) { return static_cast<NodeId>((state = Mix(state, below)) % below); };
  const NodeId num_busy = num_nodes - num_nodes / 8;  // the last nodes have no edge
  for (NodeId i = 0; i < 2 * num_nodes; ++i) {
    const NodeId source = draw(num_busy);
    const NodeId target = draw(8) == 0 ? source : draw(num_busy);
    edges.push_back({source, target});
    if (draw(4) == 0) edges.push_back({source, target});
    if (draw(3) == 0) edges.push_back({target, source});
  }
  for (NodeId i = 0; i < 40; ++i) edges.push_back({draw(num_busy), 0});
  return Topology{num_nodes, std::move(edges)};
}

/// The same graph, with a weight for each edge.
inline Topology MakeWeightedOddGraph(NodeId num_nodes, std::uint64_t seed) {
  const Topology graph = MakeOddGraph(num_nodes, seed);
  std::vector<Edge> edges;
  for (EdgeId edge = 0; edge < graph.NumEdges(); ++edge)
    edges.push_back({graph.Source(edge), graph.Target(edge), 0.25 * static_cast<double>(1 + Mix(seed, edge) % 16)});
  return {graph.NumNodes(), std::move(edges)};
}

}  // namespace netuit::testing
