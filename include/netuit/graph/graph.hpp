#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

/// A way to get a graph. Only rank 0, which needs the whole graph, reads or makes it.
///
///     const netuit::Graph streets = netuit::LoadGraph("streets.edgelist");   // nothing is read yet
///     netuit::Mesh mesh{team, streets};                                      // rank 0 reads; each process gets its part
///
/// A topology, or a function that returns one, converts to a graph.
class Graph {
 public:
  /// Of an existing topology.
  Graph(Topology topology);  // NOLINT(google-explicit-constructor): a topology is a graph
  /// Of the topology that `make()` returns. `make` is called once, at the first Get.
  template <std::invocable F>
    requires std::same_as<std::invoke_result_t<F>, Topology>
  Graph(F make)  // NOLINT(google-explicit-constructor): a way to make a topology is a graph
      : make_([make = std::move(make), made = std::make_shared<std::shared_ptr<const Topology>>()] {
          if (*made == nullptr) *made = std::make_shared<const Topology>(make());
          return *made;
        }) {}

  /// Returns the topology. Throws the exceptions of `make`. One thread at a time.
  const Topology& Get() const;
  /// As Get.
  operator const Topology&() const { return Get(); }  // NOLINT(google-explicit-constructor)

 private:
  std::function<std::shared_ptr<const Topology>()> make_;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/graph/graph.ipp>
#endif
