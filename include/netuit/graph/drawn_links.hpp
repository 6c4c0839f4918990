#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

/// The links of a random graph, of which each can be drawn without the others. So each of several processes can draw some of them.
///
/// The graph is undirected. Loops and repeated links are left out, so it may have fewer links than are drawn. The neighbours of a
/// node are in ascending order.
struct DrawnLinks {
  NodeId num_nodes = 0;         ///< of the graph
  std::uint64_t num_drawn = 0;  ///< how many links are drawn
  std::function<Edge(std::uint64_t number)> draw;  ///< returns a link; depends on nothing but its number, below num_drawn
};

/// Returns the graph with these links. Needs up to 80 bytes per drawn link while it works.
Topology MakeTopology(const DrawnLinks& links);

namespace detail {

/// A directed edge as one number, which orders edges by source and then by target.
constexpr std::uint64_t PackEnds(NodeId source, NodeId target) { return std::uint64_t{source} << 32U | target; }
constexpr NodeId SourceOf(std::uint64_t ends) { return static_cast<NodeId>(ends >> 32U); }
constexpr NodeId TargetOf(std::uint64_t ends) { return static_cast<NodeId>(ends); }

/// Sorts edges and removes all but the first of equal ones.
void SortOnce(std::vector<std::uint64_t>& edges);

}  // namespace detail

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/graph/drawn_links.ipp>
#endif
