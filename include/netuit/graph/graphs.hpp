#pragma once

#include <netuit/graph/graph.hpp>
#include <uit/config.hpp>

namespace netuit {

/// A torus of width × height nodes. Each has an edge to and from its four neighbours. See MakeTorus.
Graph Torus(NodeId width, NodeId height);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/graph/graphs.ipp>
#endif
