#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <uit/link/frame_trace.hpp>

namespace netuit {

/// One worker's part of a mesh: its nodes, its part of every network, and its part of every layer.
struct Partition {
  std::vector<std::unique_ptr<NetworkPart>> networks;  ///< in the mesh's order; at least one
  const WorkerGraph& graph;            ///< of the first network
  std::size_t first_local = 0;        ///< local number of its first node within the process
  std::vector<LayerPart*> layers{};   ///< in the mesh's order
  uit::TraceClock clock{};            ///< supplies the frames' time stamps
  std::vector<std::uint32_t> silent{};  ///< its nodes that publish nothing in the current update, ascending

  /// Starts with the part of the first network. `first` is the local number of its first node within the process.
  Partition(std::unique_ptr<NetworkPart> part, std::size_t first) : graph(part->graph), first_local(first) {
    networks.push_back(std::move(part));
  }
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  /// Returns the number of nodes of the worker.
  std::size_t NumNodes() const { return graph.nodes.size(); }
};

}  // namespace netuit
