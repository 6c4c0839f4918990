#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <netuit/mesh/worker_graph.hpp>
#include <uit/config.hpp>
#include <uit/support/assert.hpp>

namespace netuit {

/// One of a mesh's sets of edges.
struct Network {
  std::uint32_t number = 0;  ///< in the order in which the mesh was given them
};

/// Values of one process stand in slots: first those of its nodes, worker by worker, then ghosts, network by network and
/// worker by worker. What belongs to another worker begins on a cache line of its own, whatever the size of a value.
inline constexpr std::size_t slot_grain = 64;

/// Rounds up to where the next worker's slots may begin.
constexpr std::size_t RoundUpSlots(std::size_t num_slots) { return (num_slots + slot_grain - 1) / slot_grain * slot_grain; }

/// What one worker has of a network: the edges of its nodes, and a ghost for each node elsewhere that they come from.
///
/// A network with a period of more than one update has ghosts of the worker's own nodes, too: what its edges show changes
/// only when the period has come round, wherever the neighbour is.
class NetworkPart {
 public:
  /// Ghosts of nodes of one worker; they stand in a row.
  struct Ghosts {
    std::uint32_t worker = 0;       ///< whose nodes they are
    std::size_t first = 0;          ///< the first one's slot
    std::vector<NodeId> ids{};      ///< of the nodes, ascending
  };
  /// The nodes that another worker has ghosts of.
  struct Heard {
    std::uint32_t worker = 0;             ///< who has the ghosts
    std::vector<std::uint32_t> nodes{};   ///< local to this worker, ascending
  };

  /// Of a part of the graph that is due every `num_updates`, whose nodes' slots begin at `slot`, and whose inputs and outputs
  /// are numbered from `first_in` and `first_out` within the process.
  NetworkPart(WorkerGraph part, std::uint64_t num_updates, std::size_t slot, std::size_t first_in, std::size_t first_out);

  /// How many ghosts it has.
  std::size_t NumGhosts() const;
  /// Gives the ghosts the slots from `first` on, and writes to `slots`, by input of the process, where neighbours' values stand.
  void PlaceGhosts(std::size_t first, std::uint32_t* slots);

  WorkerGraph graph;                    ///< its nodes, and their edges in the network
  std::uint64_t period;                ///< in updates
  std::size_t first_slot;              ///< of its nodes
  std::size_t first_input;             ///< within the process
  std::size_t first_output;            ///< within the process
  const std::uint32_t* in_slots = nullptr;  ///< by input of the process: where the neighbour's value stands
  std::vector<Ghosts> ghosts;          ///< by worker, ascending
  std::vector<Heard> heard;            ///< by worker, ascending

 private:
  bool IsGhost(std::size_t input) const { return graph.source_workers[input] != graph.worker || period > 1; }
  std::uint32_t SlotOfInput(std::size_t input) const;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/network_part.ipp>
#endif
