#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/duct/null_duct.hpp>
#include <uit/policy.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/owner.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/small_record.hpp>
#include <uit/tally.hpp>
#include <uit/transport/transport.hpp>
#include <uit/transport/transport_set.hpp>

namespace uit {

/// The end of a conduit that messages are read from. One thread at a time may use it.
///
///     auto [inlet, outlet] = uit::Conduit<double>{uit::Thread{}};
///     while (outlet.TryStep()) Use(outlet.Get());  // every message that has arrived, in order
///     Use(outlet.JumpGet());                       // or: the newest there is, perhaps as before
template <Message T, Policy policy = Policy{}, typename W = InProcess>
  requires TransportSetFor<W, T, policy>
class Outlet {
 public:
  /// The message.
  using Value = T;
  /// A reference to what it is bound to: a duct of any transport of the wiring.
  using End = typename W::template OutletEnd<T, policy>;

  /// Not to be read before a splice; nothing arrives.
  Outlet() = default;
  /// Bound to `end`.
  explicit Outlet(End end) { Rebind(std::move(end)); }
  /// Bound to the receiving half that `transport` opens; Get is `initial` before the first step.
  template <OutletTransport<T, policy> X>
    requires TransportIn<X, W>
  explicit Outlet(const X& transport, T initial = T{})
      : Outlet{End{transport.template OpenOutlet<T, policy>(std::move(initial))}} {}

  /// An outlet is moved, not copied.
  Outlet(Outlet&&) noexcept = default;
  /// An outlet is moved, not copied.
  Outlet& operator=(Outlet&&) noexcept = default;

  /// Steps to the next message, or past up to `limit` (at least 1) of them; never waits. Returns how
  /// many it moved past, the new current one included; those passed over count as skipped.
  UIT_INLINE std::size_t TryStep(std::size_t limit = 1) {
    UIT_ASSERT(limit > 0, "a step needs a limit");
    owner_.Check();
    return end_.Visit([&](auto* duct) { return StepIn(duct, limit); });
  }

  /// Steps to the next message, and waits for one until `deadline`, polling the wire meanwhile.
  /// False: none came; at once where nobody else could put: both ends are in this thread, or the other
  /// side is gone for good, as for Inlet::Put.
  bool Step(Deadline deadline = never) {
    if (TryStep() > 0) return true;
    return end_.Visit([&]<typename D>(D* duct) {
      if constexpr (is_in_thread<D>) return false;
      if constexpr (requires { duct->StepUntil(deadline); }) return duct->StepUntil(deadline);
      bool has_stepped = false;
      WaitUntil([&] { return (has_stepped = TryStep() > 0) || IsClosed(*duct); }, deadline,
                [&] { return Poll(*duct); });
      return has_stepped;
    });
  }

  /// Steps to the newest message that has arrived; returns how many it moved past. In constant
  /// time, but for a buffer that has grown.
  UIT_INLINE std::size_t Jump() { return TryStep(no_limit); }

  /// Jumps, and gets.
  UIT_INLINE const T& JumpGet() {
    owner_.Check();
    return end_.Visit([&](auto* duct) -> const T& {
      StepIn(duct, no_limit);
      return GetFrom(duct);
    });
  }

  /// Steps as Step does, and gets: the next message, or the current one if none came.
  const T& GetNext(Deadline deadline = never) {
    Step(deadline);
    return Get();
  }

  /// A copy of the next message if one has arrived; never waits.
  std::optional<T> GetNextOrNullopt()
    requires std::copyable<T>
  {
    if (TryStep() == 0) return std::nullopt;
    return Get();
  }

  /// Steps to the next message and gives it away, moved and not copied; nothing if none has arrived. Never waits. What Get
  /// gives until the next step is unspecified.
  std::optional<T> TryTake() {
    if (TryStep() == 0) return std::nullopt;
    return end_.Visit([]<typename D>(D* duct) -> std::optional<T> {
      if constexpr (is_null_duct<D>) return std::nullopt;
      else return std::optional<T>(std::move(duct->Get()));
    });
  }

  /// The current message: the one last stepped to, over splices; before the first step the initial
  /// one. The reference and what it refers to stay put until the next step that succeeds. Under
  /// Retain::accumulate it is the sum of all that had arrived, and a step that finds nothing, by whatever
  /// verb, makes it `T{}`, so that no sum is counted twice.
  UIT_INLINE const T& Get() const {
    owner_.Check();
    return end_.Visit([](const auto* duct) -> const T& { return GetFrom(duct); });
  }

  /// What became of all messages that reached it so far, over splices.
  [[nodiscard]] GetTally Tally() const {
    const Past past = skips_.Get();
    return {.stepped = past.num_passed + NumPassed() - skips_.Count(),
            .skipped = past.num_preempted + NumPreempted() + skips_.Count(),
            .folded = past.num_folded + NumFolded(),
            .unread = past.num_unread};
  }

  /// While held, a step goes no further than what had arrived by the last Refresh: for a
  /// bulk-synchronous runner, which refreshes while the other end is idle.
  void Hold(bool hold) {
    end_.Visit([&](auto* duct) {
      if constexpr (requires { duct->HoldOutlet(hold); })
        if (duct != nullptr) duct->HoldOutlet(hold);
    });
  }
  /// Renews what a held outlet goes by.
  void Refresh() {
    end_.Visit([](auto* duct) {
      if constexpr (requires { duct->RefreshOutlet(); })
        if (duct != nullptr) duct->RefreshOutlet();
    });
  }

  /// Binds to another end and returns the one before. Nothing is carried, as it would be by Splice;
  /// the tally goes on. While no other thread uses this outlet.
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

  /// What it is bound to.
  [[nodiscard]] const End& Bound() const { return end_; }

  /// Adds to the tally messages that were left behind unread.
  void CountUnread(std::uint64_t count) {
    if (count != 0) skips_.Make().num_unread += count;
  }
  /// Passes over all that has arrived, and counts it as unread; of a sum, all of its messages.
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

  /// From now on another thread may use it. Only checks care.
  void HandOver() { owner_.Reset(); }

 private:
  /// What is counted here: what ducts bound to earlier have counted, and what no duct does.
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

  /// Arrived, and replaced by newer ones on this side, where the two sides are different objects.
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
  SmallRecord<Past> skips_;  // how many messages steps have passed over; few ends have a past
  [[no_unique_address]] Owner owner_;
};

}  // namespace uit
