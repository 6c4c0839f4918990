#pragma once

#include <concepts>
#include <cstdint>

#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/partition.hpp>

namespace netuit::detail {

/// Calls the user's update function for all nodes of a worker. The run loop uses it only through this interface. All workers of
/// a process call it at once, each for its own nodes.
class Sweep {
 public:
  Sweep() = default;
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;
  virtual ~Sweep() = default;

  /// Updates every node of a worker, and returns whether a node has requested a stop. If an update throws, the exception is
  /// passed on, and `position` is the node's number. That node and the later ones publish nothing; puts already made count.
  virtual bool Update(std::uint32_t thread, std::uint64_t update, std::uint32_t& position) = 0;
};

/// A sweep that calls a function of type `F` for each node.
template <std::invocable<Node&> F>
class NodeSweep final : public Sweep {
 public:
  /// Refers to the mesh and the function. `seed` is the run's seed.
  NodeSweep(const MeshCore& mesh, std::uint64_t seed, F& update) : mesh_(mesh), seed_(seed), update_(update) {}

  bool Update(std::uint32_t thread, std::uint64_t update, std::uint32_t& position) override {
    Partition& partition = *mesh_.Partitions()[thread];
    Node node(partition, seed_, update);
    const auto num_nodes = static_cast<std::uint32_t>(partition.NumNodes());
    std::uint32_t i = 0;
    try {
      for (; i < num_nodes; ++i) {
        node.GoTo(i);
        update_(node);
      }
    } catch (...) {
      position = i;
      for (; i < num_nodes; ++i) {
        node.GoTo(i);
        node.StaySilent();
      }
      throw;
    }
    return node.WantsStop();
  }

 private:
  const MeshCore& mesh_;
  std::uint64_t seed_;
  F& update_;
};

}  // namespace netuit::detail
