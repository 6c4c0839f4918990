#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <netuit/placement/placement.hpp>
#include <uit/link/connection.hpp>

namespace netuit {

/// What can be chosen when a mesh is wired. The same on every process.
struct MeshOptions {
  /// Where each node is updated; by default METIS decides. Only rank 0's is looked at.
  std::optional<Placement> placement{};
  /// Messages that may wait on an edge of a unicast layer that keeps every one, or frames of one that accumulates; at
  /// most 65 535.
  std::size_t depth = 2;
  std::size_t num_slots = 16;  ///< frames per peer that may be sent and not acknowledged; see uit::FabricOptions
  std::uint32_t max_pace = uit::Connection::default_max_pace;  ///< polls left out at most between values for a peer that lags
  bool shares_memory = true;   ///< processes of one node talk through shared memory, not MPI
  bool is_traced = false;      ///< frames bear stamps, from which a run tells latencies: see RunOptions::quality
  bool is_watched = false;     ///< process 0 can be told how all workers are doing: see RunOptions::on_status

  // Of unicast layers that are aggregated, or whose messages have sizes of their own.
  std::size_t buffer_bytes = 65'536;       ///< of a frame to another process; see uit::Process
  std::size_t max_message_bytes = 65'536;  ///< of a message, encoded; a put of a larger one throws, wherever its edge leads
  std::chrono::nanoseconds max_age{0};     ///< without barriers, frames leave when older; 0: at the end of each update
};

}  // namespace netuit
