#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <uit/codec/span_codec.hpp>
#include <uit/codec/span_loan.hpp>
#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/duct/null_duct.hpp>
#include <uit/duct/step_until.hpp>
#include <uit/policy.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/owner.hpp>
#include <uit/support/small_record.hpp>
#include <uit/tally.hpp>
#include <uit/transport/transport.hpp>
#include <uit/transport/transport_set.hpp>

namespace uit {

/// The end of a conduit that delivers messages. One thread at a time may use it.
///
///     auto [inlet, outlet] = uit::Conduit<double>{uit::Thread{}};
///     while (outlet.TryStep()) Use(outlet.Get());  // every message that has arrived, in order
///     Use(outlet.JumpGet());                       // or: only the newest message, perhaps the same as before
template <Message T, Policy policy = Policy{}, typename W = InProcess>
  requires TransportSetFor<W, T, policy>
class Outlet {
 public:
  /// The type of a message.
  using Value = T;
  /// A reference to the duct behind this outlet: a duct of any transport in the transport set.
  using End = typename W::template OutletEnd<T, policy>;

  /// Unbound: may not be read before a splice. Nothing arrives.
  Outlet() = default;
  /// Bound to `end`.
  explicit Outlet(End end) { Rebind(std::move(end)); }
  /// Bound to the receiving half that `transport` opens. Get returns `initial` before the first step.
  template <OutletTransport<T, policy> X>
    requires TransportIn<X, W>
  explicit Outlet(const X& transport, T initial = T{})
      : Outlet{End{transport.template OpenOutlet<T, policy>(std::move(initial))}} {}

  /// An outlet can be moved, not copied.
  Outlet(Outlet&&) noexcept = default;
  /// An outlet can be moved, not copied.
  Outlet& operator=(Outlet&&) noexcept = default;

  /// Steps to the next message, or past up to `limit` messages (at least 1). Never waits. Returns the number of messages
  /// passed, including the new current one. Messages that a step passes over count as skipped.
  UIT_INLINE std::size_t TryStep(std::size_t limit = 1) {
    UIT_ASSERT(limit > 0, "a step needs a limit");
    owner_.Check();
    return end_.Visit([&](auto* duct) { return StepIn(duct, limit); });
  }

  /// Steps to the next message. If none has arrived, waits until `deadline` and polls the connection meanwhile. Returns false if no
  /// message came. Returns false at once if no other thread or process can put: both ends are in this thread, or the other side is
  /// closed for good, as for Inlet::Put. A thread of a team helps no other thread meanwhile; Member::Step does.
  bool Step(Deadline deadline = never) { return Step(deadline, PlainWaiter{}); }
  /// The same. It waits by `wait`.
  template <Waiter Wait>
  bool Step(Deadline deadline, Wait&& wait) {
    if (TryStep() > 0) return true;
    return end_.Visit([&]<typename D>(D* duct) {
      if constexpr (is_in_thread<D>) return false;
      if constexpr (requires { duct->StepUntil(deadline); }) return duct->StepUntil(deadline);
      return detail::StepUntil(*duct, deadline, [this] { return TryStep() > 0; }, wait);
    });
  }

  /// Steps to the next messages, one by one, and copies them to `messages` until it is full or no other has arrived. Never waits.
  /// Returns how many it has copied.
  std::size_t TakeSome(std::span<T> messages)
    requires std::copyable<T>
  {
    owner_.Check();
    return end_.Visit([&]<typename D>(D* duct) -> std::size_t {
      if constexpr (counts<D> && requires { duct->TryTakeSome(messages); }) {
        UIT_ASSERT(duct != nullptr, "an outlet that cannot be muted is bound before it is used");
        return duct->TryTakeSome(messages);
      }
      std::size_t count = 0;
      for (; count < messages.size() && StepIn(duct, 1) != 0; ++count) messages[count] = GetFrom(duct);
      return count;
    });
  }

  /// Steps to the newest message that has arrived. Returns the number of messages passed. Takes constant time, except in a
  /// buffer that has grown.
  UIT_INLINE std::size_t Jump() { return TryStep(no_limit); }

