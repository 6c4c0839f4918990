#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/duct/fold.hpp>
#include <uit/duct/held_sum.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/ref.hpp>
#include <uit/support/sync.hpp>

namespace uit {

template <Foldable T, Synchronization Sync>
class AccumulatorDuct;

/// The accumulator with both ends in one thread: a put adds to the waiting sum.
template <Foldable T>
class AccumulatorDuct<T, Unsynchronized> final : public RefCounted {
 public:
  /// Waiting cannot help.
  static constexpr bool in_thread = true;

  /// Get returns `initial` before the first step.
  explicit AccumulatorDuct(T initial = T{}) : current_{std::move(initial)} {}

  /// Adds a copy to the waiting sum. False if the sum would overflow.
  UIT_INLINE bool TryPut(const T& message) { return TryCarry(message, 1); }
  /// The same. Adding moves nothing out of `message`.
  UIT_INLINE bool TryPut(T&& message) { return TryCarry(message, 1); }
  /// Adds a sum that stands for `num_messages`. False if the total would overflow.
  UIT_INLINE bool TryCarry(const T& sum, std::uint64_t num_messages) {
    return is_held_ ? held_.TryAdd(sum, num_messages) : Add(sum, num_messages);
  }

  /// Takes the waiting sum. Returns 1, and Get is the sum; or 0 if nothing waits, and Get is `T{}`.
  UIT_INLINE std::size_t TryStep([[maybe_unused]] std::size_t limit) {
    UIT_ASSERT(limit > 0, "a step needs a limit");
    current_ = std::exchange(waiting_, T{});
    if (num_waiting_ == 0) return 0;
    num_folded_ += std::exchange(num_waiting_, 0) - 1;
    ++num_passed_;
    return 1;
  }

  /// The sum last stepped to, or `T{}` if the last step found nothing. Valid until the next step.
  UIT_INLINE const T& Get() const { return current_; }
  /// The same, to be moved from or changed.
  UIT_INLINE T& Get() { return current_; }

  /// Messages accepted so far.
  [[nodiscard]] std::uint64_t NumAccepted() const { return num_passed_ + num_folded_ + NumUnread(); }
  /// Steps so far that found a sum.
  [[nodiscard]] std::uint64_t NumPassed() const { return num_passed_; }
  /// Messages that steps took beyond the first of each sum.
  [[nodiscard]] std::uint64_t NumFolded() const { return num_folded_; }
  /// Accepted messages that no step has taken.
  [[nodiscard]] std::uint64_t NumUnread() const { return num_waiting_ + held_.NumMessages(); }

  /// Calls `visit(sum)` for the published sum, if one waits.
  template <std::invocable<const T&> F>
  void ForEachUnread(F&& visit) const {
    if (num_waiting_ != 0) visit(waiting_);
  }

  /// While held, puts go to a separate sum, which RefreshInlet publishes. A put is accepted if this sum would not
  /// overflow, neither alone nor added to the sum that waited at the last refresh.
  void HoldInlet(bool hold) {
    RefreshInlet();
    is_held_ = hold;
  }
  /// While held, only RefreshInlet makes room.
  bool IsInletHeld() const { return is_held_; }
  /// Publishes the sum of the puts made while held, and starts the next one.
  void RefreshInlet() {
    if (held_.NumMessages() != 0) {
      [[maybe_unused]] const bool is_added = Add(held_.Sum(), held_.NumMessages());
      UIT_ASSERT(is_added, "what was accepted while held has room");
    }
    held_.Refresh(num_waiting_ != 0 ? &waiting_ : nullptr);
  }

 private:
  UIT_INLINE bool Add(const T& sum, std::uint64_t num_messages) {
    T total = waiting_;  // if this throws, the waiting sum is unchanged
    if (!TryFold(total, sum)) return false;
    waiting_ = std::move(total);
    num_waiting_ += num_messages;
    return true;
  }

  bool is_held_ = false;
  T waiting_{};
  T current_;
  std::uint64_t num_waiting_ = 0;  // messages in waiting_
  std::uint64_t num_passed_ = 0;
  std::uint64_t num_folded_ = 0;
  detail::HeldSum<T> held_;
};

}  // namespace uit
