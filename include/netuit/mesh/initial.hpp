#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <utility>

#include <netuit/graph/topology.hpp>

namespace netuit {

/// What a field holds of each node in the beginning: one value for all, or what a function of the node's id returns, the
/// same function on every process; by default `T{}`.
template <typename T>
class Initial {
 public:
  /// `T{}`.
  Initial() : of_([](NodeId) { return T{}; }) {}
  /// One value for all.
  template <std::convertible_to<T> V>
    requires(!std::invocable<const V&, NodeId>)
  Initial(V value)  // NOLINT(google-explicit-constructor): a value is what a field may hold
    requires std::copyable<T>
      : of_([value = static_cast<T>(std::move(value))](NodeId) { return value; }) {}
  /// What `of(node id)` returns.
  template <std::invocable<NodeId> F>
    requires std::convertible_to<std::invoke_result_t<F, NodeId>, T>
  Initial(F of)  // NOLINT(google-explicit-constructor): a function is what a field may be filled from
      : of_([of = std::move(of)](NodeId id) { return static_cast<T>(of(id)); }) {}

  /// Of a node.
  T operator()(NodeId id) const { return of_(id); }

 private:
  std::function<T(NodeId)> of_;
};

}  // namespace netuit
