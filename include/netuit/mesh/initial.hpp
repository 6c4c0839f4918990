#pragma once

#include <concepts>
#include <functional>
#include <utility>

#include <netuit/graph/topology.hpp>

namespace netuit {

/// The initial values of a field: one value for all nodes, or a function of the node's id. The default is `T{}`. The function
/// must be the same on every process.
template <typename T>
class Initial {
 public:
  /// Gives every node `T{}`.
  Initial() : of_([](NodeId) { return T{}; }) {}
  /// Gives every node the same value.
  template <std::convertible_to<T> V>
    requires(!std::invocable<const V&, NodeId>)
  Initial(V value)  // NOLINT(google-explicit-constructor): a value is what a field may hold
    requires std::copyable<T>
      : of_([value = static_cast<T>(std::move(value))](NodeId) { return value; }) {}
  /// Gives each node `of(node id)`.
  template <std::invocable<NodeId> F>
    requires std::convertible_to<std::invoke_result_t<F, NodeId>, T>
  Initial(F of)  // NOLINT(google-explicit-constructor): a function is what a field may be filled from
      : of_([of = std::move(of)](NodeId id) { return static_cast<T>(of(id)); }) {}

  /// Returns the initial value of a node.
  T operator()(NodeId id) const { return of_(id); }

 private:
  std::function<T(NodeId)> of_;
};

}  // namespace netuit
