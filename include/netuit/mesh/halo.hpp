#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/node_counts.hpp>
#include <netuit/mesh/place_graph.hpp>
#include <netuit/mesh/value_part.hpp>
#include <uit/tally.hpp>

namespace netuit {

/// One place's share of a multicast layer: the values of its own nodes, then ghosts, one per node elsewhere that it
/// hears. Its worker only, once it is wired.
template <typename T>
class Halo final : public ValuePart {
 public:
  /// The place that `graph` describes.
  explicit Halo(const PlaceGraph& graph, std::uint64_t period = 1) : ValuePart(period), num_nodes_(graph.nodes.size()) {
    // Ghosts stand by source worker, then by id: the order in which that worker sends them.
    std::vector<std::pair<std::uint32_t, NodeId>> ghosts;
    for (std::size_t input = 0; input < graph.sources.size(); ++input) {
      if (graph.source_workers[input] != graph.worker)
        ghosts.emplace_back(graph.source_workers[input], graph.sources[input]);
    }
    std::ranges::sort(ghosts);
    ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
    in_index_.reserve(graph.sources.size());
    for (std::size_t input = 0; input < graph.sources.size(); ++input) {
      const NodeId source = graph.sources[input];
      if (graph.source_workers[input] == graph.worker) {
        in_index_.push_back(graph.LocalIndex(source));
      } else {
        const auto ghost = std::ranges::lower_bound(ghosts, std::pair{graph.source_workers[input], source});
        in_index_.push_back(static_cast<std::uint32_t>(num_nodes_ + static_cast<std::size_t>(ghost - ghosts.begin())));
      }
    }
    for (const auto& [worker, id] : ghosts) ghost_ids_.push_back(id);
    for (std::size_t begin = 0, end = 0; begin < ghosts.size(); begin = end) {
      while (end < ghosts.size() && ghosts[end].first == ghosts[begin].first) ++end;
      ValueReceiver& receiver = Receivers()[ghosts[begin].first];
      receiver.first_slot = num_nodes_ + begin;
      receiver.ids = std::span{ghost_ids_}.subspan(begin, end - begin);
      receiver.layout = {end - begin, sizeof(T)};
    }
    for (std::uint32_t node = 0; node < num_nodes_; ++node) {
      for (std::uint32_t output = graph.first_out[node]; output < graph.first_out[node + 1]; ++output) {
        if (graph.target_workers[output] == graph.worker) continue;
        std::vector<std::uint32_t>& heard = heard_[graph.target_workers[output]];
        if (heard.empty() || heard.back() != node) heard.push_back(node);
      }
    }
    for (const auto& [worker, heard] : heard_) Senders()[worker] = ValueSender{.nodes = heard, .layout = {heard.size(), sizeof(T)}};
    current_.resize(num_nodes_ + ghosts.size());
    next_.resize(current_.size());
  }

  /// By node, then ghosts.
  T* Current() { return current_.data(); }
  /// What a bulk synchronous update writes.
  T* Next() { return next_.data(); }
  /// Where the values of inputs stand, by input.
  const std::uint32_t* InIndex() const { return in_index_.data(); }
  /// The global numbers of the ghosts, as they stand.
  std::span<const NodeId> GhostIds() const { return ghost_ids_; }
  /// How many nodes the place has itself.
  std::size_t NumNodes() const { return num_nodes_; }

  using ValuePart::Counting;
  /// Where puts are counted that were refused.
  NodeCounts& Dropped() { return IsMuted() ? Counting() : dropped_; }

  void Prepare(const Delivery& delivery, const replay::Tape& tape) override {
    ValuePart::Prepare(delivery, tape);
    is_by_update_ = delivery.is_by_update;
  }
  void Send(std::uint64_t update) override {
    if (IsDue(update)) SendValues(Current(), update, false);
  }
  void ShowWritten(std::uint64_t update) override {
    if (IsDue(update)) current_.swap(next_);
  }
  void BeginEnd(std::uint64_t update) override {
    if (IsDue(update)) SendValues(Written(update), update, true);
  }
  bool TryPullLast(std::uint64_t update) override { return !IsDue(update) || TryPullAllLast(AsBytes(Written(update)), update); }
  void FinishUpdate(std::uint64_t update) override {
    if (IsDue(update)) Counting().AddOneEach();
  }

 private:
  static std::byte* AsBytes(T* values) { return reinterpret_cast<std::byte*>(values); }
  std::byte* Shown() override { return AsBytes(Current()); }
  /// Where an update's values stand before they are shown.
  T* Written(std::uint64_t update) { return is_by_update_ && update != drain_update ? Next() : Current(); }
  void SendValues(T* values, std::uint64_t update, bool last) { SendAll(PackSlotsOf<T>, AsBytes(values), 0, update, last); }
  uit::PutTally PutsOf(std::uint32_t node) const override {
    uit::PutTally puts = ValuePart::PutsOf(node);
    puts.attempted += dropped_.Of(node);
    puts.dropped = dropped_.Of(node);
    return puts;
  }

  std::size_t num_nodes_;
  std::vector<T> current_;
  std::vector<T> next_;
  std::vector<std::uint32_t> in_index_;
  std::vector<NodeId> ghost_ids_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> heard_;  // by worker that hears them: own nodes, ascending
  NodeCounts dropped_;
  bool is_by_update_ = false;
};

}  // namespace netuit
