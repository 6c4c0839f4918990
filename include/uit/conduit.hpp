#pragma once

#include <uit/config.hpp>  // first: it refuses compilers without C++20

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

/// A joined pair: an inlet and an outlet.
///
///     auto [inlet, outlet] = uit::Conduit<double>{uit::Thread{.depth = 16}};
template <Message T, Policy policy = Policy{}, typename W = InProcess>
  requires TransportSetFor<W, T, policy>
struct Conduit {
  /// Accepts messages.
  Inlet<T, policy, W> inlet;
  /// Delivers them.
  Outlet<T, policy, W> outlet;

  /// Joins the ends by `transport`. Before the first step, the outlet's message is `initial`.
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

/// The current message of an outlet: a copy if T can be copied, else moved out if possible, else `T{}`.
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

/// Makes every published message available to the next step.
template <typename D>
void Release(D& duct) {
  if constexpr (requires { duct.HoldOutlet(false); }) duct.HoldOutlet(false);
  Poll(duct);
}

/// Puts the current message of one duct into another, by moving if possible. The message stands for `num_messages`.
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

/// How long a splice waits for messages that another thread or a connection has not delivered yet.
inline constexpr std::chrono::milliseconds splice_patience{100};

}  // namespace detail

/// Joins two ends again, by `transport`. No other thread may use either end meanwhile.
///
/// Messages in flight move to the new duct, in order. A message that finds no room there counts as unread. A sum moves as
/// one message and stands for as many messages as before. The outlet keeps its current message until its next step. Tallies
/// continue. Holds end. Splice waits for messages in flight for at most a tenth of a second. If the fabric is not connected,
/// later messages go to the next pair on the same channel.
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
    std::int64_t num_stepped = 0;  // messages, including those in a sum
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
      // Inlet and outlet are different objects, and messages may still be between them.
      WaitUntil(carry_all, After(detail::splice_patience), [&] {
        inlet.TryFlush();  // again: a pool may have waited for its peer
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

/// Binds an inlet to the sending half that `transport` opens. No other thread may use the inlet meanwhile. Earlier
/// messages stay with the outlet that the inlet was joined to.
template <Message T, Policy policy, typename W, InletTransport<T, policy> X>
  requires TransportIn<X, W>
void Splice(Inlet<T, policy, W>& inlet, const X& transport) {
  inlet.Hold(false);
  inlet.TryFlush();
  inlet.Rebind(transport.template OpenInlet<T, policy>());
}

/// Binds an outlet to the receiving half that `transport` opens. No other thread may use the outlet meanwhile. Messages
/// that had arrived count as unread. The current message stays.
template <Message T, Policy policy, typename W, OutletTransport<T, policy> X>
  requires TransportIn<X, W>
void Splice(Outlet<T, policy, W>& outlet, const X& transport) {
  const auto old_end =
      outlet.Rebind(transport.template OpenOutlet<T, policy>(detail::TakeCurrent(outlet)));
  old_end.Visit([&]<typename D>(D* duct) {
    if (duct == nullptr) return;
    detail::Release(*duct);
    std::uint64_t num_preempted_before = 0;  // on this side, if inlet and outlet are different objects
    if constexpr (!InletDuct<D, T>) num_preempted_before = detail::NumPreempted(*duct);
    const std::uint64_t num_folded_before = detail::NumFolded(*duct);
    while (const std::size_t count = duct->TryStep(no_limit)) outlet.CountUnread(count);
    outlet.CountUnread(detail::NumFolded(*duct) - num_folded_before);
    if constexpr (!InletDuct<D, T>)
      outlet.CountPreempted(detail::NumPreempted(*duct) - num_preempted_before);
  });
}

/// Mutes an inlet: from now on each put is discarded and counts as muted. Messages put before can still be read.
template <Message T, Policy policy, typename W>
  requires TransportIn<Null, W>
void Mute(Inlet<T, policy, W>& inlet) {
  Splice(inlet, Null{});
}

}  // namespace uit
