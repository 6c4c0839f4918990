#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <uit/support/clock.hpp>

namespace bench::task_graphs {

/// A task's work: `num_steps` times a multiplication and an addition, each of which needs the result of the one before. Returns a
/// digest of `sum`, the sum of the task's inputs. The work starts from the sum, and the digest waits for its result, but its value
/// does not depend on the number of steps. Compiled once, so that all systems call the same code.
std::uint64_t Work(std::uint64_t sum, std::uint64_t num_steps);

/// Returns the time of a step on the calling thread, in ns: the best of several tries.
[[nodiscard]] inline double TimeOfStep() {
  constexpr std::uint64_t num_steps = 10'000;
  double best = 0;
  std::uint64_t digest = 1;
  for (int i = 0; i < 4; ++i) {
    const uit::TimePoint start = uit::Now();
    digest = Work(digest, num_steps);
    const std::chrono::duration<double, std::nano> elapsed = uit::Now() - start;
    best = i == 0 ? elapsed.count() : std::min(best, elapsed.count());
  }
  return best / num_steps;
}

}  // namespace bench::task_graphs
