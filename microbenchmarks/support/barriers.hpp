#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include <uit/config.hpp>
#include <uit/support/pause.hpp>

/// Barriers written by hand, without a library.
namespace bench::hand {

/// How a barrier waits: it pauses, and never yields the core.
struct Spinning {
  void Rest() { uit::Pause(); }
};

/// Pauses a given number of times, and then yields the core at each try.
template <int num_pauses>
struct Yielding {
  int num_rests = 0;
  void Rest() {
    if (num_rests++ < num_pauses)
      uit::Pause();
    else
      std::this_thread::yield();
  }
};

/// The textbook sense-reversing barrier. Each thread has its own `sense`. `alignment` puts its two atomics on one cache line or
/// two.
template <std::size_t alignment, typename Waiting>
class BasicSenseBarrier {
 public:
  explicit BasicSenseBarrier(std::uint32_t num_threads) : num_threads_{num_threads}, num_missing_{num_threads} {}

  void ArriveAndWait(bool& sense) {
    const bool mine = sense = !sense;
    if (num_missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      num_missing_.store(num_threads_, std::memory_order_relaxed);
      sense_.store(mine, std::memory_order_release);
    } else {
      Waiting waiting;
      while (sense_.load(std::memory_order_acquire) != mine) waiting.Rest();
    }
  }

 private:
  std::uint32_t num_threads_;
  alignas(2 * uit::cache_line) std::atomic<std::uint32_t> num_missing_;
  alignas(alignment) std::atomic<bool> sense_{false};
};
using SenseBarrier = BasicSenseBarrier<2 * uit::cache_line, Spinning>;
using DenseSenseBarrier = BasicSenseBarrier<1, Spinning>;
template <int num_pauses>
using YieldingSenseBarrier = BasicSenseBarrier<2 * uit::cache_line, Yielding<num_pauses>>;

/// A counter for each member: the number of barriers that it has reached. All members read all counters. Works in memory shared
/// by processes. Spins for some microseconds, then yields.
template <std::size_t num_members>
class FlagBarrier {
 public:
  void ArriveAndWait(std::size_t member) {
    const std::uint64_t epoch = flags_[member].epoch.load(std::memory_order_relaxed) + 1;
    flags_[member].epoch.store(epoch, std::memory_order_release);
    for (std::size_t other = 0; other < num_members; ++other) {
      Yielding<1000> waiting;
      while (flags_[other].epoch.load(std::memory_order_acquire) < epoch) waiting.Rest();
    }
  }

 private:
  struct alignas(2 * uit::cache_line) Flag {
    std::atomic<std::uint64_t> epoch{0};
  };
  std::array<Flag, num_members> flags_{};
};

/// Tests a barrier: each member counts before it waits, and afterwards checks that the others have counted as far. Ends the
/// program if not.
template <std::size_t num_members>
class BarrierCheck {
 public:
  /// Each member calls this, all at once; `wait()` passes the barrier once.
  template <std::invocable Wait>
  void Run(std::size_t member, Wait&& wait) {
    const std::uint32_t first = counts_[member].load(std::memory_order_relaxed);
    for (std::uint32_t number = first + 1; number <= first + num_passes; ++number) {
      counts_[member].store(number, std::memory_order_relaxed);
      wait();
      for (const auto& count : counts_) {
        const std::uint32_t lead = count.load(std::memory_order_relaxed) - number;
        if (lead > 1) std::abort();  // behind, or further ahead than the barrier allows
      }
    }
  }

 private:
  static constexpr std::uint32_t num_passes = 64;
  std::array<std::atomic<std::uint32_t>, num_members> counts_{};
};

}  // namespace bench::hand
