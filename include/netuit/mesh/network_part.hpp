#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <netuit/mesh/worker_graph.hpp>
#include <uit/config.hpp>

namespace netuit {

struct DelayedSlots;

/// Identifies one of a mesh's networks.
struct Network {
  std::uint32_t number = 0;  ///< in the order in which the mesh received them
};

/// A process stores values in slots: first those of its nodes, worker by worker, then those of ghosts, network by network and
/// worker by worker. Each worker's slots begin at a multiple of this number, so they start on a cache line of their own for any
/// size of value.
inline constexpr std::size_t slot_grain = 64;

/// Rounds up to the first slot where the next worker's may begin.
constexpr std::size_t RoundUpSlots(std::size_t num_slots) { return (num_slots + slot_grain - 1) / slot_grain * slot_grain; }

/// One worker's part of a network: the edges of its nodes, and a ghost for each node of another worker where such an edge
/// begins.
///
/// If the period is more than one update, the worker's own nodes have ghosts too. The values that the edges show then change
/// only when the network is due, whichever worker the neighbour belongs to.
class NetworkPart {
 public:
  /// Used as a number of inputs where nodes have no common number.
  static constexpr std::size_t no_common_degree = std::numeric_limits<std::size_t>::max();

  /// Ghosts of nodes of one worker. Their slots are consecutive.
  struct Ghosts {
    std::uint32_t worker = 0;       ///< the worker that updates the nodes
    std::size_t first = 0;          ///< slot of the first ghost
    std::vector<NodeId> ids{};      ///< of the nodes, ascending
  };
  /// The nodes of this worker that another worker has ghosts of.
  struct Recipients {
    std::uint32_t worker = 0;             ///< the worker that has the ghosts
    std::vector<std::uint32_t> nodes{};   ///< numbers local to this worker, ascending
  };

  /// Takes a part of the graph that is due every `num_updates` updates. The slots of its nodes begin at `slot`. Its inputs and
  /// outputs are numbered from `first_in` and `first_out` within the process.
  NetworkPart(WorkerGraph part, std::uint64_t num_updates, std::size_t slot, std::size_t first_in, std::size_t first_out);
  NetworkPart(const NetworkPart&) = delete;
  NetworkPart& operator=(const NetworkPart&) = delete;
  ~NetworkPart();

  /// Returns the number of ghosts.
  std::size_t NumGhosts() const;
  /// Gives the ghosts the slots from `first` on. Writes the slot of each neighbour's value to `slots`, by input of the process.
  void PlaceGhosts(std::size_t first, std::uint32_t* slots);
  /// Chooses whether edges show values with their delays. Between runs; only if `delayed` is set.
  void UseDelays(bool is_on);
  /// Throws uit::InputError that names a node with a number of inputs other than `degree`. There must be one.
  [[noreturn]] void RefuseDegree(std::size_t degree) const;

  WorkerGraph graph;                    ///< its nodes, and their edges in the network
  std::uint64_t period;                ///< in updates
  std::size_t first_slot;              ///< slot of its first node
  std::size_t first_input;             ///< number of its first input within the process
  std::size_t first_output;            ///< number of its first output within the process
  std::size_t common_in_degree;        ///< number of inputs of each of its nodes; no_common_degree if they differ or it has no node
  const std::uint32_t* in_slots = nullptr;  ///< slot of the neighbour's value, by input of the process
  std::vector<Ghosts> ghosts;          ///< by worker, ascending
  std::vector<Recipients> recipients;  ///< by worker, ascending
  std::vector<std::uint32_t> target_numbers{};  ///< by output: which of its worker's nodes the target is; empty without calls
  std::unique_ptr<DelayedSlots> delayed;  ///< if the mesh has edges with a delay other than 1, and the period is 1

 private:
  bool IsGhost(std::size_t input) const { return graph.source_workers[input] != graph.worker || period > 1; }
  std::uint32_t SlotOfInput(std::size_t input) const;
  std::size_t FindCommonInDegree() const;

  const std::uint32_t* undelayed_slots_ = nullptr;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/network_part.ipp>
#endif
