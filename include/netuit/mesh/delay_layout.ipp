#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/mesh/delay_layout.hpp>
#include <netuit/mesh/delayed_slots.hpp>
#include <netuit/mesh/levels.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <uit/config.hpp>

namespace netuit {

namespace detail {

/// Lays out the slots of one worker and network.
class DelayedLayout {
 public:
  DelayedLayout(const NetworkPart& part, const std::vector<Level>& levels, std::size_t first, std::uint32_t* in_slots)
      : part_(part), graph_(part.graph), levels_(levels), in_slots_(in_slots) {
    slots_.first = first;
    slots_.in_slots = in_slots;
    AddDestinations();
    AddPresent();
    AddOwnAging();
    AddSources();
    PlaceInputs();
  }
  DelayedSlots Take() { return std::move(slots_); }

 private:
  using Values = std::map<std::uint32_t, std::uint32_t>;  // a slot by delay

  std::uint32_t LevelOf(std::size_t node) const { return graph_.levels.empty() ? 0 : graph_.levels[node]; }
  std::uint32_t SourceLevel(std::size_t input) const { return graph_.source_levels.empty() ? 0 : graph_.source_levels[input]; }
  bool IsOwn(std::uint32_t worker) const { return worker == graph_.worker; }
  /// Gives a node's value of so many updates before the next slot.
  std::uint32_t AddSlot(std::size_t origin, std::uint32_t delay) {
    slots_.origins.push_back(static_cast<std::uint32_t>(origin));
    slots_.delays.push_back(static_cast<std::uint16_t>(delay));
    return static_cast<std::uint32_t>(slots_.End() - 1);
  }
  /// Groups nodes by level: `level_of(position)`.
  template <typename F>
  static std::vector<DelayedSlots::Batch> BatchesOf(std::size_t num_nodes, F&& level_of) {
    std::map<std::uint32_t, DelayedSlots::Batch> by_level;
    for (std::uint32_t i = 0; i < num_nodes; ++i) {
      DelayedSlots::Batch& batch = by_level[level_of(i)];
      batch.level = level_of(i);
      batch.channels.push_back(i);
    }
    std::vector<DelayedSlots::Batch> batches;
    for (auto& [level, batch] : by_level) batches.push_back(std::move(batch));
    return batches;
  }