  /// Jumps, then returns the current message.
  UIT_INLINE const T& JumpGet() {
    owner_.Check();
    return end_.Visit([&](auto* duct) -> const T& {
      StepIn(duct, no_limit);
      return GetFrom(duct);
    });
  }

  /// Steps as Step does, then returns the current message: the next one, or the same as before if none came.
  const T& GetNext(Deadline deadline = never) {
    Step(deadline);
    return Get();
  }

  /// A copy of the next message, if one has arrived. Never waits.
  std::optional<T> GetNextOrNullopt()
    requires std::copyable<T>
  {
    if (TryStep() == 0) return std::nullopt;
    return Get();
  }

  /// Steps to the next message and moves it out. Returns nullopt if no message has arrived. Never waits. Afterwards the
  /// value of Get is unspecified until the next step.
  std::optional<T> TryTake() {
    if (TryStep() == 0) return std::nullopt;
    return end_.Visit([]<typename D>(D* duct) -> std::optional<T> {
      if constexpr (is_null_duct<D>) return std::nullopt;
      else return std::optional<T>(std::move(duct->Get()));
    });
  }

  /// Steps to the next message and calls `use(elements)` with a std::span of its elements, where they lie: from shared memory
  /// they are not copied. They are valid during the call, which must not use this outlet. Returns false if no message has arrived.
  /// Never waits. Afterwards the value of Get is unspecified until the next step.
  template <std::invocable<std::span<const detail::LoanElement<T>>> F>
    requires LoanableUnder<T, policy>
  bool TryRead(F&& use) {
    owner_.Check();
    return end_.Visit([&](auto* duct) {
      if constexpr (requires { duct->TryRead(use); }) return duct->TryRead(use);
      if (StepIn(duct, 1) == 0) return false;
      use(std::span<const detail::LoanElement<T>>(detail::Elements(GetFrom(duct))));
      return true;
    });
  }

  /// The current message: the one last stepped to, also across splices. Before the first step it is the initial one. The
  /// reference and its target stay valid until the next step that succeeds. Under Retain::accumulate it is the sum of all
  /// messages that had arrived. There, a step of any kind that finds nothing sets it to `T{}`, so that no sum counts
  /// twice.
  UIT_INLINE const T& Get() const {
    owner_.Check();
    return end_.Visit([](const auto* duct) -> const T& { return GetFrom(duct); });
  }

  /// The fate of all messages that reached this outlet so far, across splices.
  [[nodiscard]] GetTally Tally() const {
    const Past past = skips_.Get();
    return {.stepped = past.num_passed + NumPassed() - skips_.Count(),
            .skipped = past.num_preempted + NumPreempted() + skips_.Count(),
            .folded = past.num_folded + NumFolded(),
            .unread = past.num_unread};
  }

  /// While held, a step passes only messages that had arrived by the last Refresh, within a thread, or that the owner of the
  /// exchange has pulled. For a run loop. Does nothing between threads without an exchange.
  void Hold(bool hold) {
    end_.Visit([&](auto* duct) {
      if constexpr (requires { duct->HoldOutlet(hold); })
        if (duct != nullptr) duct->HoldOutlet(hold);
    });
  }
  /// Refreshes a held outlet: from now on, it sees all messages that have arrived up to here.
  void Refresh() {
    end_.Visit([](auto* duct) {
      if constexpr (requires { duct->RefreshOutlet(); })
        if (duct != nullptr) duct->RefreshOutlet();
    });
  }

  /// Binds to another end and returns the previous one. Carries no messages over (Splice does). The tally continues. No
  /// other thread may use this outlet meanwhile.
  End Rebind(End end) {
    std::uint64_t num_passed = NumPassed();
    std::uint64_t num_preempted = NumPreempted();
    std::uint64_t num_folded = NumFolded();
    std::swap(end_, end);
    num_passed -= NumPassed();
    num_preempted -= NumPreempted();
    num_folded -= NumFolded();
    if (num_passed != 0 || num_preempted != 0 || num_folded != 0 || !IsCountedByDuct()) {
      skips_.Make().num_passed += num_passed;
      skips_.Make().num_preempted += num_preempted;
      skips_.Make().num_folded += num_folded;
    }
    owner_.Reset();
    return end;
  }

