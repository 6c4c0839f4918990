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

/// What a worker's edges in a network have in common. Each edge has a copy: what would have to be looked up again for every
/// edge, because a user's function may change anything, stays in registers.
struct EdgeSite {
  const NetworkPart* part = nullptr;     ///< the worker's
  const std::uint32_t* slots = nullptr;  ///< where neighbours' values stand, by input of the process

  EdgeSite() = default;
  /// Of a part.
  explicit EdgeSite(const NetworkPart& of) : part(&of), slots(of.in_slots) {}
};

/// An edge that ends at a node. Valid while its mesh exists; cheap to copy.
class InEdge {
 public:
  /// For the library: an input of a worker, by its number in the process.
  InEdge(const EdgeSite& site, std::size_t index) : site_(site), index_(index) {}

  /// The node that it comes from.
  NodeId Source() const { return site_.part->graph.sources[index_ - site_.part->first_input]; }
  /// Its number in its network: by source, then in the order of the source's outputs.
  EdgeId Id() const { return site_.part->graph.in_edges[index_ - site_.part->first_input]; }

  /// For fields: where the neighbour's value stands.
  std::uint32_t Slot() const { return site_.slots[index_]; }
  /// For edge fields and channels: its number among the inputs of this process.
  std::size_t Index() const { return index_; }

 private:
  EdgeSite site_;
  std::size_t index_;
};

/// An edge that begins at a node. Valid while its mesh exists; cheap to copy.
class OutEdge {
 public:
  /// For the library: an output of a worker, by its number in the process.
  OutEdge(const EdgeSite& site, std::size_t index) : site_(site), index_(index) {}

  /// The node that it leads to.
  NodeId Target() const { return site_.part->graph.targets[index_ - site_.part->first_output]; }
  /// Its number in its network: by source, then in the order of the source's outputs.
  EdgeId Id() const { return site_.part->graph.out_edges[index_ - site_.part->first_output]; }

  /// For edge fields and channels: its number among the outputs of this process.
  std::size_t Index() const { return index_; }

 private:
  EdgeSite site_;
  std::size_t index_;
};

/// Some edges of a node, of type `E`, in the order of its inputs or outputs; `extent` of them, if that is known when compiling.
template <typename E, std::size_t extent = std::dynamic_extent>
class Edges {
 public:
  /// Goes from edge to edge.
  class Iterator {
   public:
    using value_type = E;                    ///< what it gives
    using difference_type = std::ptrdiff_t;  ///< asked for by std::forward_iterator
    Iterator() = default;
    /// At an input or output of a worker, by its number in the process.
    Iterator(const EdgeSite& site, std::size_t index) : site_(site), index_(index) {}
    E operator*() const { return {site_, index_}; }             ///< the edge
    Iterator& operator++() { return ++index_, *this; }          ///< to the next one
    Iterator operator++(int) { return {site_, index_++}; }      ///< to the next one
    /// Whether both stand at one edge.
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    EdgeSite site_;
    std::size_t index_ = 0;
  };

  /// Of the inputs or outputs [first, last) of the process, all of one worker.
  Edges(const EdgeSite& site, std::size_t first, std::size_t last) : site_(site), first_(first), last_(last) {
    UIT_ASSERT_HEAVY(extent == std::dynamic_extent || last - first == extent, "every node has as many inputs as In<N> says");
  }
  Iterator begin() const { return {site_, first_}; }         ///< the first edge
  Iterator end() const { return {site_, first_ + size()}; }  ///< beyond the last
  /// How many there are.
  std::size_t size() const { return extent == std::dynamic_extent ? last_ - first_ : extent; }
  /// Edge i.
  E operator[](std::size_t i) const { return {site_, first_ + i}; }

 private:
  EdgeSite site_;
  std::size_t first_;
  std::size_t last_;
};

/// The edges that end at a node, in the order of its inputs.
template <std::size_t extent = std::dynamic_extent>
using InEdges = Edges<InEdge, extent>;
/// The edges that begin at a node, in the order of its outputs.
using OutEdges = Edges<OutEdge>;

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
    return {EdgeSite(part), part.first_output + part.graph.first_out[node_], part.first_output + part.graph.first_out[node_ + 1]};
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
    return {EdgeSite(part), part.first_input + part.graph.first_in[node_], part.first_input + part.graph.first_in[node_ + 1]};
  }

  Partition& partition_;
  const NetworkPart& base_;
  std::uint64_t seed_;
  std::uint64_t update_;
  std::uint32_t node_ = 0;
  bool wants_stop_ = false;
};

}  // namespace netuit
