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

/// A reach, and how to open ends within it; its fields are the run-time options.
///
/// - `InletDuctFor<T, policy>`, `OutletDuctFor<T, policy>`: what the ends refer to; both derive from
///   RefCounted, and are one type where the duct is one object.
/// - Of a reach within this process: `OpenPair<T, policy>(T initial)`, a `std::pair` of a
///   `Ref<InletDuctFor>` and a `Ref<OutletDuctFor>`. `initial` is what the outlet gets before its
///   first step.
/// - Of a reach beyond it, one or both halves: `OpenInlet<T, policy>() -> Ref<InletDuctFor>`,
///   `OpenOutlet<T, policy>(T initial) -> Ref<OutletDuctFor>`.
///
/// `T` and `policy` are what the transport is asked to carry; a transport may be picky.
template <typename X, typename T = int, Policy policy = Policy{}>
concept Transport =
    detail::CountedInletDuct<typename X::template InletDuctFor<T, policy>, T> &&
    detail::CountedOutletDuct<typename X::template OutletDuctFor<T, policy>, T>;

/// Opens both ends at once.
template <typename X, typename T = int, Policy policy = Policy{}>
concept PairTransport = Transport<X, T, policy> && requires(const X& transport, T initial) {
  {
    transport.template OpenPair<T, policy>(std::move(initial))
  } -> std::same_as<std::pair<Ref<typename X::template InletDuctFor<T, policy>>,
                              Ref<typename X::template OutletDuctFor<T, policy>>>>;
};

/// Opens the sending end by itself.
template <typename X, typename T = int, Policy policy = Policy{}>
concept InletTransport = Transport<X, T, policy> && requires(const X& transport) {
  {
    transport.template OpenInlet<T, policy>()
  } -> std::same_as<Ref<typename X::template InletDuctFor<T, policy>>>;
};

/// Opens the receiving end by itself.
template <typename X, typename T = int, Policy policy = Policy{}>
concept OutletTransport = Transport<X, T, policy> && requires(const X& transport, T initial) {
  {
    transport.template OpenOutlet<T, policy>(std::move(initial))
  } -> std::same_as<Ref<typename X::template OutletDuctFor<T, policy>>>;
};

/// Leads nowhere: an inlet is muted, and an outlet keeps the last value. The first member of every
/// wiring that has more than one.
struct Null {
  /// What an inlet refers to.
  template <Message T, Policy policy>
  using InletDuctFor = NullDuct<T>;
  /// What an outlet refers to.
  template <Message T, Policy policy>
  using OutletDuctFor = NullDuct<T>;

  /// A muted inlet, and an outlet that keeps `initial`.
  template <Message T, Policy policy>
  [[nodiscard]] std::pair<Ref<NullDuct<T>>, Ref<NullDuct<T>>> OpenPair(T initial) const {
    return {Ref<NullDuct<T>>{}, OpenOutlet<T, policy>(std::move(initial))};
  }
  /// A muted inlet needs no duct.
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
