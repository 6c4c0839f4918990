#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <netuit/graph/topology.hpp>

namespace netuit {

/// How to get a graph. Only the process that needs the whole graph, rank 0, reads or makes it.
///
///     const netuit::Graph streets = netuit::LoadGraph("streets.edgelist");   // nothing is read yet
///     netuit::Mesh mesh{team, streets};                                      // rank 0 reads; each process gets its part
///
/// A topology, or a function that returns one, can stand wherever a graph is wanted.
class Graph {
 public:
  /// Of a topology that exists already.
  Graph(Topology topology)  // NOLINT(google-explicit-constructor): a topology is a graph
      : make_([shared = std::make_shared<const Topology>(std::move(topology))] { return shared; }) {}
  /// Of what `make()` returns. `make` is called when the topology is first asked for, once.
  template <std::invocable F>
    requires std::same_as<std::invoke_result_t<F>, Topology>
  Graph(F make)  // NOLINT(google-explicit-constructor): a way to make a topology is a graph
      : make_([make = std::move(make), made = std::make_shared<std::shared_ptr<const Topology>>()] {
          if (*made == nullptr) *made = std::make_shared<const Topology>(make());
          return *made;
        }) {}

  /// The topology. Throws what making it throws. One thread at a time.
  const Topology& Get() const { return *make_(); }
  /// The same.
  operator const Topology&() const { return Get(); }  // NOLINT(google-explicit-constructor)

 private:
  std::function<std::shared_ptr<const Topology>()> make_;
};

}  // namespace netuit
