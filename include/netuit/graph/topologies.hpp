#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/kronecker.hpp>
#include <netuit/graph/random_geometric.hpp>
#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/graph/uniform.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

/// \file
/// Standard graphs. Unless stated otherwise, each is undirected: each link is a pair of directed edges. All throw
/// uit::InputError if the graph has more nodes than a NodeId can count. This header includes those of the random graphs.

namespace netuit {

/// n nodes and no edge.
Topology MakeEmpty(NodeId num_nodes);

/// n nodes, each joined only to itself.
Topology MakeLoop(NodeId num_nodes);

/// n nodes in pairs 0–1, 2–3, …. If n is odd, the last node is alone.
Topology MakeDyadic(NodeId num_nodes);

/// n nodes in pairs 0→1, 2→3, …; only even nodes send. If n is odd, the last node is alone.
Topology MakeProducerConsumer(NodeId num_nodes);

/// n nodes, each joined to every other.
Topology MakeComplete(NodeId num_nodes);

/// The corners of a cube of d dimensions: 2^d nodes with d neighbours each. Throws uit::InputError if d >= 32.
Topology MakeHypercube(unsigned num_dimensions);

namespace detail {

enum class Border { open, wrapped };

/// Nodes are in row-major order: the last coordinate changes fastest.
Topology MakeLattice(const std::vector<NodeId>& sides, Border border);

inline NodeId ToNodeId(std::integral auto side) {
  if (!std::in_range<NodeId>(side)) throw uit::InputError("a lattice cannot have a side of " + std::to_string(side));
  return static_cast<NodeId>(side);
}

}  // namespace detail

/// A lattice with open borders, of any number of dimensions. Nodes are in row-major order: the last coordinate changes
/// fastest. A node's neighbours are ordered from the last dimension to the first, lower before upper.
Topology MakeGrid(const std::vector<NodeId>& sides);

/// MakeGrid(64, 64) is a square of 64 × 64.
inline Topology MakeGrid(std::integral auto... sides)
  requires(sizeof...(sides) > 0)
{
  return MakeGrid(std::vector<NodeId>{detail::ToNodeId(sides)...});
}

/// As MakeGrid, but opposite borders are joined. As in NetworkX, a side of 2 joins its two nodes once and a side of 1 joins
/// nothing, so the graph has neither parallel edges nor loops.
Topology MakeTorus(const std::vector<NodeId>& sides);

/// MakeTorus(64, 64) is a square of 64 × 64 with 4 neighbours each.
inline Topology MakeTorus(std::integral auto... sides)
  requires(sizeof...(sides) > 0)
{
  return MakeTorus(std::vector<NodeId>{detail::ToNodeId(sides)...});
}

/// A closed ring of n nodes with 2 neighbours each. Two nodes are joined once; a single node is alone.
Topology MakeRing(NodeId num_nodes);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/graph/topologies.ipp>
#endif
