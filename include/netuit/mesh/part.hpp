#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/edge_field.hpp>
#include <netuit/mesh/field.hpp>
#include <netuit/mesh/levels.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/support/assert.hpp>

namespace netuit {

/// The edges of a network that end at the nodes of a part: rows of a sparse matrix in CSR form, a row per node. Valid as long as
/// its mesh; cheap to copy.
class PartInputs {
 public:
  /// For the part: the edges of `nodes`.
  PartInputs(const NetworkPart& part, const NodeRange& nodes) : part_(part), nodes_(nodes) {}

  /// Returns where each row begins: row i has the edges [First()[i] - First()[0], First()[i + 1] - First()[0]). One more than the
  /// part has nodes.
  std::span<const std::uint32_t> First() const { return {part_.graph.first_in.data() + nodes_.begin, NumNodes() + 1}; }
  /// Returns the number of edges.
  std::size_t size() const { return part_.graph.first_in[nodes_.end] - part_.graph.first_in[nodes_.begin]; }
  /// Returns, by edge, where the neighbour's value is in PublishedField::Shown.
  std::span<const std::uint32_t> Slots() const { return {part_.in_slots + Index(), size()}; }
  /// Returns those of row i.
  std::span<const std::uint32_t> Slots(std::size_t i) const {
    UIT_ASSERT_HEAVY(i < NumNodes(), "the part has the node");
    const std::uint32_t* const first = part_.graph.first_in.data() + nodes_.begin;
    return {part_.in_slots + Index() + (first[i] - first[0]), first[i + 1] - first[i]};
  }
  /// Returns, by edge, the node where it begins.
  std::span<const NodeId> Sources() const { return {part_.graph.sources.data() + FirstEdge(), size()}; }
  /// Returns the values of the edges. The field must be one of this network.
  template <typename T>
  std::span<T> operator[](const EdgeField<T>& field) const {
    return {field.Values() + Index(), size()};
  }
  /// Returns the weights of the edges, which must be those of this network.
  std::span<const double> operator[](const EdgeWeights& weights) const { return {weights.ByInput() + Index(), size()}; }

 private:
  std::size_t NumNodes() const { return nodes_.end - nodes_.begin; }
  std::size_t FirstEdge() const { return part_.graph.first_in[nodes_.begin]; }
  std::size_t Index() const { return part_.first_input + FirstEdge(); }  // of the first edge among the inputs of the process

  const NetworkPart& part_;
  NodeRange nodes_;
};

/// Consecutive nodes of a worker that are updated together. A run passes it to an update function that takes one; it is valid
/// during that call.
///
///     mesh.Run(netuit::EveryUpdate{.updates = 100}, [&](netuit::Part& part) {
///       const auto in = part.In();
///       const auto shown = theta.Shown();
///       const auto own = part[theta];
///       for (std::size_t i = 0; i < part.size(); ++i) {
///         double sum = 0;
///         for (const auto slot : in.Slots(i)) sum += shown[slot];
///         own[i] = sum / static_cast<double>(in.Slots(i).size());
///       }
///     });
///
/// All nodes of a worker are one part, unless they are updated level by level (see Dataflow) or other workers may steal some of
/// them. So the update must not depend on how the nodes are divided. If it throws, no node of the part publishes anything.
class Part {
 public:
  /// For the run loop: stands for `nodes` of a worker in one update. The other arguments are those of Node.
  Part(const Partition& partition, NodeNotes& notes, std::uint64_t seed, std::uint64_t update, const NodeRange& nodes)
      : partition_(partition), nodes_(nodes), node_(partition, notes, seed, update) {}

  /// Returns the number of nodes.
  std::size_t size() const { return nodes_.end - nodes_.begin; }
  /// Returns the numbers of the nodes in the whole graph, ascending.
  std::span<const NodeId> Ids() const { return {partition_.graph.nodes.data() + nodes_.begin, size()}; }
  /// Returns the number of the first node within this process; see Node::Index.
  std::size_t Index() const { return partition_.first_local + nodes_.begin; }
  /// Returns the number of the worker that updates the nodes.
  std::uint32_t Worker() const { return node_.Worker(); }
  /// Returns the number of this update; see Node::Update.
  std::uint64_t Update() const { return node_.Update(); }

  /// Returns node i of the part, for all that a Node can do: messages, random numbers, silence, reductions. Valid until the next call.
  Node& At(std::size_t i) {
    UIT_ASSERT_HEAVY(i < size(), "the part has the node");
    node_.GoTo(nodes_.begin + static_cast<std::uint32_t>(i));
    return node_;
  }
  /// Returns the nodes' values.
  template <typename T>
  std::span<T> operator[](const Field<T>& field) const {
    return {&field.AtSlot(FirstSlot()), size()};
  }
  /// Returns the nodes' own values, including writes of this update.
  template <typename T>
  std::span<T> operator[](const PublishedField<T>& field) const {
    return {&field.AtSlot(FirstSlot()), size()};
  }
  /// Returns the edges of a network that end at the nodes.
  PartInputs In(Network network = {}) const { return {NetworkOf(network), nodes_}; }
  /// Whether the network is due; see Node::IsDue.
  bool IsDue(Network network = {}) const { return node_.IsDue(network); }
  /// Asks all workers to end the run after their current update; see Node::RequestStop.
  void RequestStop() { node_.RequestStop(); }
  /// For the run loop: whether the run is to end.
  bool WantsStop() const { return node_.WantsStop(); }

 private:
  const NetworkPart& NetworkOf(Network network) const {
    UIT_ASSERT_HEAVY(network.number < partition_.networks.size(), "the mesh has the network");
    return *partition_.networks[network.number];
  }
  std::size_t FirstSlot() const { return partition_.networks.front()->first_slot + nodes_.begin; }

  const Partition& partition_;
  NodeRange nodes_;
  Node node_;
};

/// A function that updates a node, or all nodes of a part at once.
template <typename F>
concept UpdateFunction = std::invocable<F, Node&> || std::invocable<F, Part&>;

}  // namespace netuit
