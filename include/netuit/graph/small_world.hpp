#pragma once

#include <cstddef>
#include <cstdint>

#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Watts and Strogatz' small world, undirected. Each node of a ring is joined to its k nearest neighbours (k - 1 if k is odd).
/// Then each link gets a new random end with the given probability.
///
/// Rewires as NetworkX's watts_strogatz_graph: never to a loop or an existing link. The seed determines the graph. Throws
/// uit::InputError if k > n or the probability is not in 0 … 1.
Topology MakeSmallWorld(NodeId num_nodes, NodeId num_neighbors, double rewiring_probability,
                        std::uint64_t seed);

/// Options of MakeNavigableSmallWorld, in the order of NetworkX's p, q and r.
struct NavigableOptions {
  /// Each node is joined to all nodes within this distance.
  NodeId short_range = 1;
  /// Long-range links from each node.
  NodeId num_long_range = 1;
  /// A link of length d is drawn with a probability proportional to d^-exponent.
  double exponent = 2;
  /// Determines the long-range links.
  std::uint64_t seed = 1;
};

/// Kleinberg's navigable small world on an open square of side × side nodes, in row-major order.
///
/// Distances are Manhattan distances. Short links are undirected. Long-range links are directed, and may repeat a short or
/// another long link. The seed determines the graph, on every platform if the exponent is a whole number. Throws
/// uit::InputError if the exponent is not in 0 … 64.
Topology MakeNavigableSmallWorld(NodeId side, NavigableOptions options = {});

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/graph/small_world.ipp>
#endif
