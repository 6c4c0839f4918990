#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <netuit/placement/placement.hpp>
#include <uit/link/connection.hpp>

namespace netuit {

/// Options of a mesh. They must be the same on every process.
struct MeshOptions {
  /// The worker that updates each node. Only rank 0's placement is used.
  ///
  /// By default METIS decides: each worker gets about the same weight of nodes, and edges of little weight are cut. If the mesh has
  /// several networks, a node weighs the sum of its weights in the networks whose graphs have weights of nodes, and an edge its
  /// weight divided by its network's period. A network without weights of nodes adds nothing; if no network has any, each node
  /// weighs 1. So does a node that none of the networks with weights has.
  std::optional<Placement> placement{};
  /// Capacity of an edge of a channel, at most 65 535: messages if the policy keeps every message, frames if it accumulates. In modes
  /// 1 to 4 an edge within a worker has memory for as many messages as have waited at once, whatever the depth.
  std::size_t depth = 2;
  std::size_t num_slots = 16;  ///< frames per peer that may be sent before the peer acknowledges them; see uit::FabricOptions
  std::uint32_t max_pace = uit::Connection::default_max_pace;  ///< most polls skipped between values for a slow peer
  bool shares_memory = true;   ///< processes on one host exchange frames through shared memory instead of MPI
  bool is_traced = false;      ///< frames carry time stamps, so that a run can measure latencies; see RunOptions::quality
  bool is_watched = false;     ///< process 0 can receive the status of all workers; see RunOptions::on_status

  // For channels that are aggregated, or whose messages vary in size.
  std::size_t buffer_bytes = 65'536;       ///< of a frame to another process; see uit::Process
  std::size_t max_message_bytes = 65'536;  ///< largest encoded message; putting a larger one throws, on every edge
  std::chrono::nanoseconds max_age{0};     ///< without barriers, frames older than this leave; 0: at the end of each update
};

}  // namespace netuit
