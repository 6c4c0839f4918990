#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "work.hpp"

namespace bench::task_graphs {

inline constexpr std::size_t num_workers = 2;
inline constexpr std::size_t tasks_per_worker = 8;
inline constexpr std::size_t num_tasks = num_workers * tasks_per_worker;

[[nodiscard]] constexpr std::size_t WorkerOf(std::size_t task) { return task / tasks_per_worker; }

/// Tasks in a row. In every update, each reads what it wrote itself in the previous update, and what all up to a distance wrote: in
/// the previous update, or, in a wavefront, in the same update if they have the smaller number.
struct Pattern {
  std::string name;
  std::size_t radius;
  bool is_wavefront = false;

  [[nodiscard]] bool AreJoined(std::size_t a, std::size_t b) const { return a != b && a <= b + radius && b <= a + radius; }
  /// How many updates before its target the source of an input writes it.
  [[nodiscard]] unsigned Delay(std::size_t source, std::size_t target) const { return is_wavefront && source < target ? 0 : 1; }
  /// Whether a task is joined to one of another worker.
  [[nodiscard]] bool IsBorder(std::size_t task) const {
    for (std::size_t other = 0; other < num_tasks; ++other)
      if (AreJoined(task, other) && WorkerOf(task) != WorkerOf(other)) return true;
    return false;
  }
};

/// Those of the benchmarks.
inline const std::array<Pattern, 4> patterns{{{.name = "stencil", .radius = 1},
                                              {.name = "wavefront", .radius = 1, .is_wavefront = true},
                                              {.name = "nearest", .radius = 5},
                                              {.name = "all to all", .radius = num_tasks - 1}}};

/// An input of a task from another.
struct Input {
  std::size_t source;
  unsigned delay;
};

/// The inputs of each task.
using Inputs = std::array<std::vector<Input>, num_tasks>;

[[nodiscard]] inline Inputs InputsOf(const Pattern& pattern) {
  Inputs inputs;
  for (std::size_t target = 0; target < num_tasks; ++target)
    for (std::size_t source = 0; source < num_tasks; ++source)
      if (pattern.AreJoined(source, target)) inputs[target].push_back({source, pattern.Delay(source, target)});
  return inputs;
}

/// What the tasks wrote in an even update and in an odd one: the latest two.
using Values = std::array<std::array<std::uint64_t, num_tasks>, 2>;

/// What a task has written before the first update.
[[nodiscard]] inline std::uint64_t FirstValue(std::size_t task) { return Work(task + 1, 0); }

[[nodiscard]] inline Values FirstValues() {
  Values values{};
  for (std::size_t task = 0; task < num_tasks; ++task) values[0][task] = values[1][task] = FirstValue(task);
  return values;
}

/// Does a task's work. The first update is number 1.
inline void UpdateTask(Values& values, std::size_t task, const std::vector<Input>& inputs, std::uint64_t update,
                       std::uint64_t num_steps) {
  std::uint64_t sum = values[(update - 1) % 2][task];
  for (const Input& input : inputs) sum += values[(update - input.delay) % 2][input.source];
  values[update % 2][task] = Work(sum, num_steps);
}

/// A system that runs a pattern, on and on. Between runs, every rank calls all functions.
class System {
 public:
  System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  virtual ~System() = default;

  /// Makes so many updates, with so much work per task, and returns the time of an update in ns.
  virtual double Time(std::uint64_t num_updates, std::uint64_t num_steps) = 0;
  /// The sum of what all tasks wrote last.
  virtual std::uint64_t Digest() = 0;
  /// Whether it starts threads, which should not inherit the caller's core.
  [[nodiscard]] virtual bool HasOwnThreads() const { return false; }
  /// The time for which such threads waited for a core, since the last call, in ns.
  virtual double TakeRunQueueDelay() { return 0; }
};

/// A loop on one thread without any work: tells which digest is right.
class Serial {
 public:
  explicit Serial(const Pattern& pattern) : inputs_{InputsOf(pattern)} {}

  void Advance(std::uint64_t num_updates) {
    for (const std::uint64_t end = update_ + num_updates; update_ < end;) {
      ++update_;
      for (std::size_t task = 0; task < num_tasks; ++task) UpdateTask(values_, task, inputs_[task], update_, 0);
    }
  }
  [[nodiscard]] std::uint64_t Digest() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t value : values_[update_ % 2]) sum += value;
    return sum;
  }

 private:
  Inputs inputs_;
  Values values_ = FirstValues();
  std::uint64_t update_ = 0;
};

}  // namespace bench::task_graphs
