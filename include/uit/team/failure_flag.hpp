#pragma once

#include <atomic>

#include <uit/support/sync.hpp>

namespace uit {

/// Tells the threads of a process that a member among them has failed. A thread that sees the flag also sees what that member has
/// posted before, such as how it has left.
template <Synchronization Sync = Spsc>
class FailureFlag {
 public:
  /// Tells all threads. Any thread may call it, also several.
  void Raise() {
    // Pairs with the acquire in IsRaised.
    is_raised_.store(true, std::memory_order_release);
  }
  /// Whether a thread has raised it. Any thread may call it.
  bool IsRaised() const {
    // Pairs with the release in Raise.
    return is_raised_.load(std::memory_order_acquire);
  }
  /// Makes it ready for the next run. One thread calls it before the others begin that run.
  void Lower() { is_raised_.store(false, std::memory_order_relaxed); }

 private:
  typename Sync::template Atomic<bool> is_raised_{false};
};

}  // namespace uit
