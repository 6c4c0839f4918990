#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/node_random.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/support/assert.hpp>

namespace netuit {

/// An edge that ends at a node. Valid while its mesh exists; cheap to copy.
class InEdge {
 public:
  /// For the library: the edge whose neighbour's slot stands at `slot` in `part`.
  InEdge(const NetworkPart& part, const std::uint32_t* slot) : part_(&part), slot_(slot) {}

  /// The node that it comes from.
  NodeId Source() const { return part_->graph.sources[Local()]; }
  /// Its number in its network: by source, then in the order of the source's outputs.
  EdgeId Id() const { return part_->graph.in_edges[Local()]; }

  /// For fields: where the neighbour's value stands.
  std::uint32_t Slot() const { return *slot_; }
  /// For edge fields: its number among the inputs of this process.
  std::size_t Index() const { return part_->first_input + Local(); }
  /// For channels: its number among the inputs of its worker.
  std::size_t Local() const { return static_cast<std::size_t>(slot_ - part_->in_slots.data()); }
  /// For channels: the worker that has it.
  std::uint32_t Worker() const { return part_->graph.worker; }

 private:
  const NetworkPart* part_;
  const std::uint32_t* slot_;
};

/// An edge that begins at a node. Valid while its mesh exists; cheap to copy.
class OutEdge {
 public:
  /// For the library: output number `local` of `part`.
  OutEdge(const NetworkPart& part, std::size_t local) : part_(&part), local_(local) {}

  /// The node that it leads to.
  NodeId Target() const { return part_->graph.targets[local_]; }
  /// Its number in its network: by source, then in the order of the source's outputs.
  EdgeId Id() const { return part_->graph.out_edges[local_]; }

  /// For edge fields: its number among the outputs of this process.
  std::size_t Index() const { return part_->first_output + local_; }
  /// For channels: its number among the outputs of its worker.
  std::size_t Local() const { return local_; }
  /// For channels: the worker that has it.
  std::uint32_t Worker() const { return part_->graph.worker; }

 private:
  const NetworkPart* part_;
  std::size_t local_;
};

/// The edges that end at a node, in the order of its inputs; `extent` of them, if that is known when compiling.
template <std::size_t extent = std::dynamic_extent>
class InEdges {
 public:
  /// Goes from edge to edge.
  class Iterator {
   public:
    using value_type = InEdge;                    ///< what it gives
    using difference_type = std::ptrdiff_t;       ///< asked for by std::forward_iterator
    Iterator() = default;
    /// At the edge whose neighbour's slot stands at `slot`.
    Iterator(const NetworkPart* part, const std::uint32_t* slot) : part_(part), slot_(slot) {}
    InEdge operator*() const { return {*part_, slot_}; }              ///< the edge
    Iterator& operator++() { return ++slot_, *this; }                 ///< to the next one
    Iterator operator++(int) { return {part_, slot_++}; }             ///< to the next one
    /// Whether both stand at one edge.
    bool operator==(const Iterator& other) const { return slot_ == other.slot_; }

   private:
    const NetworkPart* part_ = nullptr;
    const std::uint32_t* slot_ = nullptr;
  };

  /// Of the edges whose neighbours' slots stand in [first, last).
  InEdges(const NetworkPart& part, const std::uint32_t* first, const std::uint32_t* last)
      : part_(&part), first_(first), last_(last) {
    UIT_ASSERT_HEAVY(extent == std::dynamic_extent || static_cast<std::size_t>(last - first) == extent,
                     "every node has as many inputs as In<N> says");
  }
  Iterator begin() const { return {part_, first_}; }  ///< the first edge
  Iterator end() const { return {part_, extent == std::dynamic_extent ? last_ : first_ + extent}; }  ///< beyond the last
  /// How many there are.
  std::size_t size() const { return extent == std::dynamic_extent ? static_cast<std::size_t>(last_ - first_) : extent; }
  /// Edge i.
  InEdge operator[](std::size_t i) const { return {*part_, first_ + i}; }

 private:
  const NetworkPart* part_;
  const std::uint32_t* first_;
  const std::uint32_t* last_;
};

/// The edges that begin at a node, in the order of its outputs.
class OutEdges {
 public:
  /// Goes from edge to edge.
  class Iterator {
   public:
    using value_type = OutEdge;               ///< what it gives
    using difference_type = std::ptrdiff_t;   ///< asked for by std::forward_iterator
    Iterator() = default;
    /// At an output of `part`.
    Iterator(const NetworkPart* part, std::size_t local) : part_(part), local_(local) {}
    OutEdge operator*() const { return {*part_, local_}; }            ///< the edge
    Iterator& operator++() { return ++local_, *this; }                ///< to the next one
    Iterator operator++(int) { return {part_, local_++}; }            ///< to the next one
    /// Whether both stand at one edge.
    bool operator==(const Iterator& other) const { return local_ == other.local_; }

