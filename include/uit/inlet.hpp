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
#include <uit/duct/put_until.hpp>
#include <uit/policy.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/owner.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/small_record.hpp>
#include <uit/tally.hpp>
#include <uit/transport/transport.hpp>
#include <uit/transport/transport_set.hpp>

namespace uit {

/// The end of a conduit that accepts messages. One thread at a time may use it. (More than 300 lines, because it is one class with a
/// short function for each verb.)
///
///     auto [inlet, outlet] = uit::Conduit<double>{uit::Thread{}};
///     if (!inlet.TryPut(0.5)) ...        // never waits; false: no room, the message was dropped
///     inlet.Put(0.5, uit::After(10ms));  // waits for room, for at most 10 ms
template <Message T, Policy policy = Policy{}, typename W = InProcess>
  requires TransportSetFor<W, T, policy>
class Inlet {
 public:
  /// The type of a message.
  using Value = T;
  /// A reference to the duct behind this inlet: a duct of any transport in the transport set.
  using End = typename W::template InletEnd<T, policy>;

  /// Muted. With a transport set of one transport: unbound, and may not be used before a splice.
  Inlet() = default;
  /// Bound to `end`.
  explicit Inlet(End end) { Rebind(std::move(end)); }
  /// Bound to the sending half that `transport` opens.
  template <InletTransport<T, policy> X>
    requires TransportIn<X, W>
  explicit Inlet(const X& transport) : Inlet{End{transport.template OpenInlet<T, policy>()}} {}

  /// An inlet can be moved, not copied.
  Inlet(Inlet&&) noexcept = default;
  /// An inlet can be moved, not copied.
  Inlet& operator=(Inlet&&) noexcept = default;

  /// Sends a copy if there is room. Never waits. False: the message was dropped, or the inlet is muted.
  UIT_INLINE bool TryPut(const T& message)
    requires std::copyable<T>
  {
    return Offer([&](auto& duct) { return duct.TryPut(message); });
  }
  /// Sends by moving. On false the message is unchanged.
  UIT_INLINE bool TryPut(T&& message) {
    return Offer([&](auto& duct) { return duct.TryPut(std::move(message)); });
  }

  /// Like TryPut, but the outlet may see the message only after a TryFlush or TryPut: publishes a batch together.
  UIT_INLINE bool TryStage(const T& message)
    requires std::copyable<T>
  {
    return Offer([&](auto& duct) { return Stage(duct, message); });
  }
  /// The same, by moving.
  UIT_INLINE bool TryStage(T&& message) {
    return Offer([&](auto& duct) { return Stage(duct, std::move(message)); });
  }

  /// Stages messages, as TryStage does, until one has no room. Never waits. Returns how many it has staged, from the first. The
  /// others do not count as puts.
  std::size_t StageSome(std::span<const T> messages)
    requires std::copyable<T>
  {
    owner_.Check();
    return end_.Visit([&]<typename D>(D* duct) -> std::size_t {
      if constexpr (is_null_duct<D>) {
        for (std::size_t i = 0; i < messages.size(); ++i) CountMuted();
        return messages.size();
      } else {
        UIT_ASSERT(duct != nullptr, "an inlet that cannot be muted is bound before it is used");
        std::size_t count = 0;
        if constexpr (requires { duct->TryStageSome(messages); }) {
          count = duct->TryStageSome(messages);
        } else {
          while (count < messages.size() && Stage(*duct, messages[count])) ++count;
        }
        if constexpr (!counts<D>)
          if (count != 0) drops_.Make().num_accepted += count;
        return count;
      }
    });
  }

  /// Sends the messages that were kept back to travel together. False: some of them have not left yet.
  UIT_INLINE bool TryFlush() {
    owner_.Check();
    return end_.Visit([](auto* duct) {
      if constexpr (requires { duct->TryFlush(); }) return duct == nullptr || duct->TryFlush();
      return true;
    });
  }

  /// Makes progress on frames in flight, and sends frames that have reached their age limit (Process::max_age). Never
  /// waits. Returns true if anything arrived. Does nothing within a process.
  bool Poll() {
    owner_.Check();
    return end_.Visit([]<typename D>([[maybe_unused]] D* duct) {
      if constexpr (is_null_duct<D>) return false;
      else return duct != nullptr && uit::Poll(*duct);
    });
  }

