#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/sync.hpp>

namespace netuit::detail {

/// The order in which the threads of a process take turns: by update, then by the place of the node that takes it. Every thread takes
/// its own turns in this order.
///
/// A thread posts each turn that it comes to, and where it goes on when it has ended a part of its nodes. What it has posted means that
/// it takes no earlier turn any more. It takes a turn once no other can take an earlier one. So a turn lasts until the thread comes to
/// its next turn, or ends that part of its nodes.
template <uit::Synchronization Sync = uit::Spsc>
class Turns {
 public:
  explicit Turns(std::size_t num_threads) : posts_(num_threads) {}

  /// Begins a run whose first update is `update`. No thread takes turns meanwhile.
  void Begin(std::uint64_t update) {
    for (Post& post : posts_) {
      post.at.store(At(update, 0), std::memory_order_relaxed);
      post.held = At(update, 0);  // no node's place
    }
  }
  /// Waits until it is the turn of a node of this thread. Its place is greater than 0, and no other node's.
  void Await(std::size_t thread, std::uint64_t update, std::uint32_t place, const uit::Backoff& backoff) {
    if (posts_[thread].held == At(update, place)) return;  // a second look at the object in the same turn
    Come(thread, update, place);
    uit::WaitUntil([&] { return IsTurn(thread); }, uit::never, uit::NoIdle{}, backoff);
  }
  /// The first half of Await: comes to a turn. Never waits.
  void Come(std::size_t thread, std::uint64_t update, std::uint32_t place) {
    posts_[thread].held = At(update, place);
    PostAt(thread, posts_[thread].held);
  }
  /// The second half: whether all others have come to later turns. Never waits.
  bool IsTurn(std::size_t thread) const {
    for (std::size_t other = 0; other < posts_.size(); ++other) {
      // Pairs with the release in PostAt.
      if (other != thread && IsBefore(posts_[other].at.load(std::memory_order_acquire), posts_[thread].held)) return false;
    }
    return true;
  }
  /// Notes that this thread takes no turn of a place below `place` any more in an update.
  void Pass(std::size_t thread, std::uint64_t update, std::uint32_t place) { PostAt(thread, At(update, place)); }
  /// Notes that this thread has ended an update. Call it for every update, also if it took no turn.
  void EndUpdate(std::size_t thread, std::uint64_t update) { PostAt(thread, At(update + 1, 0)); }
  /// Notes that this thread takes no more turns in the run.
  void EndRun(std::size_t thread) {
    PostAt(thread, posts_[thread].at.load(std::memory_order_relaxed) + (std::uint64_t{1} << 62U));
  }

 private:
  /// Numbers of updates wrap around; threads are never that far apart.
  static std::uint64_t At(std::uint64_t update, std::uint32_t place) { return update << 32U | place; }
  static bool IsBefore(std::uint64_t one, std::uint64_t other) { return static_cast<std::int64_t>(one - other) < 0; }
  void PostAt(std::size_t thread, std::uint64_t at) {
    // Releases what this thread did in its earlier turns. Pairs with the acquire in IsTurn.
    posts_[thread].at.store(at, std::memory_order_release);
  }

  struct alignas(uit::cache_line) Post {
    typename Sync::template Atomic<std::uint64_t> at{0};
    // The turn to which this thread has come last. On a line that no other reads: to look again at one that another has read takes long.
    alignas(uit::cache_line) std::uint64_t held = 0;
  };
  std::vector<Post> posts_;
};

}  // namespace netuit::detail
