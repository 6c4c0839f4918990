#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>

#include <uit/config.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/sync.hpp>

namespace netuit {

/// A barrier for a fixed number of threads of one process, as often as wanted.
///
/// What each thread did before arriving is visible to all once they leave. A short wait spins; a
/// longer one yields, then sleeps for up to 50 µs at a time, so that more threads than cores
/// come through as well.
///
///     netuit::ThreadBarrier barrier{num_threads};
///     barrier.ArriveAndWait();                                            // each thread
///     barrier.ArriveAndWait([&] { ++epoch; }, [&] { fabric.Poll(); });    // or so
template <uit::Synchronization Sync = uit::Spsc>
class ThreadBarrier {
 public:
  /// Which round a thread has arrived for.
  using Ticket = std::uint32_t;

  /// Wants at least one thread. Rounds are counted from `first`, so that a test meets the wrap at once.
  explicit ThreadBarrier(std::uint32_t num_threads, Ticket first = 0) : round_{first}, num_threads_{num_threads} {
    UIT_ASSERT(num_threads > 0, "a barrier needs a thread");
  }

  /// Waits for all threads. The last to arrive calls `on_last()` before any leaves; the others
  /// call `idle()` between tries (as uit::WaitUntil does). If on_last throws, that reaches the last
  /// thread's caller, and all leave as usual. Each of the threads, once per round.
  template <std::invocable OnLast = uit::NoIdle, std::invocable Idle = uit::NoIdle>
  void ArriveAndWait(OnLast&& on_last = OnLast{}, Idle&& idle = Idle{}) {
    const Ticket ticket = Arrive(on_last);
    // Pausing longer would keep a core from the threads that are awaited, where cores are few.
    uit::WaitUntil([&] { return HasPassed(ticket); }, uit::never, idle);
  }

  /// The first half: counts the calling thread in; never waits, but for `on_last`. The thread
  /// arrives again only after HasPassed.
  template <std::invocable OnLast = uit::NoIdle>
  [[nodiscard]] Ticket Arrive(OnLast&& on_last = OnLast{}) {
    // Ours to know: the round ends with our arrival at the earliest.
    const Ticket ticket = round_.load(std::memory_order_relaxed);
    // Releases what we did to the last thread, which acquires what all others did.
    if (num_arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == num_threads_) {
      const Release release{*this, ticket};
      on_last();
    }
    return ticket;
  }

  /// The second half: whether all threads have arrived for that round.
  [[nodiscard]] bool HasPassed(Ticket ticket) const {
    // Pairs with the release in Release: acquires what all threads and on_last did.
    return round_.load(std::memory_order_acquire) != ticket;
  }

  /// How many threads meet here.
  [[nodiscard]] std::uint32_t NumThreads() const { return num_threads_; }

 private:
  /// Opens the barrier at the end of its scope, also if that is left by an exception.
  struct Release {
    ThreadBarrier& barrier;
    Ticket ticket;
    ~Release() {
      // Comes before the next round's arrivals by way of round_.
      barrier.num_arrived_.store(0, std::memory_order_relaxed);
      barrier.round_.store(ticket + 1, std::memory_order_release);
    }
  };

  // On one line: who arrives last then owns what it has to write (81 ns for two threads far
  // apart; 228 with a line each).
  alignas(uit::cache_line) typename Sync::template Atomic<std::uint32_t> num_arrived_{0};
  typename Sync::template Atomic<Ticket> round_{0};
  std::uint32_t num_threads_;
};

}  // namespace netuit
