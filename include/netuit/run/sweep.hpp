#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <netuit/mesh/delayed_slots.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/mesh/partition.hpp>

namespace netuit::detail {

/// Calls the user's update function for all nodes of a worker. The run loop uses it only through this interface. All threads of
/// a process call it at once, each for other nodes.
class Sweep {
 public:
  Sweep() = default;
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;
  virtual ~Sweep() = default;

  /// Updates some nodes of the worker of `thread`, in this order, and returns whether a node has requested a stop. What the nodes
  /// leave for the worker is added to `notes`. If an update throws, the exception is passed on, and `position` is the node's
  /// number. That node and the later ones publish nothing; puts already made count.
  virtual bool Update(std::uint32_t thread, std::uint64_t update, std::span<const NodeRange> nodes, NodeNotes& notes,
                      std::uint32_t& position) = 0;
};

/// A sweep that calls a function of type `F` for each node.
template <std::invocable<Node&> F>
class NodeSweep final : public Sweep {
 public:
  /// Refers to the mesh and the function. `seed` and `first` are the run's seed and the number of its first update.
  NodeSweep(const MeshCore& mesh, std::uint64_t seed, std::uint64_t first, F& update)
      : mesh_(mesh), seed_(seed), first_(first), update_(update) {}

  bool Update(std::uint32_t thread, std::uint64_t update, std::span<const NodeRange> nodes, NodeNotes& notes,
              std::uint32_t& position) override {
    Node node(*mesh_.Partitions()[thread], notes, seed_, first_ + update);
    F& call = update_;  // a call may change any member, as far as the compiler knows
    for (std::size_t range = 0; range < nodes.size(); ++range) {
      const std::uint32_t end = nodes[range].end;
      std::uint32_t i = nodes[range].begin;
      try {
        for (; i < end; ++i) {
          node.GoTo(i);
          call(node);
        }
      } catch (...) {
        position = i;
        Silence(node, {i, end});
        for (const NodeRange& later : nodes.subspan(range + 1)) Silence(node, later);
        throw;
      }
    }
    return node.WantsStop();
  }

 private:
  static void Silence(Node& node, const NodeRange& nodes) {
    for (std::uint32_t i = nodes.begin; i < nodes.end; ++i) {
      node.GoTo(i);
      node.StaySilent();
    }
  }

  const MeshCore& mesh_;
  std::uint64_t seed_;
  std::uint64_t first_;
  F& update_;
};

}  // namespace netuit::detail