   private:
    const NetworkPart* part_ = nullptr;
    std::size_t local_ = 0;
  };

  /// Of the outputs [first, last) of `part`.
  OutEdges(const NetworkPart& part, std::size_t first, std::size_t last) : part_(&part), first_(first), last_(last) {}
  Iterator begin() const { return {part_, first_}; }  ///< the first edge
  Iterator end() const { return {part_, last_}; }     ///< beyond the last
  /// How many there are.
  std::size_t size() const { return last_ - first_; }
  /// Edge i.
  OutEdge operator[](std::size_t i) const { return {*part_, first_ + i}; }

 private:
  const NetworkPart* part_;
  std::size_t first_;
  std::size_t last_;
};

/// The node that is being updated: what a run hands to its update function. Valid during the call.
///
///     [&](netuit::Node& node) {
///       double sum = 0;
///       for (auto edge : node.In()) sum += weight[edge] * theta[edge];
///       theta[node] = sum;
///     }
class Node {
 public:
  /// For the run loop: a worker's nodes in one update; random numbers begin with `seed`.
  Node(Partition& partition, std::uint64_t seed, std::uint64_t update)
      : partition_(partition), base_(*partition.networks.front()), seed_(seed), update_(update) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Its number in the whole graph.
  NodeId Id() const { return base_.graph.nodes[node_]; }
  /// What the graph's file calls it.
  std::string Label() const { return base_.graph.Label(node_); }
  /// Its number within this process, from 0 without gaps: the index for data of one's own.
  std::size_t Index() const { return partition_.first_local + node_; }
  /// The number of this update, from 0; each worker counts its own.
  std::uint64_t Update() const { return update_; }
  /// Its random numbers for this update: they depend on the run's seed, the node and the update, and on nothing else.
  NodeRandom Random() const { return {seed_, Id(), update_}; }

  /// The edges of a network that end here, in the order of inputs.
  InEdges<> In(Network network = {}) const { return InOf<std::dynamic_extent>(network); }
  /// The same, where every node has `degree` inputs: loops over them are unrolled.
  template <std::size_t degree>
  InEdges<degree> In(Network network = {}) const {
    return InOf<degree>(network);
  }
  /// The edges of a network that begin here, in the order of outputs. While edges are undirected, input i and output i face
  /// the same neighbour.
  OutEdges Out(Network network = {}) const {
    const NetworkPart& part = PartOf(network);
    return {part, part.graph.first_out[node_], part.graph.first_out[node_ + 1]};
  }
  /// Whether a network's period has come round: the values that its edges show are those of the update before.
  bool IsDue(Network network = {}) const { return update_ % PartOf(network).period == 0; }

  /// Publishes nothing in this update, because nothing has changed. What has been written to a published field all the same
  /// is seen at the node's next publication at the latest.
  void StaySilent() {
    if (partition_.silent.empty() || partition_.silent.back() != node_) partition_.silent.push_back(node_);
  }
  /// Asks all workers to end the run: each finishes the update that it is at. No error.
  void RequestStop() { wants_stop_ = true; }

  /// For fields: where its own values stand.
  std::size_t Slot() const { return base_.first_slot + node_; }
  /// For the run loop: goes to a node of the worker.
  void GoTo(std::uint32_t node) { node_ = node; }
  /// For the run loop: whether a node has asked for the end.
  bool WantsStop() const { return wants_stop_; }

 private:
  const NetworkPart& PartOf(Network network) const {
    UIT_ASSERT_HEAVY(network.number < partition_.networks.size(), "the mesh has the network");
    return network.number == 0 ? base_ : *partition_.networks[network.number];
  }
  template <std::size_t extent>
  InEdges<extent> InOf(Network network) const {
    const NetworkPart& part = PartOf(network);
    const std::uint32_t* const slots = part.in_slots.data();
    return {part, slots + part.graph.first_in[node_], slots + part.graph.first_in[node_ + 1]};
  }

  Partition& partition_;
  const NetworkPart& base_;
  std::uint64_t seed_;
  std::uint64_t update_;
  std::uint32_t node_ = 0;
  bool wants_stop_ = false;
};

}  // namespace netuit
