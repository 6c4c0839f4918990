#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/turns.hpp>
#include <uit/config.hpp>
#include <uit/support/pause.hpp>

namespace netuit::detail {

/// The order of the nodes of a process for objects that they use in sequence, and the turns of its threads.
class TurnOrder {
 public:
  explicit TurnOrder(std::size_t num_threads) : turns_(num_threads), habits_(num_threads) {}

  /// Begins a run whose first update is `update`. If `is_by_level`, nodes are ordered by level and then by number, else by number.
  void Begin(const std::vector<std::unique_ptr<Partition>>& partitions, std::uint64_t update, bool is_by_level);
  /// Ends the run: until the next, every node has its turn at once, as one thread visits them.
  void End() { is_in_run_ = false; }
  /// Waits for the turn of a node, by its number within the process. `update` counts as Node::Update does.
  void Await(std::size_t thread, std::uint64_t update, std::size_t node) {
    if (is_in_run_) turns_.Await(thread, update, places_[node], uit::Backoff(*habits_[thread]));
  }
  /// Notes that a thread goes on with its nodes of this level: it has ended all of lower levels, or has none. Only in a run by level.
  /// `update` counts from the run's first.
  void BeginLevel(std::size_t thread, std::uint64_t update, std::uint32_t level) {
    turns_.Pass(thread, first_ + update, first_places_[level]);
  }
  /// Notes that a thread has ended an update. `update` counts from the run's first.
  void EndUpdate(std::size_t thread, std::uint64_t update) { turns_.EndUpdate(thread, first_ + update); }
  /// Notes that a thread makes no more updates.
  void EndRun(std::size_t thread) { turns_.EndRun(thread); }

 private:
  Turns<> turns_;
  std::vector<uit::SpinHabit*> habits_;  // by thread
  bool is_in_run_ = false;
  std::uint64_t first_ = 0;                  // update
  std::vector<std::uint32_t> places_;        // by number within the process; from 1
  std::vector<std::uint32_t> first_places_;  // by level: the first place of its nodes and those of higher levels
};

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/mesh/turn_order.ipp>
#endif
