#pragma once

#include <netuit/graph/graph.hpp>
#include <netuit/graph/topologies.hpp>

namespace netuit {

/// A torus of that many nodes, each with an edge to and from its four neighbours. See MakeTorus.
inline Graph Torus(NodeId width, NodeId height) {
  return Graph{[width, height] { return MakeTorus(width, height); }};
}

}  // namespace netuit
