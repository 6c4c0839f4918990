#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>

#include <uit/config.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/sync.hpp>

namespace uit {

/// A reusable barrier for a fixed number of threads of one process.
///
/// Everything that a thread did before it arrived is visible to all threads after they leave. By default a short wait
/// spins, and a longer one yields and then sleeps for up to 50 µs at a time. So the barrier also works with more threads than cores.
///
///     uit::ThreadBarrier barrier{num_threads};
///     barrier.ArriveAndWait();                                            // each thread
///     barrier.ArriveAndWait([&] { ++epoch; }, [&] { fabric.Poll(); });    // or like this
template <Synchronization Sync = Spsc>
class ThreadBarrier {
 public:
  /// The round for which a thread has arrived.
  using Ticket = std::uint32_t;

  /// Requires at least one thread. Rounds are counted from `first`, so that a test can reach the overflow of the counter at
  /// once.
  explicit ThreadBarrier(std::uint32_t num_threads, Ticket first = 0) : round_{first}, num_threads_{num_threads} {
    UIT_ASSERT(num_threads > 0, "a barrier needs at least one thread");
  }

  /// Waits for all threads. Each thread calls it once per round. The last to arrive calls `on_last()` before any thread leaves.
  /// The others call `idle()` between tries, as WaitUntil does. If `on_last` throws, the last thread throws the same, and
  /// all leave as usual.
  template <std::invocable OnLast = NoIdle, std::invocable Idle = NoIdle>
  void ArriveAndWait(OnLast&& on_last = OnLast{}, Idle&& idle = Idle{}) {
    ArriveAndWait(on_last, idle, Backoff{});
  }
  /// The same. Threads rest between tries as `backoff` says.
  template <std::invocable OnLast, std::invocable Idle>
  void ArriveAndWait(OnLast&& on_last, Idle&& idle, const Backoff& backoff) {
    const Ticket ticket = Arrive(on_last);
    WaitUntil([&] { return HasPassed(ticket); }, never, idle, backoff);
  }

  /// The first half of ArriveAndWait: counts the calling thread in. Never waits, except for `on_last`. The thread may arrive
  /// again only after HasPassed returns true.
  template <std::invocable OnLast = NoIdle>
  [[nodiscard]] Ticket Arrive(OnLast&& on_last = OnLast{}) {
    // Relaxed is enough: the round cannot end before this thread arrives.
    const Ticket ticket = round_.load(std::memory_order_relaxed);
    // Releases this thread's writes to the last thread, which acquires those of all others.
    if (num_arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == num_threads_) {
      const Release release{*this, ticket};
      on_last();
    }
    return ticket;
  }

  /// The second half of ArriveAndWait: whether all threads have arrived for that round.
  [[nodiscard]] bool HasPassed(Ticket ticket) const {
    // Pairs with the release in Release: acquires the writes of all threads and of on_last.
    return round_.load(std::memory_order_acquire) != ticket;
  }

  /// Returns the number of threads.
  [[nodiscard]] std::uint32_t NumThreads() const { return num_threads_; }

 private:
  /// Opens the barrier at the end of its scope, also if an exception ends it.
  struct Release {
    ThreadBarrier& barrier;
    Ticket ticket;
    ~Release() {
      // Happens before the next round's arrivals, because those threads have acquired round_.
      barrier.num_arrived_.store(0, std::memory_order_relaxed);
      barrier.round_.store(ticket + 1, std::memory_order_release);
    }
  };

  // On one cache line: the last thread to arrive then owns all that it has to write. This takes 81 ns for two threads far
  // apart, and 228 ns with a line each.
  alignas(cache_line) typename Sync::template Atomic<std::uint32_t> num_arrived_{0};
  typename Sync::template Atomic<Ticket> round_{0};
  std::uint32_t num_threads_;
};

}  // namespace uit
