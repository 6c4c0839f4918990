#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <netuit/graph/graph.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>

#include "demos/graphs/options.hpp"

namespace graphs {

/// What processes other than rank 0 have of the graph.
inline const netuit::Topology no_graph{};

/// As many random nodes as the options have trials, each with a neighbour. The same node may occur twice. Collective.
inline std::vector<netuit::NodeId> ChooseRoots(const uit::World& world, const netuit::Graph& graph, const Options& options) {
  std::vector<netuit::NodeId> roots;
  if (world.IsRoot()) {
    netuit::RandomStream random{options.seed, 1U << 31U};
    while (roots.size() < options.trials) {
      const netuit::NodeId node = random.Below(graph.Get().NumNodes());
      if (!graph.Get().OutNeighbors(node).empty()) roots.push_back(node);
    }
  }
  const auto bytes = std::as_bytes(std::span(roots));
  const uit::Bytes from_root = world.Broadcast({bytes.begin(), bytes.end()});
  roots.resize(options.trials);
  std::memcpy(roots.data(), from_root.data(), from_root.size());
  return roots;
}

/// Half the number of edges that begin at nodes for which `is_reached(node)` holds: in an undirected graph, their links.
template <std::predicate<netuit::NodeId> F>
double NumLinks(const netuit::Topology& graph, F&& is_reached) {
  double sum = 0;
  for (netuit::NodeId node = 0; node < graph.NumNodes(); ++node)
    if (is_reached(node)) sum += static_cast<double>(graph.OutNeighbors(node).size());
  return sum / 2;
}

}  // namespace graphs