  /// Sends. If the duct is full, waits for room until `deadline` and polls the connection meanwhile. False: dropped at the
  /// deadline, or muted. Returns false at once if the duct is full and no other thread or process can make room: both ends
  /// are in this thread, the inlet is held (as in a mesh), or the other side is closed for good. The other
  /// side is closed if its fabric has closed, if its process, on the same host, has ended, or, between threads, if the outlet
  /// has been destroyed. A thread of a team helps no other thread meanwhile; Member::Put does.
  bool Put(const T& message, Deadline deadline = never)
    requires std::copyable<T>
  {
    return OfferUntil(message, deadline, PlainWaiter{});
  }
  /// The same, by moving.
  bool Put(T&& message, Deadline deadline = never) {
    return OfferUntil(std::move(message), deadline, PlainWaiter{});
  }
  /// The same. It waits by `wait`. If that throws, the put counts nowhere.
  template <Waiter Wait>
    requires std::copyable<T>
  bool Put(const T& message, Deadline deadline, Wait&& wait) {
    return OfferUntil(message, deadline, wait);
  }
  /// The same, by moving.
  template <Waiter Wait>
  bool Put(T&& message, Deadline deadline, Wait&& wait) {
    return OfferUntil(std::move(message), deadline, wait);
  }

  /// Lends memory of the conduit's own for the next message of `num_elements` elements. Their values are unspecified. Write
  /// them, then call Publish. Within a host, elements are written where the outlet reads them, if the message is large or both
  /// ends are in one process. Never waits. Returns nullopt if there is no room; that counts as a dropped put. Throws
  /// MessageTooLarge as a put does. The loan ends at the next put or loan, and if the fabric closes; the memory must not be
  /// used afterwards. A loan that is not published is no message.
  auto TryLoan(std::size_t num_elements)
    requires LoanableUnder<T, policy>
  {
    std::optional<std::span<detail::LoanElement<T>>> room;
    Offer([&](auto& duct) { return (room = detail::TryLoan<T>(duct, num_elements)).has_value(); });
    return room;
  }
  /// Sends what TryLoan lent last, or the first elements of it. Call it at most once for a loan. Counts as a put. Returns false
  /// if the loan has ended.
  bool Publish(std::span<detail::LoanElement<T>> elements)
    requires LoanableUnder<T, policy>
  {
    return Offer([&](auto& duct) { return detail::PutLoan<T>(duct, elements); });
  }

  /// The fate of all puts so far, across splices.
  [[nodiscard]] PutTally Tally() const {
    const Past past = drops_.Get();
    return {.attempted = past.num_accepted + NumAccepted() + drops_.Count(),
            .dropped = drops_.Count(),
            .muted = past.num_muted,
            .preempted = past.num_preempted + NumPreempted()};
  }

  /// True if the inlet is muted.
  [[nodiscard]] bool IsMuted() const {
    return end_.Visit([]<typename D>(D*) { return is_null_duct<D>; });
  }

  /// While held, acceptance depends only on the outlet's steps up to the last Refresh, within a thread, or up to the last
  /// report that the owner of the exchange has read. For a run loop. A duct that can count accepts at most `max_puts` until
  /// the next Refresh. Does nothing between threads without an exchange.
  void Hold(bool hold, std::size_t max_puts = no_limit) {
    end_.Visit([&](auto* duct) {
      if (duct == nullptr) return;
      if constexpr (requires { duct->HoldInlet(hold, max_puts); }) duct->HoldInlet(hold, max_puts);
      else if constexpr (requires { duct->HoldInlet(hold); }) duct->HoldInlet(hold);
    });
  }
  /// Refreshes a held inlet: from now on, acceptance depends on the outlet's steps up to here.
  void Refresh(std::size_t max_puts = no_limit) {
    end_.Visit([&](auto* duct) {
      if (duct == nullptr) return;
      if constexpr (requires { duct->RefreshInlet(max_puts); }) duct->RefreshInlet(max_puts);
      else if constexpr (requires { duct->RefreshInlet(); }) duct->RefreshInlet();
    });
  }

