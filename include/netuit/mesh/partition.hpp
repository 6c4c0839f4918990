#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <netuit/barrier/vote.hpp>
#include <netuit/mesh/frame_note.hpp>
#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/levels.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/quality/effective_updates.hpp>
#include <uit/config.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/support/pause.hpp>

namespace netuit {

namespace detail {

class TurnOrder;

}  // namespace detail

/// One worker's part of a mesh: its nodes, its part of every network, and its part of every layer.
struct Partition {
  std::vector<std::unique_ptr<NetworkPart>> networks;  ///< in the mesh's order; at least one
  const WorkerGraph& graph;            ///< of the first network
  std::size_t first_local = 0;        ///< local number of its first node within the process
  std::vector<LayerPart*> layers{};   ///< in the mesh's order
  std::vector<Level> levels{};        ///< of its nodes; empty if every edge of the mesh has delay 1
  std::uint32_t max_delay = 1;        ///< the longest delay of any edge of the mesh, at least 1
  uit::TraceClock clock{};            ///< supplies the frames' time stamps
  EffectiveUpdates effective{};       ///< of the current run
  std::array<std::uint64_t, max_reductions> agreed{};   ///< what all workers have agreed on last
  Reduced none_given{};               ///< what an update begins with: sums, not over cuts, are 0
  bool has_cuts = false;  ///< whether fields are copied in the current run
  CutCounts cuts{};       ///< made in the current run
  detail::TurnOrder* turns = nullptr;  ///< of objects that nodes use in sequence; null if the mesh has none
  NodeNotes notes{};      ///< of its nodes
  uit::SpinHabit spin_habit{};  ///< for the waits of its runs

  /// Starts with the part of the first network. `first` is the local number of its first node within the process.
  Partition(std::unique_ptr<NetworkPart> part, std::size_t first);
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;
  ~Partition();

  /// Returns the number of nodes of the worker.
  std::size_t NumNodes() const { return graph.nodes.size(); }
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/partition.ipp>
#endif