  void AddDestinations() {
    std::map<std::uint32_t, std::uint32_t> shortest;  // delay, by worker
    for (std::size_t output = 0; output < graph_.targets.size(); ++output) {
      const auto [at, is_new] = shortest.try_emplace(graph_.target_workers[output], graph_.OutDelay(output));
      at->second = std::min(at->second, graph_.OutDelay(output));
    }
    for (const NetworkPart::Recipients& to : part_.recipients) {
      slots_.destinations.push_back(
          {.worker = to.worker, .lag = shortest.at(to.worker),
           .batches = BatchesOf(to.nodes.size(), [&](std::uint32_t i) { return LevelOf(to.nodes[i]); })});
    }
  }
  void AddPresent() {
    std::vector<bool> is_shown(graph_.nodes.size());
    for (const NetworkPart::Recipients& to : part_.recipients)
      for (const std::uint32_t node : to.nodes) is_shown[node] = true;
    for (std::uint32_t node = 0; node < graph_.nodes.size(); ++node) {
      for (std::uint32_t output = graph_.first_out[node]; output < graph_.first_out[node + 1]; ++output)
        if (graph_.OutDelay(output) == 0) is_shown[node] = true;
    }
    own_.resize(graph_.nodes.size());
    for (const Level& level : levels_) {
      DelayedSlots::Present present{.first = slots_.End()};
      for (const NodeRange& range : level.nodes) {
        for (std::uint32_t node = range.begin; node < range.end; ++node) {
          if (!is_shown[node]) continue;
          present.nodes.push_back(node);
          own_[node][0] = AddSlot(part_.first_slot + node, 0);
        }
      }
      slots_.present.push_back(std::move(present));
    }
    for (std::size_t i = 0; i < slots_.destinations.size(); ++i) {
      for (DelayedSlots::Batch& batch : slots_.destinations[i].batches)
        for (const std::uint32_t channel : batch.channels) {
          batch.nodes.push_back(part_.recipients[i].nodes[channel]);
          batch.slots.push_back(own_[batch.nodes.back()][0]);
        }
    }
  }
  void AddOwnAging() {
    std::vector<std::uint32_t> longest(graph_.nodes.size());
    for (std::size_t input = 0; input < graph_.sources.size(); ++input) {
      if (!IsOwn(graph_.source_workers[input])) continue;
      std::uint32_t& most = longest[graph_.LocalIndex(graph_.sources[input])];
      most = std::max(most, graph_.InDelay(input));
      slots_.longest_within = std::max(slots_.longest_within, graph_.InDelay(input));
    }
    std::vector<std::uint32_t> nodes(graph_.nodes.size());
    for (std::uint32_t node = 0; node < nodes.size(); ++node) {
      nodes[node] = node;
      own_[node][1] = static_cast<std::uint32_t>(part_.first_slot + node);
    }
    slots_.aging = AgingOf(nodes, 1, longest, part_.first_slot, own_);
  }
  /// Adds slots for delays above `shortest` to `values`, by node. Each node has one for `shortest`. Returns how their values age.
  std::vector<DelayedSlots::Move> AgingOf(const std::vector<std::uint32_t>& nodes, std::uint32_t shortest,
                                          const std::vector<std::uint32_t>& longest, std::size_t first_origin,
                                          std::vector<Values>& values) {
    std::vector<DelayedSlots::Move> moves;
    for (std::uint32_t delay = shortest + 1;; ++delay) {
      DelayedSlots::Move move{.to = slots_.End()};
      for (const std::uint32_t node : nodes) {
        if (longest[node] < delay) continue;
        move.from.push_back(values[node].at(delay - 1));
        values[node][delay] = AddSlot(first_origin + node, delay);
      }
      if (move.from.empty()) break;
      moves.push_back(std::move(move));
    }
    std::ranges::reverse(moves);  // the oldest value is overwritten first
    return moves;
  }
  void AddSources() {
    std::vector<std::vector<std::uint32_t>> longest;  // by source and node
    std::vector<std::vector<std::uint32_t>> levels;   // likewise
    for (const NetworkPart::Ghosts& ghosts : part_.ghosts) {
      slots_.sources.push_back({.worker = ghosts.worker, .lag = max_edge_delay});
      longest.emplace_back(ghosts.ids.size());
      levels.emplace_back(ghosts.ids.size());
    }
    for (std::size_t input = 0; input < graph_.sources.size(); ++input) {
      if (IsOwn(graph_.source_workers[input])) continue;
      const std::size_t source = SourceOf(input);
      const std::size_t i = GhostOf(source, input);
      longest[source][i] = std::max(longest[source][i], graph_.InDelay(input));
      levels[source][i] = SourceLevel(input);
      slots_.sources[source].lag = std::min(slots_.sources[source].lag, graph_.InDelay(input));
    }
    for (std::size_t source = 0; source < part_.ghosts.size(); ++source) AddSource(source, longest[source], levels[source]);
  }
  void AddSource(std::size_t source, const std::vector<std::uint32_t>& longest, const std::vector<std::uint32_t>& levels) {
    const NetworkPart::Ghosts& ghosts = part_.ghosts[source];
    DelayedSlots::Peer& peer = slots_.sources[source];
    peer.longest = std::ranges::max(longest);
    peer.batches = BatchesOf(ghosts.ids.size(), [&](std::uint32_t i) { return levels[i]; });
    std::vector<Values>& values = ghosts_.emplace_back(ghosts.ids.size());
    for (DelayedSlots::Batch& batch : peer.batches) {
      batch.first_waiting = slots_.End();
      for (std::uint32_t delay = std::min<std::uint32_t>(1, peer.lag); delay <= peer.lag; ++delay) {
        batch.first = slots_.End();
        for (const std::uint32_t i : batch.channels) values[i][delay] = AddSlot(ghosts.first + i, delay);
      }
    }
    for (DelayedSlots::Batch& batch : peer.batches) batch.aging = AgingOf(batch.channels, peer.lag, longest, ghosts.first, values);
  }
  /// Returns the position of the worker where an input comes from.
  std::size_t SourceOf(std::size_t input) const {
    const auto of = std::ranges::lower_bound(part_.ghosts, graph_.source_workers[input], {}, &NetworkPart::Ghosts::worker);
    return static_cast<std::size_t>(of - part_.ghosts.begin());
  }
  /// Returns the position of its node among those of that worker.
  std::size_t GhostOf(std::size_t source, std::size_t input) const {
    const std::vector<NodeId>& ids = part_.ghosts[source].ids;
    return static_cast<std::size_t>(std::ranges::lower_bound(ids, graph_.sources[input]) - ids.begin());
  }
  void PlaceInputs() {
    slots_.needs.resize(levels_.size());
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      for (const NodeRange& range : levels_[level].nodes) {
        for (std::uint32_t input = graph_.first_in[range.begin]; input < graph_.first_in[range.end]; ++input)
          in_slots_[part_.first_input + input] = IsOwn(graph_.source_workers[input]) ? OwnSlot(input) : GhostSlot(input, level);
      }
    }
  }
  std::uint32_t OwnSlot(std::size_t input) const {
    return own_[graph_.LocalIndex(graph_.sources[input])].at(graph_.InDelay(input));
  }
  std::uint32_t GhostSlot(std::size_t input, std::size_t level) {
    const std::size_t source = SourceOf(input);
    const DelayedSlots::Peer& peer = slots_.sources[source];
    const std::uint32_t delay = graph_.InDelay(input);
    const auto batch = std::ranges::lower_bound(peer.batches, SourceLevel(input), {}, &DelayedSlots::Batch::level);
    AddNeed(level, {.source = static_cast<std::uint32_t>(source),
                    .batch = static_cast<std::uint32_t>(batch - peer.batches.begin()),
                    .back = delay == 0 ? 0 : std::max<std::uint32_t>(peer.lag, 1)});
    return ghosts_[source][GhostOf(source, input)].at(delay);
  }
  /// Of each source, only the latest batch matters, because batches are taken in one after another.
  void AddNeed(std::size_t level, const DelayedSlots::Need& need) {
    std::vector<DelayedSlots::Need>& needs = slots_.needs[level];
    const auto found = std::ranges::find(needs, need.source, &DelayedSlots::Need::source);
    if (found == needs.end()) needs.push_back(need);
    else if (need.back < found->back || (need.back == found->back && need.batch > found->batch)) *found = need;
  }

  const NetworkPart& part_;
  const WorkerGraph& graph_;
  const std::vector<Level>& levels_;
  std::uint32_t* in_slots_;
  DelayedSlots slots_;
  std::vector<Values> own_;                  // by own node
  std::vector<std::vector<Values>> ghosts_;  // by source and node
};

}  // namespace detail

UIT_DEFINE DelayedSlots LayOutDelayed(const NetworkPart& part, const std::vector<Level>& levels, std::size_t first,
                                      std::uint32_t* in_slots) {
  return detail::DelayedLayout(part, levels, first, in_slots).Take();
}

}  // namespace netuit
