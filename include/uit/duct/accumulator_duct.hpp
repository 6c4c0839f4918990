#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/duct/fold.hpp>
#include <uit/duct/in_thread_accumulator_duct.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/ref.hpp>
#include <uit/support/sync.hpp>

namespace uit {

/// Adds up the waiting messages, so a put fails only if their sum would overflow. A step takes the sum.
///
/// With Spsc, one thread may put while another steps. Neither ever waits for the other. Three slots take turns, as in a
/// mailbox. A put writes the waiting sum plus its message to its own slot. It exchanges that slot for the waiting one if
/// the latter still waits. Otherwise it publishes its message alone. So each message is in exactly one step's sum, whole,
/// and a later step sees it. Nothing is allocated after construction, unless copying a message allocates.
///
///     uit::AccumulatorDuct<int, uit::Spsc> accumulator;
///     accumulator.TryPut(1);                            // one thread
///     if (accumulator.TryStep(1)) Use(accumulator.Get());  // another
///
/// A separate class, AccumulatorDuct<T, Unsynchronized>, is for both ends in one thread.
template <Foldable T, Synchronization Sync>
class AccumulatorDuct final : public RefCountedBy<Sync> {
 public:
  /// Waiting may help.
  static constexpr bool in_thread = false;

  /// Get returns `initial` before the first step.
  explicit AccumulatorDuct(T initial = T{}) : current_{std::move(initial)} {}

  /// Whether the other end has been destroyed. The thread of either end.
  [[nodiscard]] bool IsClosed() const { return this->IsLastReference(); }

  /// Adds a copy to the waiting sum. False if the sum would overflow. Inlet's thread only.
  UIT_INLINE bool TryPut(const T& message) { return TryCarry(message, 1); }
  /// The same. Adding moves nothing out of `message`.
  UIT_INLINE bool TryPut(T&& message) { return TryCarry(message, 1); }
  /// Adds a sum that stands for `num_messages`. False if the total would overflow. Inlet's thread only.
  UIT_INLINE bool TryCarry(const T& sum, std::uint64_t num_messages) {
    if (!Publish(sum, num_messages)) [[unlikely]]
      return false;
    num_accepted_ += num_messages;
    return true;
  }

  /// Takes the waiting sum. Returns 1, and Get is the sum; or 0 if nothing waits, and Get is `T{}`. Outlet's thread only.
  UIT_INLINE std::size_t TryStep([[maybe_unused]] std::size_t limit) {
    UIT_ASSERT(limit > 0, "a step needs a limit");
    // Relaxed: only the exchange below hands a slot over, so this load acquires nothing.
    if ((middle_.load(std::memory_order_relaxed) & fresh) == 0) {
      current_ = T{};
      return 0;
    }
    // Acquires the sum from the release in Publish. Releases this side's slot to the acquire there.
    front_ = middle_.exchange(front_, std::memory_order_acq_rel) & ~fresh;
    const Slot& taken = slots_[front_];  // the inlet may still read this slot, so copy, do not move
    current_ = taken.sum;
    num_folded_ += taken.num_messages - 1;
    ++num_passed_;
    return 1;
  }

  /// The sum last stepped to, or `T{}` if the last step found nothing. Valid until the next step. Outlet's thread only.
  UIT_INLINE const T& Get() const { return current_; }
  /// The same, to be moved from or changed.
  UIT_INLINE T& Get() { return current_; }

  /// Messages accepted so far. Inlet's thread only.
  [[nodiscard]] std::uint64_t NumAccepted() const { return num_accepted_; }
  /// Steps so far that found a sum. Outlet's thread only.
  [[nodiscard]] std::uint64_t NumPassed() const { return num_passed_; }
  /// Messages that steps took beyond the first of each sum. Outlet's thread only.
  [[nodiscard]] std::uint64_t NumFolded() const { return num_folded_; }
  /// Accepted messages that no step has taken. No thread may put or step meanwhile.
  [[nodiscard]] std::uint64_t NumUnread() const {
    const Index middle = middle_.load(std::memory_order_relaxed);
    return (middle & fresh) != 0 ? slots_[middle & ~fresh].num_messages : 0;
  }

 private:
  /// A slot's number.
  using Index = std::uint32_t;
  using Shared = typename Sync::template Atomic<Index>;
  static constexpr Index fresh = 4;  // set in middle_: its sum waits
  static constexpr Index first_back = 0;
  static constexpr Index first_middle = 1;
  static constexpr Index first_front = 2;

  /// A sum and the number of messages in it.
  struct Parcel {
    T sum{};
    std::uint64_t num_messages = 0;
  };
  struct alignas(side_alignment<Sync, Parcel>) Slot : Parcel {};

  UIT_INLINE bool Publish(const T& sum, std::uint64_t num_messages) {
    Slot& back = slots_[back_];
    Index middle = middle_.load(std::memory_order_acquire);
    if ((middle & fresh) != 0) {
      // A published slot is not written again before the inlet gets it back, so it can be read here.
      const Slot& waiting = slots_[middle & ~fresh];
      back.sum = waiting.sum;
      if (!TryFold(back.sum, sum)) return false;
      back.num_messages = waiting.num_messages + num_messages;
      // Releases the sum to the acquire in TryStep. On failure, acquires the slot that TryStep gave back.
      Index seen = middle;
      if (middle_.compare_exchange_strong(seen, back_ | fresh, std::memory_order_release, std::memory_order_acquire)) {
        back_ = middle & ~fresh;
        return true;
      }
      middle = seen;  // a step came in between
    }
    back.sum = sum;
    back.num_messages = num_messages;
    // Releases the message to the acquire in TryStep. Only TryStep can take it, and TryStep ignores a slot that is not
    // fresh.
    middle_.store(back_ | fresh, std::memory_order_release);
    back_ = middle;
    return true;
  }

  // Written by the inlet's thread.
  alignas(side_alignment<Sync, std::uint64_t>) std::uint64_t num_accepted_ = 0;
  Index back_ = first_back;

  // Exchanged between the two threads.
  alignas(side_alignment<Sync, Shared>) Shared middle_{first_middle};

  // Written by the outlet's thread.
  alignas(side_alignment<Sync, std::uint64_t>) std::uint64_t num_passed_ = 0;
  std::uint64_t num_folded_ = 0;
  Index front_ = first_front;
  T current_;

  std::array<Slot, 3> slots_{};
};

static_assert(Duct<AccumulatorDuct<int, Unsynchronized>, int>);
static_assert(Duct<AccumulatorDuct<int, Spsc>, int>);

}  // namespace uit
