#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/place_graph.hpp>
#include <uit/wire/frame_trace.hpp>

namespace netuit {

/// What one worker has of a mesh: its nodes with their edges, and its part of every layer.
struct Partition {
  PlaceGraph graph;                 ///< its nodes and their edges
  std::size_t first_local = 0;      ///< its nodes are numbered from here within the process
  std::vector<LayerPart*> layers{}; ///< in the mesh's order
  uit::TraceClock clock{};          ///< what frames are stamped with

  /// Of a part of the graph whose nodes are numbered from `first` within the process.
  Partition(PlaceGraph part, std::size_t first) : graph(std::move(part)), first_local(first) {}
};

}  // namespace netuit
