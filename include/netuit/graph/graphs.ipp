#pragma once

#include <netuit/graph/graph.hpp>
#include <netuit/graph/graphs.hpp>
#include <netuit/graph/topologies.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE Graph Torus(NodeId width, NodeId height) {
  return Graph{[width, height] { return MakeTorus(width, height); }};
}

}  // namespace netuit
