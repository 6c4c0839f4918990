#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tests/support/explored_atomic.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/support/watched.hpp"
#include "tests/uit/core/support/duct_scenarios.hpp"

/// Ducts that lack a step, which the explorer must find.
namespace uit::testing {

/// A ring that notices one message too late that it is full: it writes into the leased slot.
class OverfullRing {
 public:
  explicit OverfullRing(std::size_t) {}
  bool TryPut(Watched message) {
    const unsigned last = last_.load(std::memory_order_relaxed);
    if (last - current_.load(std::memory_order_acquire) > num_slots - 1) return false;
    slots_[(last + 1) % num_slots] = message;
    last_.store(last + 1, std::memory_order_release);
    return true;
  }
  bool TryStage(Watched message) { return TryPut(message); }
  bool TryFlush() { return true; }
  std::size_t TryStep(std::size_t) {
    const unsigned current = current_.load(std::memory_order_relaxed);
    if (last_.load(std::memory_order_acquire) == current) return 0;
    current_.store(current + 1, std::memory_order_release);
    return 1;
  }
  const Watched& Get() const { return slots_[current_.load(std::memory_order_relaxed) % num_slots]; }

 private:
  static constexpr unsigned num_slots = 3;
  Watched slots_[num_slots];
  Explored::Atomic<unsigned> last_{0}, current_{0};
};

/// A mailbox whose outlet checks for a message and takes it in two operations.
class TornMailbox {
 public:
  bool TryPut(Watched message) {
    slots_[back_] = message;
    const unsigned old = middle_.exchange(back_ | fresh, std::memory_order_acq_rel);
    num_preempted_ += old / fresh;
    back_ = old & ~fresh;
    return true;
  }
  std::size_t TryStep(std::size_t) {
    const unsigned old = middle_.load(std::memory_order_acquire);
    if ((old & fresh) == 0) return 0;
    middle_.store(front_, std::memory_order_release);
    front_ = old & ~fresh;
    return 1;
  }
  const Watched& Get() const { return slots_[front_]; }
  std::uint64_t NumPreempted() const { return num_preempted_; }

 private:
  static constexpr unsigned fresh = 4;
  Watched slots_[3];
  Explored::Atomic<unsigned> middle_{1};
  unsigned back_ = 0, front_ = 2;
  std::uint64_t num_preempted_ = 0;
};

/// An accumulator that publishes without checking whether the outlet has taken the sum: it takes back what has gone.
class HastyAccumulator {
 public:
  bool TryPut(const WatchedAmount& message) {
    const unsigned middle = middle_.load(std::memory_order_acquire);
    slots_[back_] = message;
    if ((middle & fresh) != 0 && !slots_[back_].TryFold(slots_[middle & ~fresh])) return false;
    num_messages_[back_] = 1 + ((middle & fresh) != 0 ? num_messages_[middle & ~fresh] : 0);
    back_ = middle_.exchange(back_ | fresh, std::memory_order_acq_rel) & ~fresh;
    ++num_accepted_;
    return true;
  }
  std::size_t TryStep(std::size_t) {
    current_ = WatchedAmount{};
    if ((middle_.load(std::memory_order_relaxed) & fresh) == 0) return 0;
    front_ = middle_.exchange(front_, std::memory_order_acq_rel) & ~fresh;
    current_ = slots_[front_];
    num_folded_ += num_messages_[front_] - 1;
    ++num_passed_;
    return 1;
  }
  const WatchedAmount& Get() const { return current_; }
  std::uint64_t NumAccepted() const { return num_accepted_; }
  std::uint64_t NumPassed() const { return num_passed_; }
  std::uint64_t NumFolded() const { return num_folded_; }
  std::uint64_t NumUnread() const { return 0; }

 private:
  static constexpr unsigned fresh = 4;
  WatchedAmount slots_[3];
  std::uint64_t num_messages_[3] = {};
  Explored::Atomic<unsigned> middle_{1};
  unsigned back_ = 0, front_ = 2;
  WatchedAmount current_;
  std::uint64_t num_accepted_ = 0, num_passed_ = 0, num_folded_ = 0;
};

/// One slot that both threads use, with the number of the newest message.
class BareSlot {
 public:
  bool TryPut(Watched message) {
    slot_ = message;
    newest_.store(newest_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    return true;
  }
  std::size_t TryStep(std::size_t) {
    const unsigned newest = newest_.load(std::memory_order_acquire);
    const bool is_new = newest != seen_;
    seen_ = newest;
    return is_new;
  }
  const Watched& Get() const { return slot_; }
  std::uint64_t NumPreempted() const { return 0; }

 private:
  Watched slot_;
  Explored::Atomic<unsigned> newest_{0};
  unsigned seen_ = 0;
};

}  // namespace uit::testing
