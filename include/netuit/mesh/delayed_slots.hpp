#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <uit/config.hpp>

namespace netuit {

/// Where a worker keeps the values that the edges of one network show in a run by Dataflow, if the mesh has edges with a delay
/// other than 1. There is a slot for every node and delay that the worker's edges ask for:
///
/// - A *present* slot has what an own node has published last, as soon as its level has been updated. Edges with delay 0 within
///   the worker show it, and it is sent to other workers.
/// - Own nodes have a slot for each delay from 2 to the longest of their edges within the worker. Edges with delay 1 show the
///   node's own slot.
/// - A node of another worker has a slot where its values arrive, and one for each longer delay up to the longest of its edges.
///   Values arrive with the *lag* of that worker: the shortest delay of all edges from there. If the lag is above 1, the node has a
///   *waiting* slot for each shorter delay too. At the end of a run these receive the last values, and the first updates of a run
///   that goes on take them from there.
///
/// Between runs, each slot has the value that an edge with its delay shows in the next update.
///
/// Values travel in *batches*: the nodes of one level. If a worker sent its values only once per update, workers could wait for
/// each other for ever, or take turns. The number of frames that a sender may be ahead follows from lag and batches.
struct DelayedSlots {
  /// Copies values from some slots to consecutive ones.
  struct Move {
    std::vector<std::uint32_t> from{};  ///< slots
    std::size_t to = 0;                 ///< the first slot
  };
  /// Values that travel together.
  struct Batch {
    std::uint32_t level = 0;                ///< of the nodes
    std::vector<std::uint32_t> channels{};  ///< positions of the nodes among those that the two workers exchange, ascending
    std::vector<std::uint32_t> nodes{};     ///< at the sender: their local numbers
    std::vector<std::uint32_t> slots{};     ///< at the sender: their present slots
    std::size_t first = 0;                  ///< at the receiver: where they arrive; consecutive
    std::size_t first_waiting = 0;          ///< at the receiver: slots for delay 1, then 2, and so on up to those where they arrive
    std::vector<Move> aging{};              ///< at the receiver: makes each value one update older; do them in order
  };
  /// Another worker. Both ends of an exchange of batches have the same lag and levels.
  struct Peer {
    std::uint32_t worker = 0;      ///< its number
    std::uint32_t lag = 0;         ///< the shortest delay of all edges between the two in this direction
    std::uint32_t longest = 0;     ///< of a source: the longest of these delays
    std::vector<Batch> batches{};  ///< of an update, by level, ascending

    /// Returns how many frames may be under way, so that nobody waits for room who must not. The receiver takes in a batch once
    /// its lag has passed, and reports when half of them are unreported.
    std::size_t Depth() const { return 2 * (lag > 1 ? lag : 1) * batches.size() + 4; }
    /// Returns the number of nodes of the largest batch.
    std::size_t MaxBatch() const;
  };
  /// What has to be taken in before a level is updated: of one source, everything up to a batch.
  struct Need {
    std::uint32_t source = 0;  ///< its position in `sources`
    std::uint32_t batch = 0;   ///< its position in Peer::batches
    std::uint32_t back = 0;    ///< how many updates before
  };
  /// Own nodes of one level that have present slots.
  struct Present {
    std::vector<std::uint32_t> nodes{};  ///< local numbers, ascending
    std::size_t first = 0;               ///< slot of the first; consecutive
  };

  std::vector<Peer> sources{};             ///< workers whose values the edges show, ascending
  std::vector<Peer> destinations{};        ///< workers whose edges show values of this one, ascending
  std::vector<std::vector<Need>> needs{};  ///< before each level, by its position among the worker's
  std::vector<Present> present{};          ///< by level, likewise
  std::vector<Move> aging{};               ///< makes own nodes' values one update older, while their own slots are those of the
                                           ///< previous update; do them in order
  std::uint32_t longest_within = 0;        ///< the longest delay of an edge within the worker; 0 if there is none
  const std::uint32_t* in_slots = nullptr; ///< slot of the neighbour's value, by input of the process
  std::size_t first = 0;                   ///< the first slot
  std::vector<std::uint32_t> origins{};    ///< by slot: the one that has the node's value between runs
  std::vector<std::uint16_t> delays{};     ///< by slot: how many updates before the present one its value was published

  /// Returns one past the last slot.
  std::size_t End() const { return first + origins.size(); }
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/delayed_slots.ipp>
#endif
