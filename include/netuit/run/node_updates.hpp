#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/levels.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/turn_order.hpp>
#include <netuit/replay/record_reader.hpp>
#include <netuit/run/communicate.hpp>
#include <netuit/run/layer_traffic.hpp>
#include <netuit/run/run_control.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/shared_nodes.hpp>
#include <netuit/run/update_loop.hpp>

namespace netuit::detail {

/// Updates a worker's nodes: all together or, in a run by Dataflow on a mesh with edge delays, level by level. That worker only.
class NodeUpdates {
 public:
  /// Refers to all arguments. `thread` is the worker's. If the team has a board for loops, other threads may update some of the nodes.
  NodeUpdates(LayerTraffic& traffic, RunControl& control, const std::optional<Steals>& steals, UpdateLoop& loop, std::uint32_t thread)
      : traffic_(traffic),
        control_(control),
        loop_(loop),
        thread_(thread),
        partition_(traffic.GetPartition()),
        all_{NodeRange{0, static_cast<std::uint32_t>(partition_.NumNodes())}} {
    for (std::size_t level = 0; traffic.IsByLevel() && level < partition_.levels.size(); ++level) {
      is_crossed_.push_back(std::ranges::any_of(partition_.layers, [level](const LayerPart* layer) { return layer->IsCrossed(level); }));
    }
    if (control.Loops() == nullptr) return;
    std::vector<std::span<const NodeRange>> groups;
    if (traffic.IsByLevel()) {
      for (const Level& level : partition_.levels) groups.emplace_back(level.nodes);
    } else {
      groups.emplace_back(all_);
    }
    shared_.emplace(partition_, *control.Loops(), loop, thread, steals->shortest, groups);
  }

  /// Updates every node once. If an update throws, the run ends, and that node and the later ones publish nothing. Returns false if
  /// a replay's record has ended.
  bool Update(std::uint64_t update) {
    has_record_ended_ = false;
    lacks_values_ = false;
    if (traffic_.IsByLevel()) {
      UpdateByLevel(update);
    } else {
      Update(update, all_, 0);
      NoteLevel(update, partition_.levels.size());
    }
    return !has_record_ended_;
  }
  /// Whether the run broke before all values that the last update needed had come. Then not all nodes were updated.
  bool LacksValues() const { return lacks_values_; }

 private:
  void UpdateByLevel(std::uint64_t update) {
    bool is_whole = true;
    std::size_t num_silent = 0;
    for (LayerPart* const layer : partition_.layers) layer->BeginLevels();
    NoteLevel(update, 0);
    for (std::size_t level = 0; level < partition_.levels.size(); ++level) {
      const std::vector<NodeRange>& nodes = partition_.levels[level].nodes;
      if (is_crossed_[level]) {
        ForEachLayer(update, [&](LayerPart& layer) { return layer.TryBeginLevel(level, update); });
        if (control_.IsBroken()) lacks_values_ = true;
      }
      if (is_whole && !lacks_values_) is_whole = Update(update, nodes, level);
      else Silence(nodes);
      NoteLevel(update, level + 1);
      const auto silent = std::span<const std::uint32_t>(partition_.notes.silent).subspan(num_silent);
      num_silent = partition_.notes.silent.size();
      for (LayerPart* const layer : partition_.layers) layer->ShowLevel(level, silent);
      if (is_crossed_[level]) ForEachLayer(update, [&](LayerPart& layer) { return layer.TrySendLevel(level, update); });
    }
    for (LayerPart* const layer : partition_.layers) layer->AgeValues(update);
    std::ranges::sort(partition_.notes.silent);
  }
  /// For objects that nodes use in sequence: notes that this worker goes on with the level at this position, or has ended the update.
  void NoteLevel(std::uint64_t update, std::size_t level) {
    if (partition_.turns == nullptr) return;
    if (level < partition_.levels.size()) partition_.turns->BeginLevel(thread_, update, partition_.levels[level].number);
    else partition_.turns->EndUpdate(thread_, update);
  }
  /// Waits until `is_done(layer)` for each layer. Meanwhile takes in what others send, so that no two workers wait for each other's
  /// room.
  template <typename F>
  void ForEachLayer(std::uint64_t update, F&& is_done) {
    Communicate(control_, [&] {
      for (LayerPart* const layer : partition_.layers) {
        traffic_.AwaitWithin(update, [&] {
          if (is_done(*layer)) return true;
          for (LayerPart* const any : partition_.layers) any->TakeIn(update);
          return false;
        });
      }
    });
  }
  /// Returns whether all of these nodes have been updated. They are a level, or all nodes if `level` is 0.
  bool Update(std::uint64_t update, std::span<const NodeRange> nodes, std::size_t level) {
    std::uint32_t position = 0;
    try {
      const bool wants_stop = shared_ ? shared_->Update(update, level, position)
                                      : loop_.Update(thread_, update, nodes, partition_.notes, position);
      if (wants_stop) control_.RaiseStop(RunControl::Encode(StopReason::asked));
      return true;
    } catch (const replay::RecordEnd&) {
      has_record_ended_ = true;
    } catch (...) {
      control_.StopByThrow(loop_.Subject() + partition_.graph.Label(position), std::current_exception());
    }
    return false;
  }
  void Silence(const std::vector<NodeRange>& nodes) {
    for (const NodeRange& range : nodes)
      for (std::uint32_t node = range.begin; node < range.end; ++node) partition_.notes.silent.push_back(node);
  }

  LayerTraffic& traffic_;
  RunControl& control_;
  UpdateLoop& loop_;
  std::uint32_t thread_;
  Partition& partition_;
  std::array<NodeRange, 1> all_;  // the worker's nodes
  std::vector<bool> is_crossed_;  // by level, if nodes are updated level by level; see LayerPart::IsCrossed
  std::optional<SharedNodes> shared_;
  bool has_record_ended_ = false;
  bool lacks_values_ = false;
};

}  // namespace netuit::detail