  /// Binds to another end and returns the previous one. Carries no messages over (Splice does). The tally continues. No
  /// other thread may use this inlet meanwhile.
  End Rebind(End end) {
    std::uint64_t num_accepted = NumAccepted();
    std::uint64_t num_preempted = NumPreempted();
    std::swap(end_, end);
    num_accepted -= NumAccepted();
    num_preempted -= NumPreempted();
    if (num_accepted != 0 || num_preempted != 0 || !IsCountedByDuct()) {
      drops_.Make().num_accepted += num_accepted;
      drops_.Make().num_preempted += num_preempted;
    }
    owner_.Reset();
    return end;
  }

  /// The end that this inlet is bound to.
  [[nodiscard]] const End& Bound() const { return end_; }

  /// Adds to the tally accepted messages that newer ones replaced on their way to another duct.
  void CountPreempted(std::uint64_t count) {
    if (count != 0) drops_.Make().num_preempted += count;
  }

  /// From now on another thread may use this inlet. Affects only the owner checks.
  void HandOver() { owner_.Reset(); }

 private:
  /// Counts kept here: those of earlier ducts, and those that the duct does not keep itself.
  struct Past {
    std::uint64_t num_accepted = 0;
    std::uint64_t num_muted = 0;
    std::uint64_t num_preempted = 0;
  };

  template <typename D>
  static constexpr bool counts = requires(const D& duct) { duct.NumAccepted(); };

  template <typename F>
  UIT_INLINE bool Offer(F&& put) {
    owner_.Check();
    return end_.Visit([&]<typename D>(D* duct) {
      if constexpr (is_null_duct<D>) return CountMuted();
      UIT_ASSERT(duct != nullptr, "an inlet that cannot be muted is bound before it is used");
      if constexpr (requires { D::refuses_large; }) return OfferAnySize(*duct, put);
      return Count<D>(put(*duct));
    });
  }
  /// A message that is too large counts as dropped.
  template <typename D, typename F>
  UIT_INLINE bool OfferAnySize(D& duct, F& put) {
    if constexpr (!D::refuses_large) {
      return Count<D>(put(duct));
    } else {
      try {
        return Count<D>(put(duct));
      } catch (const MessageTooLarge&) {
        Count<D>(false);
        throw;
      }
    }
  }

  template <typename M, typename Wait>
  bool OfferUntil(M&& message, Deadline deadline, Wait&& wait) {
    owner_.Check();
    return end_.Visit([&]<typename D>(D* duct) {
      if constexpr (is_null_duct<D>) {
        return CountMuted();
      } else {
        auto put = [&](D& to) { return detail::PutUntil(to, std::forward<M>(message), deadline, wait); };
        if constexpr (requires { D::refuses_large; }) return OfferAnySize(*duct, put);
        return Count<D>(put(*duct));
      }
    });
  }

  template <typename D>
  UIT_INLINE bool Count(bool is_accepted) {
    if (!is_accepted) [[unlikely]] {
      drops_.Add(1);
      return false;
    }
    if constexpr (!counts<D>) ++drops_.Make().num_accepted;
    return true;
  }

  UIT_NOINLINE bool CountMuted() {
    ++drops_.Make().num_muted;
    return false;
  }

  template <typename D, typename M>
  UIT_INLINE static bool Stage(D& duct, M&& message) {
    if constexpr (requires { duct.TryStage(std::forward<M>(message)); })
      return duct.TryStage(std::forward<M>(message));
    else
      return duct.TryPut(std::forward<M>(message));
  }

  std::uint64_t NumAccepted() const {
    return end_.Visit([]<typename D>([[maybe_unused]] D* duct) -> std::uint64_t {
      if constexpr (counts<D>) return duct == nullptr ? 0 : duct->NumAccepted();
      return 0;
    });
  }

  std::uint64_t NumPreempted() const {
    return end_.Visit([]([[maybe_unused]] auto* duct) -> std::uint64_t {
      if constexpr (requires { duct->NumPreempted(); })
        return duct == nullptr ? 0 : duct->NumPreempted();
      return 0;
    });
  }

  bool IsCountedByDuct() const {
    return end_.Visit([]<typename D>(D*) { return counts<D> || is_null_duct<D>; });
  }

  End end_;
  SmallRecord<Past> drops_;  // the number of drops; few ends need the record
  [[no_unique_address]] Owner owner_;
};

}  // namespace uit
