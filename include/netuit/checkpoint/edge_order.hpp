#pragma once

#include <cstdint>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit::detail {

/// Returns the edges in an order from which a Topology gives them the numbers that they have here, and each node its inputs in the
/// order of `positions`: which input of its target each edge is. Throws uit::InputError if no topology is like that.
std::vector<Edge> OrderForTopology(NodeId num_nodes, const std::vector<Edge>& edges, const std::vector<std::uint32_t>& positions);

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/checkpoint/edge_order.ipp>
#endif
