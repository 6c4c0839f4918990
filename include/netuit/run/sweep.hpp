#pragma once

#include <concepts>
#include <cstdint>

#include <netuit/run/node.hpp>

namespace netuit::detail {

/// Stands for a run that leaves what its nodes have not read unread.
struct NoCollection {};

/// The user's functions, called for all nodes of a worker: all that the run loop knows of them. All workers of a process at
/// once, each with its own nodes.
class Sweep {
 public:
  Sweep() = default;
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;
  virtual ~Sweep() = default;

  /// Updates every node of a worker. What an update throws comes out, and `position` is then where; it and the nodes behind
  /// it count with what they have put.
  virtual void Update(std::uint32_t thread, std::uint64_t update, std::uint32_t& position) = 0;
  /// Whether there is anything to collect.
  virtual bool Collects() const = 0;
  /// Lets every node of a worker collect, after `num_updates` updates.
  virtual void Collect(std::uint32_t thread, std::uint64_t num_updates) = 0;
};

/// A sweep that calls `F` to update and `C` to collect; `synchronous` in mode 0.
template <typename M, typename F, typename C, bool synchronous>
class SweepBy final : public Sweep {
 public:
  /// Refers to the mesh and both functions; nodes' random numbers begin with `seed`.
  SweepBy(M& mesh, std::uint64_t seed, F& update, C& collect) : mesh_(mesh), seed_(seed), update_(update), collect_(collect) {}

  void Update(std::uint32_t thread, std::uint64_t update, std::uint32_t& position) override {
    const auto num_nodes = static_cast<std::uint32_t>(mesh_.Partitions()[thread]->graph.nodes.size());
    std::uint32_t i = 0;
    TaggedNode<M, synchronous> node(mesh_, thread, seed_, update);
    try {
      for (; i < num_nodes; ++i) {
        node.GoTo(i);
        update_(node);
        node.Commit(mesh_, thread);
      }
    } catch (...) {
      position = i;
      for (; i < num_nodes; ++i) {
        node.GoTo(i);
        node.Commit(mesh_, thread);
      }
      throw;
    }
  }
  bool Collects() const override { return !std::same_as<C, NoCollection>; }
  void Collect(std::uint32_t thread, std::uint64_t num_updates) override {
    if constexpr (!std::same_as<C, NoCollection>) {
      TaggedNode<M, synchronous> node(mesh_, thread, seed_, num_updates);
      for (std::uint32_t i = 0; i < mesh_.Partitions()[thread]->graph.nodes.size(); ++i) {
        node.GoTo(i);
        collect_(node);
      }
    }
  }

 private:
  M& mesh_;
  std::uint64_t seed_;
  F& update_;
  C& collect_;
};

}  // namespace netuit::detail
