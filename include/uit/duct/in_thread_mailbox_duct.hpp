#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/ref.hpp>
#include <uit/support/sync.hpp>

namespace uit {

template <Message T, Synchronization Sync>
class MailboxDuct;

/// The mailbox with both ends in one thread. Slots need no exchange: a put writes to the waiting slot. If writing may
/// throw, it writes to a spare slot first.
template <Message T>
class MailboxDuct<T, Unsynchronized> final : public RefCounted {
 public:
  /// Waiting cannot help.
  static constexpr bool in_thread = true;

  /// Get returns `initial` before the first step.
  explicit MailboxDuct(T initial = T{}) { Get() = std::move(initial); }

  /// Replaces the waiting message, if any.
  UIT_INLINE bool TryPut(const T& message)
    requires std::copyable<T>
  {
    return Replace(message);
  }
  /// The same, by moving.
  UIT_INLINE bool TryPut(T&& message) { return Replace(std::move(message)); }

  /// Replaces the staged message, if any. The outlet sees it after TryFlush.
  bool TryStage(const T& message)
    requires std::copyable<T>
  {
    return Stage(message);
  }
  /// The same, by moving.
  bool TryStage(T&& message) { return Stage(std::move(message)); }

  /// Publishes the staged message, unless the inlet is held. Always true.
  bool TryFlush() {
    if (staging_ < held) PublishStaged();
    return true;
  }

  /// Moves to the waiting message. Returns 1, or 0 if none waits.
  UIT_INLINE std::size_t TryStep([[maybe_unused]] std::size_t limit) {
    UIT_ASSERT(limit > 0, "a step needs a limit");
    if (last_ != current_ + 1) [[unlikely]] {
      if (last_ == current_) return 0;
      num_passed_over_ += last_ - current_ - 1;
    }
    current_ = last_;
    if constexpr (copies) slots_[0] = slots_[1];
    else front_ ^= 1U;
    return 1;
  }

  /// The message last stepped to. Valid until the next step that succeeds.
  UIT_INLINE const T& Get() const { return slots_[Front()]; }
  /// The same, to be moved from or changed.
  UIT_INLINE T& Get() { return slots_[Front()]; }

  /// True if a published message waits.
  [[nodiscard]] UIT_INLINE bool Pending() const { return current_ != last_; }

  /// Accepted messages that a newer one replaced before a step saw them.
  [[nodiscard]] std::uint64_t NumPreempted() const {
    return NumAccepted() - NumPassed() - Pending() - (NumStaged() > 0);
  }
  /// Messages accepted so far.
  [[nodiscard]] std::uint64_t NumAccepted() const { return last_ + NumStaged(); }
  /// Messages stepped to so far.
  [[nodiscard]] std::uint64_t NumPassed() const { return current_ - num_passed_over_; }

  /// Calls `visit(message)` for the published message, if one waits.
  template <std::invocable<const T&> F>
  void ForEachUnread(F&& visit) const {
    if (Pending()) visit(slots_[Front() ^ 1U]);
  }

  /// While held, puts are staged and RefreshInlet publishes the newest.
  void HoldInlet(bool hold) {
    if (!hold) PublishStaged();
    staging_ = NumStaged() | (hold ? held : 0);
  }
  /// Publishes the staged message.
  void RefreshInlet() { PublishStaged(); }

 private:
  template <typename M>
  UIT_INLINE bool Replace(M&& message) {
    if (staging_ != 0) [[unlikely]]
      return Stage(std::forward<M>(message)) && TryFlush();
    if constexpr (std::is_nothrow_assignable_v<T&, M&&>) {
      Waiting() = std::forward<M>(message);
    } else {
      spare_ = std::forward<M>(message);
      std::swap(spare_, Waiting());
    }
    ++last_;
    return true;
  }

  template <typename M>
  bool Stage(M&& message) {
    if constexpr (std::is_nothrow_assignable_v<T&, M&&>) {
      spare_ = std::forward<M>(message);
    } else {
      T copy{std::forward<M>(message)};  // if this throws, the staged message is unchanged
      spare_ = std::move(copy);
    }
    ++staging_;
    return true;
  }

  void PublishStaged() {
    if (NumStaged() == 0) return;
    last_ += NumStaged();
    staging_ &= held;
    std::swap(spare_, Waiting());
  }

  std::uint32_t NumStaged() const { return staging_ & ~held; }

  static constexpr std::uint32_t held = std::uint32_t{1} << 31;

  /// The slot of the waiting message.
  UIT_INLINE T& Waiting() { return slots_[Front() ^ 1U]; }
  UIT_INLINE std::size_t Front() const {
    if constexpr (copies) return 0;
    return front_;
  }

  /// If true, a step copies the message: faster than looking up its slot.
  static constexpr bool copies = std::copyable<T> && std::is_trivially_copyable_v<T> && sizeof(T) <= 2 * sizeof(void*);

  std::uint16_t front_ = 0;    // the outlet's slot; not a byte, because a byte may alias any object
  std::uint32_t staging_ = 0;  // the number of messages staged, and the flag held if the inlet is
  std::array<T, 2> slots_{};
  T spare_{};  // the newest staged message
  // Messages are numbered consecutively.
  std::uint64_t current_ = 0;  // the newest message at the last step
  std::uint64_t last_ = 0;     // the newest message published
  std::uint64_t num_passed_over_ = 0;
};

}  // namespace uit
