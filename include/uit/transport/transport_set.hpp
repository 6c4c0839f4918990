#pragma once

#include <concepts>

#include <uit/duct/duct.hpp>
#include <uit/duct/null_duct.hpp>
#include <uit/policy.hpp>
#include <uit/support/ref.hpp>
#include <uit/transport/in_process.hpp>
#include <uit/transport/transport.hpp>

namespace uit {

/// The transports that may join an end: chosen at compile time, closed at run time.
///
/// Each end refers to a duct of one of these transports, or is muted. A splice changes which. With a single transport, a
/// put or a step calls its duct directly; such an end cannot be muted.
///
///     using MyTransports = uit::TransportSet<uit::Intra, uit::Thread, MyTransport>;
///     auto [inlet, outlet] = uit::Conduit<int, uit::Policy{}, MyTransports>{MyTransport{}};
template <Transport... Members>
struct TransportSet {
  /// True if `X` may join an end.
  template <typename X>
  static constexpr bool has = std::same_as<X, Null> || (std::same_as<X, Members> || ...);

  /// The reference that an inlet of such messages holds.
  template <Message T, Policy policy>
    requires(Transport<Members, T, policy> && ...)
  using InletEnd = AnyRef<NullDuct<T>, typename Members::template InletDuctFor<T, policy>...>;
  /// The reference that an outlet of such messages holds.
  template <Message T, Policy policy>
    requires(Transport<Members, T, policy> && ...)
  using OutletEnd = AnyRef<NullDuct<T>, typename Members::template OutletDuctFor<T, policy>...>;
};

/// A set of one transport: no choice at run time, and no muting.
template <Transport Member>
struct TransportSet<Member> {
  /// True if `X` may join an end.
  template <typename X>
  static constexpr bool has = std::same_as<X, Member>;

  /// The reference that an inlet of such messages holds.
  template <Message T, Policy policy>
    requires Transport<Member, T, policy>
  using InletEnd = AnyRef<typename Member::template InletDuctFor<T, policy>>;
  /// The reference that an outlet of such messages holds.
  template <Message T, Policy policy>
    requires Transport<Member, T, policy>
  using OutletEnd = AnyRef<typename Member::template OutletDuctFor<T, policy>>;
};

/// A transport set `W` that has ends for messages of type `T` under `policy`.
template <typename W, typename T, Policy policy>
concept TransportSetFor = requires {
  typename W::template InletEnd<T, policy>;
  typename W::template OutletEnd<T, policy>;
};

/// True if `X` is a transport of the transport set `W`.
template <typename X, typename W>
concept TransportIn = W::template has<X>;

/// The transports within a process.
using InProcess = TransportSet<Intra, Thread>;

}  // namespace uit
