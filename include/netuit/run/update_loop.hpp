#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <netuit/mesh/levels.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/mesh/part.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/config.hpp>

namespace netuit::detail {

/// Calls the user's update function for all nodes of a worker. The run loop uses it only through this interface. All threads of
/// a process call it at once, each for other nodes.
class UpdateLoop {
 public:
  UpdateLoop() = default;
  UpdateLoop(const UpdateLoop&) = delete;
  UpdateLoop& operator=(const UpdateLoop&) = delete;
  virtual ~UpdateLoop() = default;

  /// Updates some nodes of the worker of `thread`, in this order, and returns whether a node has requested a stop. What the nodes
  /// leave for the worker is added to `notes`. If an update throws, the exception is passed on, and `position` is the node's
  /// number. That node and the later ones publish nothing; puts already made count.
  virtual bool Update(std::uint32_t thread, std::uint64_t update, std::span<const NodeRange> nodes, NodeNotes& notes,
                      std::uint32_t& position) = 0;
  /// Returns what threw, before the label of the node at `position`.
  virtual const char* Subject() const { return "the update of node "; }

 protected:
  /// The nodes of the ranges from number `range` on, except those before `first`, publish nothing. The ranges are ascending.
  static void Silence(NodeNotes& notes, std::uint32_t first, std::span<const NodeRange> nodes, std::size_t range);
  /// Sorts the silent nodes from position `first` on, and removes duplicates.
  static void SortSilent(NodeNotes& notes, std::size_t first);
};

/// Whether calls cannot change a function's members and nobody can tell it from a copy, as with a lambda that captures plain
/// values and is not mutable. Only a lambda with captures cannot be assigned.
template <typename F>
inline constexpr bool is_constant_closure = std::is_trivially_copyable_v<F> && !std::is_copy_assignable_v<std::remove_const_t<F>> &&
                                            std::invocable<const F&, Node&> && sizeof(F) <= 128;

/// A loop that calls a function of type `F` for each node.
template <std::invocable<Node&> F>
class NodeLoop final : public UpdateLoop {
 public:
  /// Refers to the mesh and the function. `first` is the number of the run's first update.
  NodeLoop(const MeshCore& mesh, std::uint64_t first, F& update) : mesh_(mesh), first_(first), update_(update) {}

  // A copy inlined in a caller may be compiled worse.
  UIT_NOINLINE bool Update(std::uint32_t thread, std::uint64_t update, std::span<const NodeRange> nodes, NodeNotes& notes,
                           std::uint32_t& position) override {
    Node node(*mesh_.Partitions()[thread], notes, mesh_.Seed(), first_ + update);
    // In a copy of its own, the compiler knows that no store changes what a closure has captured.
    std::conditional_t<is_constant_closure<F>, const F, F&> call = update_;
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
        Silence(notes, i, nodes, range);
        throw;
      }
    }
    return node.WantsStop();
  }

 private:
  const MeshCore& mesh_;
  std::uint64_t first_;
  F& update_;
};

/// A loop that calls a function of type `F` for each part.
template <std::invocable<Part&> F>
class PartLoop final : public UpdateLoop {
 public:
  /// As NodeLoop's.
  PartLoop(const MeshCore& mesh, std::uint64_t first, F& update) : mesh_(mesh), first_(first), update_(update) {}

  bool Update(std::uint32_t thread, std::uint64_t update, std::span<const NodeRange> nodes, NodeNotes& notes,
              std::uint32_t& position) override {
    bool wants_stop = false;
    for (std::size_t range = 0; range < nodes.size(); ++range) {
      if (nodes[range].begin == nodes[range].end) continue;  // a worker without nodes
      const std::size_t num_silent = notes.silent.size();
      Part part(*mesh_.Partitions()[thread], notes, mesh_.Seed(), first_ + update, nodes[range]);
      try {
        update_(part);
      } catch (...) {
        position = nodes[range].begin;
        notes.silent.resize(num_silent);
        Silence(notes, position, nodes, range);
        throw;
      }
      // Its nodes may have fallen silent in any order.
      if (notes.silent.size() > num_silent + 1) SortSilent(notes, num_silent);
      wants_stop |= part.WantsStop();
    }
    return wants_stop;
  }
  const char* Subject() const override { return "the update of the part that begins with node "; }

 private:
  const MeshCore& mesh_;
  std::uint64_t first_;
  F& update_;
};

template <typename F>
struct UpdateLoopFor {
  using Type = PartLoop<F>;
};
template <std::invocable<Node&> F>
struct UpdateLoopFor<F> {
  using Type = NodeLoop<F>;
};
/// The loop that calls a function of type `F`.
template <typename F>
using UpdateLoopOf = typename UpdateLoopFor<F>::Type;

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/run/update_loop.ipp>
#endif
