#pragma once

#include <concepts>
#include <utility>

#include <uit/duct/duct.hpp>
#include <uit/duct/null_duct.hpp>
#include <uit/policy.hpp>
#include <uit/support/ref.hpp>

namespace uit {

namespace detail {


template <typename D, typename T>
concept CountedInletDuct = std::derived_from<D, RefCounted> && InletDuct<D, T>;
template <typename D, typename T>
concept CountedOutletDuct = std::derived_from<D, RefCounted> && OutletDuct<D, T>;

}  // namespace detail

/// A transport knows how to open ends between two locations. Its fields are the run-time options.
///
/// - `InletDuctFor<T, policy>`, `OutletDuctFor<T, policy>`: the ducts that the ends refer to. Both derive from RefCounted.
///   They are the same type if one object serves both ends.
/// - Within this process: `OpenPair<T, policy>(T initial)`, which returns a `std::pair` of a `Ref<InletDuctFor>` and a
///   `Ref<OutletDuctFor>`. Before the first step, the outlet's message is `initial`.
/// - Beyond this process, one or both halves: `OpenInlet<T, policy>() -> Ref<InletDuctFor>`, `OpenOutlet<T, policy>(T
///   initial) -> Ref<OutletDuctFor>`.
///
/// A transport need not support every `T` and `policy`.
template <typename X, typename T = int, Policy policy = Policy{}>
concept Transport =
    detail::CountedInletDuct<typename X::template InletDuctFor<T, policy>, T> &&
    detail::CountedOutletDuct<typename X::template OutletDuctFor<T, policy>, T>;

/// A transport that opens both ends at once.
template <typename X, typename T = int, Policy policy = Policy{}>
concept PairTransport = Transport<X, T, policy> && requires(const X& transport, T initial) {
  {
    transport.template OpenPair<T, policy>(std::move(initial))
  } -> std::same_as<std::pair<Ref<typename X::template InletDuctFor<T, policy>>,
                              Ref<typename X::template OutletDuctFor<T, policy>>>>;
};

/// A transport that opens the sending end alone.
template <typename X, typename T = int, Policy policy = Policy{}>
concept InletTransport = Transport<X, T, policy> && requires(const X& transport) {
  {
    transport.template OpenInlet<T, policy>()
  } -> std::same_as<Ref<typename X::template InletDuctFor<T, policy>>>;
};

/// A transport that opens the receiving end alone.
template <typename X, typename T = int, Policy policy = Policy{}>
concept OutletTransport = Transport<X, T, policy> && requires(const X& transport, T initial) {
  {
    transport.template OpenOutlet<T, policy>(std::move(initial))
  } -> std::same_as<Ref<typename X::template OutletDuctFor<T, policy>>>;
};

/// Connects nothing: an inlet is muted, and an outlet keeps the last value. It is the first member of every transport set
/// that has more than one member.
struct Null {
  /// The duct that an inlet refers to.
  template <Message T, Policy policy>
  using InletDuctFor = NullDuct<T>;
  /// The duct that an outlet refers to.
  template <Message T, Policy policy>
  using OutletDuctFor = NullDuct<T>;

  /// A muted inlet, and an outlet that keeps `initial`.
  template <Message T, Policy policy>
  [[nodiscard]] std::pair<Ref<NullDuct<T>>, Ref<NullDuct<T>>> OpenPair(T initial) const {
    return {Ref<NullDuct<T>>{}, OpenOutlet<T, policy>(std::move(initial))};
  }
  /// A muted inlet, which needs no duct.
  template <Message T, Policy policy>
  [[nodiscard]] Ref<NullDuct<T>> OpenInlet() const {
    return {};
  }
  /// An outlet that keeps `initial`.
  template <Message T, Policy policy>
  [[nodiscard]] Ref<NullDuct<T>> OpenOutlet(T initial) const {
    return MakeRef<NullDuct<T>>(std::move(initial));
  }
};

static_assert(PairTransport<Null> && InletTransport<Null> && OutletTransport<Null>);

}  // namespace uit