  /// The end that this outlet is bound to.
  [[nodiscard]] const End& Bound() const { return end_; }

  /// Adds `count` unread messages to the tally.
  void CountUnread(std::uint64_t count) {
    if (count != 0) skips_.Make().num_unread += count;
  }
  /// Passes all messages that have arrived and counts them as unread; for a sum, all of its messages.
  void DiscardUnread() {
    owner_.Check();
    end_.Visit([&]<typename D>(D* duct) {
      if constexpr (!is_null_duct<D>) {
        if (duct == nullptr) return;
        const std::uint64_t num_folded_before = NumFolded();
        while (const std::size_t count = duct->TryStep(no_limit)) {
          CountUnread(count);
          if constexpr (counts<D>) skips_.Make().num_passed -= count;  // the duct has counted a step
        }
        if (const std::uint64_t num_folded = NumFolded() - num_folded_before; num_folded != 0) {
          CountUnread(num_folded);
          skips_.Make().num_folded -= num_folded;
        }
      }
    });
  }
  /// Adds to the tally messages that arrived and were replaced on their way to another duct.
  void CountPreempted(std::uint64_t count) {
    if (count != 0) skips_.Make().num_preempted += count;
  }

  /// From now on another thread may use this outlet. Affects only the owner checks.
  void HandOver() { owner_.Reset(); }

 private:
  /// Counts kept here: those of earlier ducts, and those that the duct does not keep itself.
  struct Past {
    std::uint64_t num_passed = 0;
    std::uint64_t num_unread = 0;
    std::uint64_t num_preempted = 0;  // on arrival
    std::uint64_t num_folded = 0;
  };

  template <typename D>
  static constexpr bool counts = requires(const D& duct) { duct.NumPassed(); };

  template <typename D>
  UIT_INLINE std::size_t StepIn(D* duct, std::size_t limit) {
    if constexpr (is_null_duct<D>) {
      if constexpr (policy.retain == Retain::accumulate) {
        if (duct != nullptr) duct->Get() = T{};
      }
      return 0;
    }
    UIT_ASSERT(duct != nullptr, "an outlet that cannot be muted is bound before it is used");
    const std::size_t count = duct->TryStep(limit);
    if (limit != 1 && count > 1) [[unlikely]] skips_.Add(count - 1);
    if constexpr (!counts<D>) skips_.Make().num_passed += count;
    return count;
  }

  template <typename D>
  UIT_INLINE static const T& GetFrom(const D* duct) {
    UIT_ASSERT(duct != nullptr, "an outlet has a message only once it is bound");
    return duct->Get();
  }

  std::uint64_t NumPassed() const {
    return end_.Visit([]<typename D>([[maybe_unused]] D* duct) -> std::uint64_t {
      if constexpr (counts<D>) return duct == nullptr ? 0 : duct->NumPassed();
      return 0;
    });
  }

  /// Messages that arrived and were replaced by newer ones on this side, if inlet and outlet are different objects.
  std::uint64_t NumPreempted() const {
    return end_.Visit([]<typename D>([[maybe_unused]] D* duct) -> std::uint64_t {
      if constexpr (!InletDuct<D, T> && requires { duct->NumPreempted(); })
        return duct == nullptr ? 0 : duct->NumPreempted();
      return 0;
    });
  }

  std::uint64_t NumFolded() const {
    return end_.Visit([]([[maybe_unused]] auto* duct) -> std::uint64_t {
      if constexpr (requires { duct->NumFolded(); }) return duct == nullptr ? 0 : duct->NumFolded();
      return 0;
    });
  }

  bool IsCountedByDuct() const {
    return end_.Visit([]<typename D>(D*) { return counts<D> || is_null_duct<D>; });
  }

  End end_;
  SmallRecord<Past> skips_;  // the number of messages passed over by steps; few ends need the record
  [[no_unique_address]] Owner owner_;
};

}  // namespace uit
