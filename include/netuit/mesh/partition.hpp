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

/// What one worker has of a mesh: its nodes, its part of every network, and its part of every layer.
struct Partition {
  std::vector<std::unique_ptr<NetworkPart>> networks;  ///< in the mesh's order; at least one
  const WorkerGraph& graph;            ///< of the first network
  std::size_t first_local = 0;        ///< its nodes are numbered from here within the process
  std::vector<LayerPart*> layers{};   ///< in the mesh's order
  uit::TraceClock clock{};            ///< what frames are stamped with
  std::vector<std::uint32_t> silent{};  ///< its nodes that publish nothing in the present update, ascending

  /// With a part of the first network; its nodes are numbered from `first` within the process.
  Partition(std::unique_ptr<NetworkPart> part, std::size_t first) : graph(part->graph), first_local(first) {
    networks.push_back(std::move(part));
  }
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  /// How many nodes it has.
  std::size_t NumNodes() const { return graph.nodes.size(); }
};

}  // namespace netuit
