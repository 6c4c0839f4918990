#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <netuit/mesh/place_graph.hpp>
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
  NetworkPart(PlaceGraph part, std::uint64_t num_updates, std::size_t slot, std::size_t first_in, std::size_t first_out)
      : graph(std::move(part)), period(num_updates), first_slot(slot), first_input(first_in), first_output(first_out) {
    std::vector<std::pair<std::uint32_t, NodeId>> found;
    for (std::size_t input = 0; input < graph.sources.size(); ++input) {
      if (IsGhost(input)) found.emplace_back(graph.source_workers[input], graph.sources[input]);
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    for (const auto& [worker, id] : found) {
      if (ghosts.empty() || ghosts.back().worker != worker) ghosts.push_back({.worker = worker});
      ghosts.back().ids.push_back(id);
    }
    for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
      for (std::uint32_t output = graph.first_out[node]; output < graph.first_out[node + 1]; ++output) {
        const std::uint32_t worker = graph.target_workers[output];
        if (worker == graph.worker && period == 1) continue;
        auto to = std::ranges::find(heard, worker, &Heard::worker);
        if (to == heard.end()) to = heard.insert(heard.end(), Heard{.worker = worker});
        if (to->nodes.empty() || to->nodes.back() != node) to->nodes.push_back(node);
      }
    }
    std::ranges::sort(heard, {}, &Heard::worker);
  }

  /// How many ghosts it has.
  std::size_t NumGhosts() const {
    std::size_t count = 0;
    for (const Ghosts& of : ghosts) count += of.ids.size();
    return count;
  }
  /// Gives the ghosts the slots from `first` on.
  void PlaceGhosts(std::size_t first) {
    first_ghost = first;
    for (Ghosts& of : ghosts) {
      of.first = first;
      first += of.ids.size();
    }
    in_slots.reserve(graph.sources.size());
    for (std::size_t input = 0; input < graph.sources.size(); ++input) in_slots.push_back(SlotOfInput(input));
  }

  PlaceGraph graph;                    ///< its nodes, and their edges in the network
  std::uint64_t period;                ///< in updates
  std::size_t first_slot;              ///< of its nodes
  std::size_t first_ghost = 0;         ///< of its ghosts
  std::size_t first_input;             ///< within the process
  std::size_t first_output;            ///< within the process
  std::vector<std::uint32_t> in_slots; ///< by input: where the neighbour's value stands
  std::vector<Ghosts> ghosts;          ///< by worker, ascending
  std::vector<Heard> heard;            ///< by worker, ascending

 private:
  bool IsGhost(std::size_t input) const { return graph.source_workers[input] != graph.worker || period > 1; }
  std::uint32_t SlotOfInput(std::size_t input) const {
    if (!IsGhost(input)) return static_cast<std::uint32_t>(first_slot + graph.LocalIndex(graph.sources[input]));
    const auto of = std::ranges::lower_bound(ghosts, graph.source_workers[input], {}, &Ghosts::worker);
    const auto at = std::ranges::lower_bound(of->ids, graph.sources[input]);
    return static_cast<std::uint32_t>(of->first + static_cast<std::size_t>(at - of->ids.begin()));
  }
};

}  // namespace netuit
