#pragma once

#include <concepts>

#include <uit/duct/duct.hpp>
#include <uit/duct/null_duct.hpp>
#include <uit/policy.hpp>
#include <uit/support/ref.hpp>
#include <uit/transport/in_process.hpp>
#include <uit/transport/transport.hpp>

namespace uit {

/// The transports that an end may be joined by: open when compiling, closed when running.
///
/// Each end refers to a duct of any of them, or is muted, and a splice changes which. With a single
/// transport there is nothing to choose, and a put or a step goes straight to its duct; such an end
/// cannot be muted.
///
///     using MyTransports = uit::TransportSet<uit::Intra, uit::Thread, MyTransport>;
///     auto [inlet, outlet] = uit::Conduit<int, uit::Policy{}, MyTransports>{MyTransport{}};
template <Transport... Members>
struct TransportSet {
  /// An end may be joined by `X`.
  template <typename X>
  static constexpr bool has = std::same_as<X, Null> || (std::same_as<X, Members> || ...);

  /// What an inlet of such messages holds.
  template <Message T, Policy policy>
    requires(Transport<Members, T, policy> && ...)
  using InletEnd = AnyRef<NullDuct<T>, typename Members::template InletDuctFor<T, policy>...>;
  /// What an outlet of such messages holds.
  template <Message T, Policy policy>
    requires(Transport<Members, T, policy> && ...)
  using OutletEnd = AnyRef<NullDuct<T>, typename Members::template OutletDuctFor<T, policy>...>;
};

/// One transport alone: nothing to choose, and no muting.
template <Transport Member>
struct TransportSet<Member> {
  /// An end may be joined by `X`.
  template <typename X>
  static constexpr bool has = std::same_as<X, Member>;

  /// What an inlet of such messages holds.
  template <Message T, Policy policy>
    requires Transport<Member, T, policy>
  using InletEnd = AnyRef<typename Member::template InletDuctFor<T, policy>>;
  /// What an outlet of such messages holds.
  template <Message T, Policy policy>
    requires Transport<Member, T, policy>
  using OutletEnd = AnyRef<typename Member::template OutletDuctFor<T, policy>>;
};

/// Gives ends for messages of type `T` under `policy`.
template <typename W, typename T, Policy policy>
concept TransportSetFor = requires {
  typename W::template InletEnd<T, policy>;
  typename W::template OutletEnd<T, policy>;
};

/// `X` is a transport of the wiring `W`.
template <typename X, typename W>
concept TransportIn = W::template has<X>;

/// Within a process.
using InProcess = TransportSet<Intra, Thread>;

}  // namespace uit
