#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/duct/in_thread_ring_duct.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/ref.hpp>
#include <uit/support/sync.hpp>

namespace uit {

/// A ring of fixed depth. It delivers every message, in order. A put into a full ring fails.
///
/// One thread may put while another steps. The slot last stepped to stays leased to the outlet. So a ring of depth N has at
/// least N + 1 slots, and Get returns a stable reference. A step to the newest message takes the same time however many messages
/// it passes. Nothing is allocated after construction.
///
/// A message and its notification share a cache line: each slot records how far the inlet had published when it published
/// the slot. So an outlet that steps one by one reads only the next slot.
///
///     uit::RingDuct<int, uit::Spsc> ring{64};
///     ring.TryPut(1);                            // one thread
///     if (ring.TryStep(1) > 0) Use(ring.Get());  // another
///
/// A separate class, RingDuct<T, Unsynchronized>, is for both ends in one thread.
template <Message T, Synchronization Sync, bool grows>
class RingDuct final : public RefCountedBy<Sync> {
  static_assert(!grows, "only a ring within a thread grows");

 public:
  /// A slot's number.
  using Index = std::uint32_t;

  /// Waiting may help.
  static constexpr bool in_thread = false;
  /// The largest depth.
  static constexpr std::size_t max_depth = max_ring_depth;

  /// Up to `depth` messages wait. Get returns `initial` before the first step. For tests of wrapping: `start` is the first
  /// slot, below NumSlots(depth), and `number` is the number of the initial message. Throws std::invalid_argument if the
  /// depth is zero or above max_depth.
  explicit RingDuct(std::size_t depth, T initial = T{}, Index start = 0, std::uint64_t number = 0)
      : num_slots_{NumSlots(depth)},
        slots_{std::make_unique<Slot[]>(num_slots_)},
        last_{start},
        written_{start},
        num_put_before_lap_{number - start},
        limit_{Before(start)},
        current_{start},
        num_passed_before_lap_{number - start},
        seen_last_{start} {
    UIT_ASSERT(start < num_slots_, "a ring starts within it");
    slots_[start].message = std::move(initial);
    if (number == 0) return;
    for (Index slot = 0; slot < num_slots_; ++slot)  // no slot holds a new message yet
      slots_[slot].newest.store(static_cast<Index>(number), std::memory_order_relaxed);
  }

  /// The number of slots of a ring of this depth. Throws as the constructor does.
  static Index NumSlots(std::size_t depth) { return static_cast<Index>(detail::CheckedRingDepth(depth) + 1 + num_between); }

  /// Whether the other end has been destroyed. The thread of either end.
  [[nodiscard]] bool IsClosed() const { return this->IsLastReference(); }

  /// Appends a copy and publishes it. Inlet's thread only.
  UIT_INLINE bool TryPut(const T& message)
    requires std::copyable<T>
  {
    return Append<true>(message);
  }
  /// Appends by moving, if there is room, and publishes. Inlet's thread only.
  UIT_INLINE bool TryPut(T&& message) { return Append<true>(std::move(message)); }

  /// Appends. The outlet may see the message only after TryFlush or the next TryPut. Inlet's thread only.
  UIT_INLINE bool TryStage(const T& message)
    requires std::copyable<T>
  {
    return Append<false>(message);
  }
  /// The same, by moving.
  UIT_INLINE bool TryStage(T&& message) { return Append<false>(std::move(message)); }

  /// Publishes all staged messages. Always true. Inlet's thread only.
  UIT_INLINE bool TryFlush() {
    const Index published = last_.load(std::memory_order_relaxed);
    if (published != written_) Publish(After(published));
    return true;
  }

  /// Returns the slot of the next message, to be written in place, or null if the ring is full. It still holds an old message. The
  /// outlet sees it after PutLent; if the inlet puts instead, that message takes the slot. Inlet's thread only.
  T* TryLend() {
    const Index next = After(written_);
    return IsFull(next) ? nullptr : &slots_[next].message;
  }
  /// Publishes the slot that TryLend returned last. Nothing was put meanwhile. Inlet's thread only.
  void PutLent() {
    const Index next = After(written_);
    if (next == 0) num_put_before_lap_ += num_slots_;
    Commit<true>(next);
  }

  /// Moves past up to `limit` messages, in constant time. Outlet's thread only.
  UIT_INLINE std::size_t TryStep(std::size_t limit) {
    UIT_ASSERT(limit > 0, "a step needs a limit");
    const Index current = current_.load(std::memory_order_relaxed);
    Index count = 1;
    if (limit == 1) {
      if (seen_last_ == current && !LooksAtNext(current)) return 0;
    } else {
      if (seen_last_ == current && LookAtLast() == current) return 0;
      count = NumWithin(current, limit);
    }
    Index target = current + count;
    if (target >= num_slots_) [[unlikely]] {
      target -= num_slots_;
      num_passed_before_lap_ += num_slots_;
    }
    // Pairs with the acquire in IsFull: the outlet no longer reads the slots it gives back.
    current_.store(target, std::memory_order_release);
    return count;
  }

  /// The message last stepped to. Valid until the next step that succeeds. Outlet's thread only.
  UIT_INLINE const T& Get() const { return slots_[current_.load(std::memory_order_relaxed)].message; }
  /// The same, to be moved from or changed.
  UIT_INLINE T& Get() { return slots_[current_.load(std::memory_order_relaxed)].message; }

  /// Messages accepted so far, counted from `number`. Inlet's thread only.
  [[nodiscard]] std::uint64_t NumAccepted() const { return num_put_before_lap_ + written_; }
  /// Messages moved past so far, counted from `number`. Outlet's thread only.
  [[nodiscard]] std::uint64_t NumPassed() const {
    return num_passed_before_lap_ + current_.load(std::memory_order_relaxed);
  }

