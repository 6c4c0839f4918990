#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include <uit/config.hpp>
#include <uit/support/clock.hpp>

namespace demo {

/// Which workers are slow: none; each in turn, as noise on a cluster makes them; or always the first.
enum class Slow { nobody, in_turn, first };

/// How often a worker does the work of its present update: once, or three times while it is slow. Workers in turn are slow for 10 ms
/// each, by the clock of the host.
class alignas(uit::cache_line) Pace {
 public:
  /// `update` is the worker's present one. The clock is read once in each.
  unsigned Times(Slow slow, std::uint64_t update, std::size_t worker, std::size_t num_workers) {
    if (update + 1 != num_looks_) {
      num_looks_ = update + 1;
      const auto whose_turn = static_cast<std::size_t>(uit::Now().time_since_epoch() / turn) % num_workers;
      times_ = (slow == Slow::in_turn && whose_turn == worker) || (slow == Slow::first && worker == 0) ? slowness : 1;
    }
    return times_;
  }

 private:
  static constexpr std::chrono::milliseconds turn{10};
  static constexpr unsigned slowness = 3;

  std::uint64_t num_looks_ = 0;
  unsigned times_ = 1;
};

/// Calls `work` at least once, and so many times. Returns the last result.
template <std::invocable F>
auto Repeat(unsigned times, F&& work) {
  auto result = work();
  for (; times > 1; --times) {
    asm volatile("" : : "m"(result) : "memory");  // so that it is done each time
    result = work();
  }
  return result;
}

}  // namespace demo
