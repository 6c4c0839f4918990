#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/random_geometric.hpp>
#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/support/error.hpp>

/// \file
/// Standard graphs. Unless stated otherwise, each is undirected: each link is a pair of directed edges. All throw
/// uit::InputError if the graph has more nodes than a NodeId can count. This header includes those of the random graphs.

namespace netuit {

/// n nodes and no edge.
inline Topology MakeEmpty(NodeId num_nodes) { return Topology{num_nodes, {}}; }

/// n nodes, each joined only to itself.
inline Topology MakeLoop(NodeId num_nodes) {
  std::vector<Edge> edges;
  for (NodeId node = 0; node < num_nodes; ++node) edges.push_back({node, node});
  return Topology{num_nodes, std::move(edges)};
}

/// n nodes in pairs 0–1, 2–3, …. If n is odd, the last node is alone.
inline Topology MakeDyadic(NodeId num_nodes) {
  std::vector<Edge> edges;
  for (NodeId node = 0; node < num_nodes - num_nodes % 2; ++node) edges.push_back({node, node ^ 1U});
  return Topology{num_nodes, std::move(edges)};
}

/// n nodes in pairs 0→1, 2→3, …; only even nodes send. If n is odd, the last node is alone.
inline Topology MakeProducerConsumer(NodeId num_nodes) {
  std::vector<Edge> edges;
  for (NodeId node = 0; node < num_nodes - num_nodes % 2; node += 2) edges.push_back({node, node + 1});
  return Topology{num_nodes, std::move(edges)};
}

/// n nodes, each joined to every other.
inline Topology MakeComplete(NodeId num_nodes) {
  std::vector<Edge> edges;
  for (NodeId source = 0; source < num_nodes; ++source) {
    for (NodeId target = 0; target < num_nodes; ++target) {
      if (target != source) edges.push_back({source, target});
    }
  }
  return Topology{num_nodes, std::move(edges)};
}

/// The corners of a cube of d dimensions: 2^d nodes with d neighbours each. Throws uit::InputError if d >= 32.
inline Topology MakeHypercube(unsigned num_dimensions) {
  if (num_dimensions >= 32)
    throw uit::InputError("a hypercube must have fewer than 32 dimensions, not " + std::to_string(num_dimensions));
  const NodeId num_nodes = NodeId{1} << num_dimensions;
  std::vector<Edge> edges;
  edges.reserve(std::size_t{num_nodes} * num_dimensions);
  for (NodeId node = 0; node < num_nodes; ++node) {
    for (unsigned bit = 0; bit < num_dimensions; ++bit) edges.push_back({node, node ^ (NodeId{1} << bit)});
  }
  return Topology{num_nodes, std::move(edges)};
}

namespace detail {

enum class Border { open, wrapped };

/// Nodes are in row-major order: the last coordinate changes fastest.
inline Topology MakeLattice(const std::vector<NodeId>& sides, Border border) {
  std::uint64_t num_nodes = 1;
  for (const NodeId side : sides) {
    num_nodes *= side;
    if (num_nodes > std::numeric_limits<NodeId>::max()) throw uit::InputError("a lattice must have fewer than 2^32 nodes");
  }
  std::vector<Edge> edges;
  edges.reserve(num_nodes * 2 * sides.size());
  std::vector<NodeId> at(sides.size());
  for (NodeId node = 0; node < num_nodes; ++node) {
    NodeId stride = 1;
    for (std::size_t i = sides.size(); i-- > 0; stride *= sides[i]) {
      const NodeId last = sides[i] - 1;
      const bool wraps = border == Border::wrapped && last > 1;
      if (at[i] > 0)
        edges.push_back({node, node - stride});
      else if (wraps)
        edges.push_back({node, node + last * stride});
      if (at[i] < last)
        edges.push_back({node, node + stride});
      else if (wraps)
        edges.push_back({node, node - last * stride});
    }
    for (std::size_t i = sides.size(); i-- > 0 && ++at[i] == sides[i];) at[i] = 0;
  }
  return Topology{static_cast<NodeId>(num_nodes), std::move(edges)};
}

inline NodeId ToNodeId(std::integral auto side) {
  if (!std::in_range<NodeId>(side)) throw uit::InputError("a lattice cannot have a side of " + std::to_string(side));
  return static_cast<NodeId>(side);
}

}  // namespace detail

/// A lattice with open borders, of any number of dimensions. Nodes are in row-major order: the last coordinate changes
/// fastest. A node's neighbours are ordered from the last dimension to the first, lower before upper.
inline Topology MakeGrid(const std::vector<NodeId>& sides) { return detail::MakeLattice(sides, detail::Border::open); }

/// MakeGrid(64, 64) is a square of 64 × 64.
inline Topology MakeGrid(std::integral auto... sides)
  requires(sizeof...(sides) > 0)
{
  return MakeGrid(std::vector<NodeId>{detail::ToNodeId(sides)...});
}

/// As MakeGrid, but opposite borders are joined. As in NetworkX, a side of 2 joins its two nodes once and a side of 1 joins
/// nothing, so the graph has neither parallel edges nor loops.
inline Topology MakeTorus(const std::vector<NodeId>& sides) {
  return detail::MakeLattice(sides, detail::Border::wrapped);
}

/// MakeTorus(64, 64) is a square of 64 × 64 with 4 neighbours each.
inline Topology MakeTorus(std::integral auto... sides)
  requires(sizeof...(sides) > 0)
{
  return MakeTorus(std::vector<NodeId>{detail::ToNodeId(sides)...});
}

/// A closed ring of n nodes with 2 neighbours each. Two nodes are joined once; a single node is alone.
inline Topology MakeRing(NodeId num_nodes) { return MakeTorus(num_nodes); }

}  // namespace netuit
