#pragma once

#include <concepts>
#include <cstdint>

#include <netuit/run/node.hpp>

namespace netuit::detail {

/// Stands for a run that leaves what its nodes have not read unread.
struct NoCollection {};

/// The user's functions, called for all nodes of a place: all that a worker knows of them, so that the run loop is compiled
/// once for a mesh, whatever its nodes do. All workers of a process at once, each with its own place.
template <typename M>
class Sweep {
 public:
  using Share = typename M::Share;  ///< of the mesh

  /// Of a run with this seed.
  explicit Sweep(std::uint64_t seed) : seed_(seed) {}
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;
  virtual ~Sweep() = default;

  /// Updates every node. What an update throws comes out, and `position` is then where; it and the nodes behind it count
  /// with what they have put.
  virtual void Update(Share& share, std::uint64_t update, std::uint32_t& position) = 0;
  /// Whether there is anything to collect.
  virtual bool Collects() const = 0;
  /// Lets every node collect, after `num_updates` updates.
  virtual void Collect(Share& share, std::uint64_t num_updates) = 0;

 protected:
  /// What the nodes' random numbers begin with.
  std::uint64_t Seed() const { return seed_; }

 private:
  std::uint64_t seed_;
};

/// A sweep that calls `F` to update and `C` to collect; `synchronous` in mode 0.
template <typename M, typename F, typename C, bool synchronous>
class SweepBy final : public Sweep<M> {
 public:
  using typename Sweep<M>::Share;

  /// Refers to both functions.
  SweepBy(std::uint64_t seed, F& update, C& collect) : Sweep<M>(seed), update_(update), collect_(collect) {}

  void Update(Share& share, std::uint64_t update, std::uint32_t& position) override {
    const auto num_nodes = static_cast<std::uint32_t>(share.graph.nodes.size());
    std::uint32_t i = 0;
    Node<M, synchronous> node(share, this->Seed(), update);
    try {
      for (; i < num_nodes; ++i) {
        node.GoTo(i);
        update_(node);
        node.Commit(share);
      }
    } catch (...) {
      position = i;
      for (; i < num_nodes; ++i) {
        node.GoTo(i);
        node.Commit(share);
      }
      throw;
    }
  }
  bool Collects() const override { return !std::same_as<C, NoCollection>; }
  void Collect(Share& share, std::uint64_t num_updates) override {
    if constexpr (!std::same_as<C, NoCollection>) {
      Node<M, synchronous> node(share, this->Seed(), num_updates);
      for (std::uint32_t i = 0; i < share.graph.nodes.size(); ++i) {
        node.GoTo(i);
        collect_(node);
      }
    }
  }

 private:
  F& update_;
  C& collect_;
};

}  // namespace netuit::detail