  /// The number of messages that may wait.
  [[nodiscard]] std::size_t Depth() const { return num_slots_ - 1 - num_between; }

 private:
  using Shared = typename Sync::template Atomic<Index>;

  struct Slot {
    Shared newest{0};  // number, modulo 2^32, of the newest message published together with this one
    T message{};
  };
  /// So many slots between the newest message and the current one are not used. So also while the ring is full, the two threads use
  /// different cache lines, and none that the hardware fetches together. 0 for large messages, which share few lines, and for those
  /// that may own memory, because a slot keeps its old message.
  static constexpr Index num_between = sizeof(Slot) > 8 * cache_line || !std::is_trivially_copyable_v<T>
                                           ? 0
                                           : (2 * cache_line + sizeof(Slot) - 1) / sizeof(Slot);

  template <bool publish, typename M>
  UIT_INLINE bool Append(M&& message) {
    Index next = written_ + 1;
    if (next == num_slots_) [[unlikely]] {
      next = 0;
      num_put_before_lap_ += num_slots_;
    }
    if (IsFull(next)) [[unlikely]] {
      TakeBack(next);
      return false;
    }
    Slot& slot = slots_[next];
    if constexpr (std::is_nothrow_assignable_v<T&, M&&>) {
      slot.message = std::forward<M>(message);
    } else {
      try {
        slot.message = std::forward<M>(message);
      } catch (...) {
        TakeBack(next);
        throw;
      }
    }
    Commit<publish>(next);
    return true;
  }
  /// Accepts the message written to slot `next`.
  template <bool publish>
  UIT_INLINE void Commit(Index next) {
    const Index published = last_.load(std::memory_order_relaxed);
    const bool is_first = published == written_;
    written_ = next;
    if (publish && is_first) [[likely]] {
      Publish(next);
    } else {
      // Nothing is published in this slot yet. The number stored is recent, so it cannot be mistaken for a new one later.
      slots_[next].newest.store(NumWritten() - 1, std::memory_order_relaxed);
      if constexpr (publish) Publish(After(published));
    }
  }

  /// Publishes all slots written so far. `first` is the first slot not yet published.
  UIT_INLINE void Publish(Index first) {
    // Both pair with an acquire in the outlet: the messages come first. If the outlet has read the slot, the index it then
    // reads is at least as new.
    last_.store(written_, std::memory_order_release);
    slots_[first].newest.store(NumWritten(), std::memory_order_release);
  }
  Index NumWritten() const { return static_cast<Index>(num_put_before_lap_) + written_; }

  /// True if the slot after the outlet's is published. Then notes how far the inlet has published.
  UIT_INLINE bool LooksAtNext(Index current) {
    const Index newest = slots_[After(current)].newest.load(std::memory_order_acquire);
    const Index ahead = newest - (static_cast<Index>(num_passed_before_lap_) + current);
    if (ahead == 0 || ahead >= num_slots_) return false;  // not yet written in this lap
    const Index last = current + ahead;
    seen_last_ = last < num_slots_ ? last : last - num_slots_;
    return true;
  }
  /// Returns how far the inlet has published, and notes it. Only if the outlet would stop otherwise, because it is a line of the inlet's.
  UIT_INLINE Index LookAtLast() {
    // Pairs with the release in Publish: the messages up to there are then the outlet's to read.
    return seen_last_ = last_.load(std::memory_order_acquire);
  }

  /// Whether the inlet may not write `next`, the next slot, because `depth` messages wait. Looks at the outlet's line only then.
  UIT_INLINE bool IsFull(Index next) {
    if (next != limit_) return false;
    // Pairs with the release in TryStep: the outlet no longer reads the slots that it has given back.
    limit_ = Before(current_.load(std::memory_order_acquire));
    return next == limit_;
  }
  /// The slot that the inlet may not write while the outlet is at `current`.
  Index Before(Index current) const { return current >= num_between ? current - num_between : current + num_slots_ - num_between; }

  UIT_INLINE Index After(Index slot) const { return slot + 1 == num_slots_ ? 0 : slot + 1; }

  void TakeBack(Index next) {
    if (next == 0) num_put_before_lap_ -= num_slots_;
  }

  /// The number of messages that a step can move past, at most `limit`.
  Index NumWithin(Index current, std::size_t limit) {
    Index num_waiting = Distance(current, seen_last_);
    if (num_waiting < limit) num_waiting = Distance(current, LookAtLast());
    return static_cast<Index>(std::min<std::size_t>(num_waiting, limit));
  }

  Index Distance(Index from, Index to) const {
    return to >= from ? to - from : to + num_slots_ - from;
  }

  // Constant while in use.
  const Index num_slots_;
  const std::unique_ptr<Slot[]> slots_;

  // Written by the inlet's thread.
  alignas(side_alignment<Sync, Shared>) Shared last_;  // the newest slot published
  Index written_;                                      // the newest slot written
  std::uint64_t num_put_before_lap_;                   // messages put before slot 0 of this lap
  Index limit_;                                        // a slot that may not be written yet, as far as the inlet has looked

  // Written by the outlet's thread.
  alignas(side_alignment<Sync, Shared>) Shared current_;  // the slot last stepped to
  std::uint64_t num_passed_before_lap_;                   // messages passed before slot 0 of this lap
  Index seen_last_;                                       // last_, as far as the outlet has looked
};

static_assert(Duct<RingDuct<int, Unsynchronized>, int>);
static_assert(Duct<RingDuct<int, Spsc>, int>);

}  // namespace uit
