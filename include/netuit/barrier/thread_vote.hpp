#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <vector>

#include <uit/team/thread_barrier.hpp>
#include <netuit/barrier/vote.hpp>
#include <uit/config.hpp>
#include <uit/support/sync.hpp>

namespace netuit {

/// A vote of the threads of a process, in two halves, so that threads can work while others have not voted yet. One vote follows
/// another; each thread takes part in all of them, and ends one before it begins the next.
///
///     vote.Begin(thread, mine, [&](const V& all) { processes.Begin(all); });
///     ...                                                                             // work
///     while (!vote.TryEnd(thread, [&](Vote& outcome) { return processes.TryEnd(outcome); })) ...
///     vote.Outcome()
///
/// `V` is what a thread brings, which can be merged.
template <uit::Synchronization Sync = uit::Spsc, typename V = Vote>
class ThreadVote {
 public:
  /// Requires at least one thread.
  explicit ThreadVote(std::uint32_t num_threads) : barrier_(num_threads), threads_(num_threads) {}

  /// Brings a thread's vote. Never waits. The last thread calls `post(merged vote)`.
  template <std::invocable<const V&> F>
  void Begin(std::uint32_t thread, const V& mine, F&& post) {
    Thread& own = threads_[thread];
    ++own.num_begun;
    own.vote = mine;
    own.ticket = barrier_.Arrive([&] {
      V all;
      for (const Thread& each : threads_) all.Merge(each.vote);
      post(all);
    });
  }
  /// Whether the outcome of the vote that the thread has begun last is known. Never waits. Calls `ask(outcome)`, which returns
  /// whether the outcome is known, if all threads have voted and no thread has learned the outcome yet. Only one thread calls it
  /// at a time. What `ask` throws is passed on.
  template <std::predicate<V&> F>
  [[nodiscard]] bool TryEnd(std::uint32_t thread, F&& ask) {
    const Thread& own = threads_[thread];
    if (IsKnown(own)) return true;
    if (!barrier_.HasPassed(own.ticket)) return false;
    // Acquires what the last thread in here has done; see Leave.
    if (is_asking_.exchange(true, std::memory_order_acquire)) return false;
    const Leave leave{*this};
    if (IsKnown(own)) return true;
    if (!ask(outcome_)) return false;
    num_known_.store(own.num_begun, std::memory_order_release);  // releases the outcome; see IsKnown
    return true;
  }
  /// Returns the outcome. A thread may call it from the success of TryEnd to its next Begin.
  [[nodiscard]] const V& Outcome() const { return outcome_; }

 private:
  struct alignas(uit::cache_line) Thread {
    std::uint64_t num_begun = 0;
    typename uit::ThreadBarrier<Sync>::Ticket ticket = 0;
    V vote;  // last: of a Vote, mostly only what is on the same cache line is used
  };
  struct Leave {
    ThreadVote& vote;
    ~Leave() { vote.is_asking_.store(false, std::memory_order_release); }
  };
  bool IsKnown(const Thread& own) const {
    // Acquires the outcome. It changes only after this thread, too, has begun the next vote.
    return num_known_.load(std::memory_order_acquire) == own.num_begun;
  }

  uit::ThreadBarrier<Sync> barrier_;
  std::vector<Thread> threads_;
  alignas(uit::cache_line) typename Sync::template Atomic<std::uint64_t> num_known_{0};  // votes whose outcome is known
  typename Sync::template Atomic<bool> is_asking_{false};
  V outcome_;
};

}  // namespace netuit
