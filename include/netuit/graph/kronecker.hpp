#pragma once

#include <cstdint>

#include <netuit/graph/drawn_links.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Graph500's Kronecker graph, undirected: 2^scale nodes, of which a few have very many neighbours and many have none.
///
/// Draws edge_factor × 2^scale links. For each bit of a link's two ends, the pair of bits is 00, 01, 10 or 11 with probability 0.57,
/// 0.19, 0.19 and 0.05 (Chakrabarti, Zhan, Faloutsos 2004; Graph500's specification). Then the nodes get random numbers. Loops and
/// repeated links are left out, so the graph has fewer links than were drawn. The neighbours of a node are in ascending order.
///
/// The seed determines the graph, on every platform. Needs up to 80 bytes per drawn link while it works. Throws uit::InputError
/// if scale > 31.
Topology MakeKronecker(unsigned scale, NodeId edge_factor, std::uint64_t seed);

/// Returns the links of MakeKronecker, for processes that each draw some. Throws as MakeKronecker.
DrawnLinks KroneckerLinks(unsigned scale, NodeId edge_factor, std::uint64_t seed);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/graph/kronecker.ipp>
#endif
