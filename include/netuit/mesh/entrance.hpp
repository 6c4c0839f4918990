#pragma once

#include <atomic>

#include <uit/support/sync.hpp>

namespace netuit::detail {

/// Lets in one thread at a time. Never waits, so a thread that is not let in can do something else. The next sees all that those
/// before it have done inside.
template <uit::Synchronization Sync = uit::Spsc>
class Entrance {
 public:
  /// Enters unless a thread is inside, or has left only just now. Returns whether it did.
  [[nodiscard]] bool TryEnter() {
    // The load alone keeps threads that wait from taking the cache line away. The exchange pairs with the release in Leave.
    return !is_taken_.load(std::memory_order_relaxed) && !is_taken_.exchange(true, std::memory_order_acquire);
  }
  /// Leaves. Called by the thread that is inside.
  void Leave() {
    // Releases what this thread did inside. Pairs with the acquire in TryEnter.
    is_taken_.store(false, std::memory_order_release);
  }

 private:
  typename Sync::template Atomic<bool> is_taken_{false};
};

}  // namespace netuit::detail
