#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <uit/config.hpp>

#include "microbenchmarks/support/barriers.hpp"
#include "pattern.hpp"

namespace bench::task_graphs {

/// The tasks that a worker updates, in order: in a wavefront by number, else first those on which the other worker waits, so that
/// it has their values when it needs them.
struct Turn {
  std::size_t task;
  bool waits = false;  ///< before it, the worker waits for the other's values
  bool tells = false;  ///< after it, the worker sends its own
};

[[nodiscard]] inline std::vector<Turn> TurnsOf(const Pattern& pattern, std::size_t worker) {
  const auto is_border = [&](const Turn& turn) { return pattern.IsBorder(turn.task); };
  std::vector<Turn> turns;
  auto inside = turns;
  for (std::size_t i = 0; i < tasks_per_worker; ++i) {
    const Turn turn{.task = worker * tasks_per_worker + i};
    (pattern.is_wavefront || is_border(turn) ? turns : inside).push_back(turn);
  }
  turns.insert(turns.end(), inside.begin(), inside.end());
  std::ranges::find_if(turns, is_border)->waits = true;
  std::find_if(turns.rbegin(), turns.rend(), is_border)->tells = true;
  return turns;
}

/// The tasks of a worker whose values the other reads; they are consecutive.
struct Told {
  std::size_t first;
  std::size_t count;
};

[[nodiscard]] inline Told ToldBy(const Pattern& pattern, std::size_t worker) {
  Told told{.first = worker * tasks_per_worker, .count = 0};
  while (!pattern.IsBorder(told.first)) ++told.first;
  while (told.count < tasks_per_worker && told.first + told.count < (worker + 1) * tasks_per_worker &&
         pattern.IsBorder(told.first + told.count))
    ++told.count;
  return told;
}

/// Two threads that show each other their values: a flag and what belongs to it, on lines of their own, for even updates and for
/// odd ones. A worker writes a slot again two updates later. By then it has seen values that the other made of the slot's old ones.
class Flags {
 public:
  /// What both threads share.
  struct Board {
    struct alignas(2 * uit::cache_line) Slot {
      std::atomic<std::uint64_t> update{0};
      std::array<std::uint64_t, tasks_per_worker> values{};
    };
    std::array<std::array<Slot, 2>, num_workers> slots{};
  };

  Flags(const Pattern& pattern, std::size_t worker, Values& values, Board& board)
      : told_{ToldBy(pattern, worker)}, heard_{ToldBy(pattern, 1 - worker)}, values_{values}, own_{board.slots[worker]},
        other_{board.slots[1 - worker]} {}

  void Begin(std::uint64_t) {}
  void Await(std::uint64_t update) {
    if (update == 0) return;  // known from the start
    const Board::Slot& slot = other_[update % 2];
    hand::Yielding<1000> waiting;
    while (slot.update.load(std::memory_order_acquire) != update) waiting.Rest();  // pairs with the release in Tell
    std::copy_n(slot.values.begin(), heard_.count, &values_[update % 2][heard_.first]);
  }
  void Tell(std::uint64_t update) {
    Board::Slot& slot = own_[update % 2];
    std::copy_n(&values_[update % 2][told_.first], told_.count, slot.values.begin());
    slot.update.store(update, std::memory_order_release);  // pairs with the acquire in Await
  }
  void End(std::uint64_t update) { Await(update); }

 private:
  Told told_;
  Told heard_;
  Values& values_;
  std::array<Board::Slot, 2>& own_;
  const std::array<Board::Slot, 2>& other_;
};

/// A worker's loop without any library. `Link` moves values between the two workers.
template <typename Link>
class RawLoop {
 public:
  template <typename... Args>
  RawLoop(const Pattern& pattern, std::size_t worker, Args&... args)
      : turns_{TurnsOf(pattern, worker)}, inputs_{InputsOf(pattern)}, delay_{pattern.Delay(1 - worker, worker)},
        worker_{worker}, link_{pattern, worker, values_, args...} {}
  RawLoop(const RawLoop&) = delete;
  RawLoop& operator=(const RawLoop&) = delete;

  void Run(std::uint64_t num_updates, std::uint64_t num_steps) {
    for (const std::uint64_t end = update_ + num_updates; update_ < end;) {
      link_.Begin(++update_);
      for (const Turn& turn : turns_) {
        if (turn.waits) link_.Await(update_ - delay_);
        UpdateTask(values_, turn.task, inputs_[turn.task], update_, num_steps);
        if (turn.tells) link_.Tell(update_);
      }
    }
    link_.End(update_);
  }
  /// The sum of what this worker's tasks wrote last.
  [[nodiscard]] std::uint64_t Digest() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < tasks_per_worker; ++i) sum += values_[update_ % 2][worker_ * tasks_per_worker + i];
    return sum;
  }

 private:
  std::vector<Turn> turns_;
  Inputs inputs_;
  unsigned delay_;  // of what the other worker sends
  std::size_t worker_;
  Values values_ = FirstValues();
  std::uint64_t update_ = 0;
  Link link_;
};

}  // namespace bench::task_graphs
