#pragma once

#include <cstdint>

#include <netuit/graph/drawn_links.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

/// A uniform random graph, undirected. Draws `num_links` links, and both ends of each among all nodes with equal probability (the
/// Erdős–Rényi graph of the GAP Benchmark Suite). Loops and repeated links are left out, so the graph may have fewer links than
/// were drawn. The neighbours of a node are in ascending order.
///
/// The seed determines the graph, on every platform. Needs up to 80 bytes per drawn link while it works. Throws uit::InputError
/// if links are to be drawn and there is no node.
Topology MakeUniform(NodeId num_nodes, std::uint64_t num_links, std::uint64_t seed);

/// Returns the links of MakeUniform, for processes that each draw some. Throws as MakeUniform.
DrawnLinks UniformLinks(NodeId num_nodes, std::uint64_t num_links, std::uint64_t seed);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/graph/uniform.ipp>
#endif
