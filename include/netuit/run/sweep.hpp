#pragma once

#include <concepts>
#include <cstdint>

#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/partition.hpp>

namespace netuit::detail {

/// The user's function, called for all nodes of a worker: all that the run loop knows of it. All workers of a process at
/// once, each with its own nodes.
class Sweep {
 public:
  Sweep() = default;
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;
  virtual ~Sweep() = default;

  /// Updates every node of a worker. What an update throws comes out, and `position` is then where; it and the nodes behind
  /// it count with what they have put.
  /// Returns whether a node has asked for the end of the run.
  virtual bool Update(std::uint32_t thread, std::uint64_t update, std::uint32_t& position) = 0;
};

/// A sweep over a mesh's nodes that calls `F`.
template <std::invocable<Node&> F>
class NodeSweep final : public Sweep {
 public:
  /// Refers to the mesh and the function; nodes' random numbers begin with `seed`.
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
