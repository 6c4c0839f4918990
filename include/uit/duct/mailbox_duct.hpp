#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/duct/in_thread_mailbox_duct.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/ref.hpp>
#include <uit/support/sync.hpp>

namespace uit {

/// Keeps only the latest message, so a put never fails.
///
/// With Spsc, one thread may put while another steps. Triple buffered: each side owns one slot, and the third is
/// exchanged, so neither side ever waits for the other. Slots take turns: a put by move assigns to an old message, which
/// may reuse its buffers. Nothing is allocated after construction.
///
///     uit::MailboxDuct<double, uit::Spsc> mailbox;
///     mailbox.TryPut(0.5);                          // one thread
///     if (mailbox.TryStep(1)) Use(mailbox.Get());   // another
template <Message T, Synchronization Sync>
class MailboxDuct final : public RefCountedBy<Sync> {
 public:
  /// Waiting may help.
  static constexpr bool in_thread = false;

  /// Get returns `initial` before the first step.
  explicit MailboxDuct(T initial = T{}) { slots_[first_front].message = std::move(initial); }

  /// Whether the other end has been destroyed. The thread of either end.
  [[nodiscard]] bool IsClosed() const { return this->IsLastReference(); }

  /// Replaces the waiting message, if any. Inlet's thread only.
  UIT_INLINE bool TryPut(const T& message)
    requires std::copyable<T>
  {
    Write(message);
    return Accept();
  }
  /// The same, by moving.
  UIT_INLINE bool TryPut(T&& message) {
    Write(std::move(message));
    return Accept();
  }

  /// Replaces the staged message, if any. The outlet sees it after TryFlush. Inlet's thread only.
  UIT_INLINE bool TryStage(const T& message)
    requires std::copyable<T>
  {
    Write(message);
    return Stage();
  }
  /// The same, by moving.
  UIT_INLINE bool TryStage(T&& message) {
    Write(std::move(message));
    return Stage();
  }

  /// Publishes the staged message. Always true. Inlet's thread only.
  UIT_INLINE bool TryFlush() {
    if (num_staged_ != 0) {
      num_staged_ = 0;
      Publish();
    }
    return true;
  }

  /// Moves to the waiting message. Returns 1, or 0 if none waits. Outlet's thread only.
  UIT_INLINE std::size_t TryStep([[maybe_unused]] std::size_t limit) {
    UIT_ASSERT(limit > 0, "a step needs a limit");
    if (!Pending()) return 0;
    // Acquires the message from the release in Publish. Releases this side's slot to the acquire in Publish.
    front_ = middle_.exchange(front_, std::memory_order_acq_rel) & ~fresh;
    ++num_passed_;
    return 1;
  }

  /// The message last stepped to. Valid until the next step that succeeds. Outlet's thread only.
  UIT_INLINE const T& Get() const { return slots_[front_].message; }
  /// The same, to be moved from or changed.
  UIT_INLINE T& Get() { return slots_[front_].message; }

  /// True if a published message waits. Either thread. Only the outlet's thread can make it false; for another thread it
  /// is a hint.
  [[nodiscard]] UIT_INLINE bool Pending() const {
    // Relaxed: only the exchange that follows hands a slot over, so this load acquires nothing.
    return (middle_.load(std::memory_order_relaxed) & fresh) != 0;
  }

  /// Accepted messages that a newer one replaced before a step saw them. Inlet's thread only.
  [[nodiscard]] std::uint64_t NumPreempted() const { return num_preempted_; }
  /// Messages accepted so far. Inlet's thread only.
  [[nodiscard]] std::uint64_t NumAccepted() const { return num_accepted_; }
  /// Messages stepped to so far. Outlet's thread only.
  [[nodiscard]] std::uint64_t NumPassed() const { return num_passed_; }

 private:
  /// A slot's number.
  using Index = std::uint32_t;
  using Shared = typename Sync::template Atomic<Index>;
  static constexpr Index fresh = 4;  // set in middle_: its message has not been stepped to
  static constexpr Index first_back = 0;
  static constexpr Index first_middle = 1;
  static constexpr Index first_front = 2;

  struct alignas(side_alignment<Sync, T>) Slot {
    T message{};
  };

  UIT_INLINE bool Accept() {
    if (num_staged_ != 0) [[unlikely]]
      return Stage() && TryFlush();
    ++num_accepted_;
    return Publish();
  }

  template <typename M>
  UIT_INLINE void Write(M&& message) {
    if constexpr (!std::is_nothrow_assignable_v<T&, M&&>) {
      if (num_staged_ != 0) {
        T copy{std::forward<M>(message)};  // if this throws, the staged message is unchanged
        slots_[back_].message = std::move(copy);
        return;
      }
    }
    slots_[back_].message = std::forward<M>(message);
  }

  bool Stage() {
    ++num_accepted_;
    num_preempted_ += num_staged_;
    num_staged_ = 1;
    return true;
  }

  UIT_INLINE bool Publish() {
    // Releases the message to the acquire in TryStep. Acquires the slot that TryStep gave back.
    const Index old = middle_.exchange(back_ | fresh, std::memory_order_acq_rel);
    num_preempted_ += old / fresh;
    back_ = old & ~fresh;
    return true;
  }

  // Written by the inlet's thread.
  alignas(side_alignment<Sync, std::uint64_t>) std::uint64_t num_accepted_ = 0;
  Index back_ = first_back;
  std::uint32_t num_staged_ = 0;  // 0 or 1
  std::uint64_t num_preempted_ = 0;

  // Exchanged between the two threads.
  alignas(side_alignment<Sync, Shared>) Shared middle_{first_middle};

  // Written by the outlet's thread.
  alignas(side_alignment<Sync, std::uint64_t>) std::uint64_t num_passed_ = 0;
  Index front_ = first_front;

  std::array<Slot, 3> slots_{};
};

static_assert(Duct<MailboxDuct<int, Unsynchronized>, int>);
static_assert(Duct<MailboxDuct<int, Spsc>, int>);

}  // namespace uit
