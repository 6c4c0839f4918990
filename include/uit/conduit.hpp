#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <uit/duct/duct.hpp>
#include <uit/duct/null_duct.hpp>
#include <uit/inlet.hpp>
#include <uit/outlet.hpp>
#include <uit/policy.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/tally.hpp>
#include <uit/transport/transport.hpp>
#include <uit/transport/transport_set.hpp>

namespace uit {

/// An inlet and an outlet, joined.
///
///     auto [inlet, outlet] = uit::Conduit<double>{uit::Thread{.depth = 16}};
template <Message T, Policy policy = Policy{}, typename W = InProcess>
  requires TransportSetFor<W, T, policy>
struct Conduit {
  /// Where messages are put.
  Inlet<T, policy, W> inlet;
  /// Where they are read.
  Outlet<T, policy, W> outlet;

  /// Joined by `transport`; the outlet gets `initial` before its first step.
  template <PairTransport<T, policy> X>
    requires TransportIn<X, W>
  explicit Conduit(const X& transport, T initial = T{})
      : Conduit{transport.template OpenPair<T, policy>(std::move(initial))} {}

 private:
  template <typename In, typename Out>
  explicit Conduit(std::pair<Ref<In>, Ref<Out>> ends)
      : inlet{std::move(ends.first)}, outlet{std::move(ends.second)} {}
};

namespace detail {

/// The current message of an outlet, copied if that is possible.
template <Message T, Policy policy, typename W>
T TakeCurrent(Outlet<T, policy, W>& outlet) {
  return outlet.Bound().Visit([](auto* duct) -> T {
    if (duct == nullptr) return T{};
    if constexpr (std::copyable<T>)
      return std::as_const(*duct).Get();
    else if constexpr (requires { { duct->Get() } -> std::same_as<T&>; })
      return std::move(duct->Get());
    else
      return T{};
  });
}

/// Makes all that was published ready to be stepped to.
template <typename D>
void Release(D& duct) {
  if constexpr (requires { duct.HoldOutlet(false); }) duct.HoldOutlet(false);
  Poll(duct);
}

/// Puts the current message of one duct, which stands for `num_messages`, into another, by moving it if that is possible.
template <Message T, typename From, typename To>
bool Carry(From& from, [[maybe_unused]] std::uint64_t num_messages, To* to) {
  if constexpr (is_null_duct<To>)
    return false;
  else if constexpr (requires { { to->TryCarry(from.Get(), num_messages) } -> std::same_as<bool>; })
    return to->TryCarry(from.Get(), num_messages);
  else if constexpr (requires { { from.Get() } -> std::same_as<T&>; })
    return to->TryPut(std::move(from.Get()));
  else if constexpr (std::copyable<T>)
    return to->TryPut(from.Get());
  else
    return false;
}

template <typename D>
std::uint64_t NumPreempted(const D& duct) {
  if constexpr (requires { duct.NumPreempted(); }) return duct.NumPreempted();
  return 0;
}

template <typename D>
std::uint64_t NumFolded(const D& duct) {
  if constexpr (requires { duct.NumFolded(); }) return duct.NumFolded();
  return 0;
}

/// How long a splice waits for messages that another thread or the wire has yet to bring.
inline constexpr std::chrono::milliseconds splice_patience{100};

}  // namespace detail

/// Re-joins two ends by `transport`, while no other thread uses either.
///
/// Messages that were under way are carried over, in order; those that find no room count as unread. A sum is carried as
/// one, and goes on to stand for as many messages as before.
/// The current message stays the outlet's to get, until its next step. Tallies go on, holds end. What the wire does not
/// bring within a tenth of a second, because its fabric is not connected, is for the next pair on the same channel.
template <Message T, Policy policy, typename W, PairTransport<T, policy> X>
  requires TransportIn<X, W>
void Splice(Inlet<T, policy, W>& inlet, Outlet<T, policy, W>& outlet, const X& transport) {
  inlet.Hold(false);
  inlet.TryFlush();
  Tally before;
  before += inlet.Tally();
  before += outlet.Tally();

  auto [inlet_end, outlet_end] = transport.template OpenPair<T, policy>(detail::TakeCurrent(outlet));
  const auto old_outlet_end = outlet.Rebind(outlet_end);
  old_outlet_end.Visit([&, &to = inlet_end]<typename D>(D* from) {
    if (from == nullptr) return;
    detail::Release(*from);
    const std::uint64_t num_preempted_before = detail::NumPreempted(*from);
    std::int64_t num_stepped = 0;  // messages, those of a sum among them
    const auto carry_all = [&] {
      for (;;) {
        const std::uint64_t num_folded_before = detail::NumFolded(*from);
        if (from->TryStep(1) == 0) break;
        const std::uint64_t num_messages = 1 + detail::NumFolded(*from) - num_folded_before;
        num_stepped += static_cast<std::int64_t>(num_messages);
        if (!detail::Carry<T>(*from, num_messages, to.get())) outlet.CountUnread(num_messages);
      }
      const std::uint64_t num_preempted = detail::NumPreempted(*from) - num_preempted_before;
      return num_stepped + static_cast<std::int64_t>(num_preempted) >= before.InFlight();
    };
    if constexpr (InletDuct<D, T>) {
      carry_all();
    } else {
      // The two sides are different objects, and something may still be between them.
      WaitUntil(carry_all, After(detail::splice_patience), [&] {
        inlet.TryFlush();  // again: a pool may have had to wait for its peer
        inlet.Bound().Visit([]<typename I>(I* sender) {
          if constexpr (!is_null_duct<I>) Poll(*sender);
        });
        Poll(*from);
      });
      outlet.CountPreempted(detail::NumPreempted(*from) - num_preempted_before);
    }
  });
  if (inlet_end) inlet.CountPreempted(detail::NumPreempted(*inlet_end));
  inlet.Rebind(std::move(inlet_end));
}

/// Binds an inlet to the sending half that `transport` opens, while no other thread uses it. What it
/// has put before stays with the outlet it was joined to.
template <Message T, Policy policy, typename W, InletTransport<T, policy> X>
  requires TransportIn<X, W>
void Splice(Inlet<T, policy, W>& inlet, const X& transport) {
  inlet.Hold(false);
  inlet.TryFlush();
  inlet.Rebind(transport.template OpenInlet<T, policy>());
}

/// Binds an outlet to the receiving half that `transport` opens, while no other thread uses it. What
/// had arrived counts as unread; the current message stays.
template <Message T, Policy policy, typename W, OutletTransport<T, policy> X>
  requires TransportIn<X, W>
void Splice(Outlet<T, policy, W>& outlet, const X& transport) {
  const auto old_end =
      outlet.Rebind(transport.template OpenOutlet<T, policy>(detail::TakeCurrent(outlet)));
  old_end.Visit([&]<typename D>(D* duct) {
    if (duct == nullptr) return;
    detail::Release(*duct);
    std::uint64_t num_preempted_before = 0;  // on this side, where the two are different objects
    if constexpr (!InletDuct<D, T>) num_preempted_before = detail::NumPreempted(*duct);
    const std::uint64_t num_folded_before = detail::NumFolded(*duct);
    while (const std::size_t count = duct->TryStep(no_limit)) outlet.CountUnread(count);
    outlet.CountUnread(detail::NumFolded(*duct) - num_folded_before);
    if constexpr (!InletDuct<D, T>)
      outlet.CountPreempted(detail::NumPreempted(*duct) - num_preempted_before);
  });
}

/// From now on puts go nowhere, and count as muted. What was put before can still be read.
template <Message T, Policy policy, typename W>
  requires TransportIn<Null, W>
void Mute(Inlet<T, policy, W>& inlet) {
  Splice(inlet, Null{});
}

}  // namespace uit
