#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/conflict_free_set.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

namespace detail {

/// Searches for a largest set of tasks without conflicts, by choices that can be undone.
class ConflictFreeSearch {
 public:
  /// `neighbors[i]` are the tasks that conflict with task i.
  explicit ConflictFreeSearch(std::vector<std::vector<std::uint32_t>> neighbors)
      : neighbors_(std::move(neighbors)), degrees_(neighbors_.size()), states_(neighbors_.size(), State::open) {
    for (std::uint32_t task = 0; task < neighbors_.size(); ++task) {
      degrees_[task] = static_cast<std::uint32_t>(neighbors_[task].size());
      by_degree_.emplace(degrees_[task], task);
    }
  }

  /// Returns the tasks of the largest set found, in ascending order.
  std::vector<std::uint32_t> Run(std::size_t budget) {
    GoDown();
    for (; budget > 0 && !choices_.empty(); --budget) {
      const Choice last = choices_.back();
      choices_.pop_back();
      Undo(last);
      Close(last.task, State::out);
      GoDown();
    }
    return best_;
  }

 private:
  enum class State : std::uint8_t { open, in, out };
  struct Choice {
    std::uint32_t task;
    std::size_t num_closed;
    std::size_t num_in;
  };

  /// Decides about all open tasks, unless the set cannot become larger than the best.
  void GoDown() {
    while (!by_degree_.empty()) {
      if (num_in_ + by_degree_.size() <= best_.size()) return;
      const auto [degree, task] = *by_degree_.begin();
      // Some largest set has a task that conflicts with one other at most, so that needs no second try.
      if (degree > 1) choices_.push_back({task, closed_.size(), num_in_});
      Close(task, State::in);
      ++num_in_;
      for (const std::uint32_t other : neighbors_[task])
        if (states_[other] == State::open) Close(other, State::out);
    }
    if (num_in_ <= best_.size()) return;
    best_.clear();
    for (std::uint32_t task = 0; task < states_.size(); ++task)
      if (states_[task] == State::in) best_.push_back(task);
  }
  void Close(std::uint32_t task, State state) {
    by_degree_.erase({degrees_[task], task});
    states_[task] = state;
    closed_.push_back(task);
    for (const std::uint32_t other : neighbors_[task])
      if (states_[other] == State::open) SetDegree(other, degrees_[other] - 1);
  }
  void Undo(const Choice& choice) {
    for (; closed_.size() > choice.num_closed; closed_.pop_back()) {
      const std::uint32_t task = closed_.back();
      for (const std::uint32_t other : neighbors_[task])
        if (states_[other] == State::open) SetDegree(other, degrees_[other] + 1);
      states_[task] = State::open;
      by_degree_.emplace(degrees_[task], task);
    }
    num_in_ = choice.num_in;
  }
  void SetDegree(std::uint32_t task, std::uint32_t degree) {
    by_degree_.erase({degrees_[task], task});
    degrees_[task] = degree;
    by_degree_.emplace(degree, task);
  }

  std::vector<std::vector<std::uint32_t>> neighbors_;
  std::vector<std::uint32_t> degrees_;  // open neighbours of an open task
  std::vector<State> states_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> by_degree_{};  // open tasks
  std::vector<std::uint32_t> closed_{};                            // tasks that are not open, in order
  std::vector<Choice> choices_{};
  std::vector<std::uint32_t> best_{};
  std::size_t num_in_ = 0;
};

}  // namespace detail

UIT_DEFINE std::vector<NodeId> LargestConflictFreeSet(const Topology& conflicts, std::span<const NodeId> ready,
                                                      std::span<const NodeId> running, std::size_t budget) {
  const auto visit_conflicts = [&](NodeId task, auto&& visit) {
    for (const NodeId other : conflicts.OutNeighbors(task)) visit(other);
    for (const EdgeId edge : conflicts.InEdges(task)) visit(conflicts.Source(edge));
  };
  for (const std::span<const NodeId> tasks : {ready, running})
    for (const NodeId task : tasks)
      if (task >= conflicts.NumNodes()) throw uit::InputError("task " + std::to_string(task) + " is no node of the graph of conflicts");
  std::vector<NodeId> blocked(running.begin(), running.end());
  for (const NodeId task : running) visit_conflicts(task, [&](NodeId other) { blocked.push_back(other); });
  std::ranges::sort(blocked);
  std::vector<NodeId> tasks;
  for (const NodeId task : ready)
    if (!std::ranges::binary_search(blocked, task)) tasks.push_back(task);
  std::ranges::sort(tasks);
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());

  std::vector<std::vector<std::uint32_t>> neighbors(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    visit_conflicts(tasks[i], [&](NodeId other) {
      const auto found = std::ranges::lower_bound(tasks, other);
      if (found != tasks.end() && *found == other && other != tasks[i])
        neighbors[i].push_back(static_cast<std::uint32_t>(found - tasks.begin()));
    });
    std::ranges::sort(neighbors[i]);
    neighbors[i].erase(std::unique(neighbors[i].begin(), neighbors[i].end()), neighbors[i].end());
  }
  std::vector<NodeId> chosen;
  for (const std::uint32_t i : detail::ConflictFreeSearch(std::move(neighbors)).Run(budget)) chosen.push_back(tasks[i]);
  return chosen;
}

}  // namespace netuit
