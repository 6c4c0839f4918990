#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/ref.hpp>
#include <uit/support/sync.hpp>

namespace uit {

/// The default limit of a growing buffer.
inline constexpr std::size_t default_max_bytes = std::size_t{64} << 20;

/// Delivers every message, in order. If it is full it grows, up to a cap, instead of refusing a put.
///
/// With Spsc, one thread may put while another steps. It is a chain of rings. If the newest ring is full, the inlet links
/// a larger one. The outlet frees each ring that it has emptied. So no message is moved, and nothing is allocated once the
/// newest ring is large enough. A put is refused if the waiting messages would exceed `max_bytes`. The rings take at most
/// twice `max_bytes`, and four times while they grow. Memory that a message owns elsewhere is not counted.
template <Message T, Synchronization Sync>
class QueueDuct final : public RefCountedBy<Sync> {
 public:
  /// Messages are numbered consecutively. Numbers wrap.
  using Number = std::uint64_t;

  /// True if waiting cannot help.
  static constexpr bool in_thread = !Sync::concurrent;

  /// Has room for `depth` messages at first, and finally for `max_bytes` of messages if that is more. Before the first
  /// step Get returns `initial`, which is message number `start`. Throws std::invalid_argument if `depth` is zero or above
  /// 2^40.
  explicit QueueDuct(std::size_t depth, std::size_t max_bytes = default_max_bytes, T initial = T{},
                     Number start = 0)
      : max_waiting_{std::max(CheckedDepth(depth), max_bytes / sizeof(T))},
        tail_{new Ring{std::bit_ceil(depth + 1), start}},
        limit_{start},
        written_{start},
        seen_current_{start},
        last_{start},
        head_{tail_},
        ready_{start},
        seen_last_{start},
        current_{start} {
    FindLimit();
    head_->At(start) = std::move(initial);
  }

  ~QueueDuct() {
    while (head_ != nullptr) FreeHead();
  }

  /// Whether the other end has been destroyed. The thread of either end.
  [[nodiscard]] bool IsClosed() const { return this->IsLastReference(); }

  /// Appends a copy and publishes it. Inlet's thread only.
  UIT_INLINE bool TryPut(const T& message)
    requires std::copyable<T>
  {
    return TryStage(message) && TryFlush();
  }
  /// Appends by moving, if the cap allows, and publishes. Inlet's thread only.
  UIT_INLINE bool TryPut(T&& message) { return TryStage(std::move(message)) && TryFlush(); }

  /// Appends. The outlet need not see the message before TryFlush or the next TryPut. Inlet's thread only.
  UIT_INLINE bool TryStage(const T& message)
    requires std::copyable<T>
  {
    return Append(message);
  }
  /// The same, by moving.
  UIT_INLINE bool TryStage(T&& message) { return Append(std::move(message)); }

  /// Publishes all staged messages. Always true. Inlet's thread only.
  UIT_INLINE bool TryFlush() {
    // Pairs with the acquire in StepFar: the messages, and the links to their rings, come first.
    last_.store(written_, std::memory_order_release);
    return true;
  }

  /// Moves past up to `limit` messages, in time proportional to the number of rings passed. Outlet's thread only.
  UIT_INLINE std::size_t TryStep(std::size_t limit) {
    UIT_ASSERT(limit > 0, "a step needs a limit");
    const Number current = current_.load(std::memory_order_relaxed);
    if (limit == 1 && current != ready_) [[likely]] {
      // Pairs with the acquire in FindLimit: the outlet no longer reads the slot it gives back.
      current_.store(current + 1, std::memory_order_release);
      return 1;
    }
    return StepFar(current, limit);
  }

  /// The message last stepped to. Valid until the next step that succeeds. Outlet's thread only.
  UIT_INLINE const T& Get() const { return head_->At(current_.load(std::memory_order_relaxed)); }
  /// The same, to be moved from or changed.
  UIT_INLINE T& Get() { return head_->At(current_.load(std::memory_order_relaxed)); }

  /// Messages accepted so far, counted from `start`. Inlet's thread only.
  [[nodiscard]] std::uint64_t NumAccepted() const { return written_; }
  /// Messages moved past so far, counted from `start`. Outlet's thread only.
  [[nodiscard]] std::uint64_t NumPassed() const { return current_.load(std::memory_order_relaxed); }

  /// The number of messages that may wait at most.
  [[nodiscard]] std::size_t Depth() const { return max_waiting_; }

 private:
  using Shared = typename Sync::template Atomic<Number>;

  /// The number of slots is a power of two; message n is in slot n modulo that number.
  class Ring {
   public:
    Ring(std::size_t num_slots, Number first_number)
        : first{first_number},
          mask_{num_slots - 1},
          slots_{std::make_unique_for_overwrite<T[]>(num_slots)} {}
    std::size_t NumSlots() const { return mask_ + 1; }
    UIT_INLINE T& At(Number number) const { return slots_[number & mask_]; }

    const Number first;  // its first message
    Shared last{0};      // its last one, once `next` is set
    typename Sync::template Atomic<Ring*> next{nullptr};

    /// The number of messages after `number` in this ring, once `next` is set.
    Number NumBeyond(Number number) const {
      return last.load(std::memory_order_relaxed) - number;
    }
    bool HasNext() const { return next.load(std::memory_order_acquire) != nullptr; }

   private:
    std::size_t mask_;
    std::unique_ptr<T[]> slots_;
  };

  static std::size_t CheckedDepth(std::size_t depth) {
    if (depth == 0 || depth > (std::size_t{1} << 40))
      throw std::invalid_argument{"a queue's depth is between 1 and 2^40"};
    return depth;
  }

  template <typename M>
  UIT_INLINE bool Append(M&& message) {
    const Number number = written_ + 1;
    if (number == limit_) [[unlikely]] {
      FindLimit();
      if (number == limit_) return AppendToNewRing(std::forward<M>(message));
    }
    tail_->At(number) = std::forward<M>(message);
    written_ = number;
    return true;
  }

  /// Sets limit_: the first message number that has no free slot in the newest ring, or is beyond the cap.
  UIT_NOINLINE void FindLimit() {
    seen_current_ = current_.load(std::memory_order_acquire);
    // If the outlet's slot is in the newest ring, the slots in use begin there.
    const bool is_lease_in_tail = seen_current_ - tail_->first <= written_ - tail_->first;
    const Number oldest = is_lease_in_tail ? seen_current_ : tail_->first;
    limit_ = written_ + std::min(oldest + tail_->NumSlots() - written_,
                                 seen_current_ + max_waiting_ + 1 - written_);
  }

  template <typename M>
  UIT_NOINLINE bool AppendToNewRing(M&& message) {
    const Number number = written_ + 1;
    if (written_ - seen_current_ >= max_waiting_) return false;
    // The last ring has room for all messages that may wait, whatever earlier rings hold. So no further ring is needed.
    const std::size_t num_slots = std::min(2 * tail_->NumSlots(), std::bit_ceil(max_waiting_ + 1));
    auto ring = std::make_unique<Ring>(num_slots, number);
    ring->At(number) = std::forward<M>(message);
    tail_->last.store(written_, std::memory_order_relaxed);
    // Pairs with the acquire in HasNext: the old ring's end and the new ring's contents come first.
    tail_->next.store(ring.get(), std::memory_order_release);
    tail_ = ring.release();
    written_ = number;
    FindLimit();
    return true;
  }

  UIT_NOINLINE std::size_t StepFar(Number current, std::size_t limit) {
    seen_last_ = last_.load(std::memory_order_acquire);
    const std::size_t count = std::min<std::size_t>(limit, seen_last_ - current);
    if (count == 0) return 0;
    const Number target = current + count;
    while (head_->HasNext() && count > head_->NumBeyond(current)) FreeHead();
    ready_ = seen_last_;
    if (head_->HasNext())
      ready_ = target + std::min(head_->NumBeyond(target), seen_last_ - target);
    current_.store(target, std::memory_order_release);
    return count;
  }

  void FreeHead() {
    const std::unique_ptr<Ring> head{head_};
    // Relaxed: HasNext has acquired it already, or the duct is being destroyed.
    head_ = head->next.load(std::memory_order_relaxed);
  }

  // Written by the inlet's thread.
  alignas(side_alignment<Sync, Number>) const Number max_waiting_;
  Ring* tail_;
  Number limit_;
  Number written_;
  Number seen_current_;
  Shared last_;  // the newest message published

  // Written by the outlet's thread.
  alignas(side_alignment<Sync, Number>) Ring* head_;
  Number ready_;  // single steps up to here need not read the other side's variables
  Number seen_last_;
  Shared current_;  // the message last stepped to
};

static_assert(Duct<QueueDuct<int, Unsynchronized>, int>);
static_assert(Duct<QueueDuct<int, Spsc>, int>);

}  // namespace uit
