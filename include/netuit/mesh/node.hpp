#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/mesh/node_random.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/support/assert.hpp>

namespace netuit {

/// Data that all edges of one worker in one network share. Each edge holds a copy, so the compiler can keep it in registers.
/// Otherwise it would load the data again for every edge, because a user's function may change any memory.
struct EdgeSite {
  const NetworkPart* part = nullptr;     ///< the worker's part of the network
  const std::uint32_t* slots = nullptr;  ///< slot of the neighbour's value, by input of the process

  EdgeSite() = default;
  /// Takes the data from a part.
  explicit EdgeSite(const NetworkPart& of) : part(&of), slots(of.in_slots) {}
};

/// An edge that ends at a node. Valid as long as its mesh; cheap to copy.
class InEdge {
 public:
  /// For the library: makes the edge from its input number within the process.
  InEdge(const EdgeSite& site, std::size_t index) : site_(site), index_(index) {}

  /// Returns the node where the edge begins.
  NodeId Source() const { return site_.part->graph.sources[index_ - site_.part->first_input]; }
  /// Returns the edge's number in its network. Edges are numbered by source, then in the order of the source's outputs.
  EdgeId Id() const { return site_.part->graph.in_edges[index_ - site_.part->first_input]; }
  /// Returns the edge's delay in runs by Dataflow; see EdgeDelays.
  std::uint32_t Delay() const { return site_.part->graph.InDelay(index_ - site_.part->first_input); }

  /// For fields: the slot of the neighbour's value.
  std::uint32_t Slot() const { return site_.slots[index_]; }
  /// For edge fields and channels: the edge's number among the inputs of this process.
  std::size_t Index() const { return index_; }

 private:
  EdgeSite site_;
  std::size_t index_;
};

/// An edge that begins at a node. Valid as long as its mesh; cheap to copy.
class OutEdge {
 public:
  /// For the library: makes the edge from its output number within the process.
  OutEdge(const EdgeSite& site, std::size_t index) : site_(site), index_(index) {}

  /// Returns the node where the edge ends.
  NodeId Target() const { return site_.part->graph.targets[index_ - site_.part->first_output]; }
  /// Returns the edge's number in its network. Edges are numbered by source, then in the order of the source's outputs.
  EdgeId Id() const { return site_.part->graph.out_edges[index_ - site_.part->first_output]; }
  /// Returns the edge's delay in runs by Dataflow; see EdgeDelays.
  std::uint32_t Delay() const { return site_.part->graph.OutDelay(index_ - site_.part->first_output); }

  /// For edge fields and channels: the edge's number among the outputs of this process.
  std::size_t Index() const { return index_; }
  /// For calls: the worker that updates the node where the edge ends.
  std::uint32_t TargetWorker() const { return site_.part->graph.target_workers[index_ - site_.part->first_output]; }
  /// For calls: the number of that node among the nodes of its worker. Only if the mesh has calls.
  std::uint32_t TargetNumber() const {
    const std::size_t output = index_ - site_.part->first_output;
    UIT_ASSERT(output < site_.part->target_numbers.size(), "the edge is one of a mesh with calls");
    return site_.part->target_numbers[output];
  }

 private:
  EdgeSite site_;
  std::size_t index_;
};

/// The in-edges or out-edges of a node, in order. `E` is InEdge or OutEdge. `extent` is their number, if it is known at compile
/// time.
template <typename E, std::size_t extent = std::dynamic_extent>
class Edges {
 public:
  /// Iterates over the edges.
  class Iterator {
   public:
    using value_type = E;                    ///< InEdge or OutEdge
    using difference_type = std::ptrdiff_t;  ///< required by std::forward_iterator
    Iterator() = default;
    /// Points at the edge with this input or output number within the process.
    Iterator(const EdgeSite& site, std::size_t index) : site_(site), index_(index) {}
    E operator*() const { return {site_, index_}; }             ///< the current edge
    Iterator& operator++() { return ++index_, *this; }          ///< advances to the next edge
    Iterator operator++(int) { return {site_, index_++}; }      ///< advances to the next edge
    /// Whether both point at the same edge.
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    EdgeSite site_;
    std::size_t index_ = 0;
  };

  /// The inputs or outputs [first, last) of the process. All must belong to one worker.
  Edges(const EdgeSite& site, std::size_t first, std::size_t last) : site_(site), first_(first), last_(last) {}
  Iterator begin() const { return {site_, first_}; }         ///< the first edge
  Iterator end() const { return {site_, first_ + size()}; }  ///< one past the last edge
  /// Returns the number of edges.
  std::size_t size() const { return extent == std::dynamic_extent ? last_ - first_ : extent; }
  /// Returns edge i.
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

/// The node that is being updated. A run passes it to the update function; it is valid during that call.
///
///     [&](netuit::Node& node) {
///       double sum = 0;
///       for (auto edge : node.In()) sum += weight[edge] * theta[edge];
///       theta[node] = sum;
///     }
class Node {
 public:
  /// For the run loop: stands for each node of a worker in turn, in one update. `seed` is the run's seed. What the nodes leave for
  /// the worker is added to `notes`.
  Node(const Partition& partition, NodeNotes& notes, std::uint64_t seed, std::uint64_t update)
      : partition_(partition), base_(*partition.networks.front()), notes_(notes), seed_(seed), update_(update) {}
  /// The same, with the worker's own notes.
  Node(Partition& partition, std::uint64_t seed, std::uint64_t update) : Node(partition, partition.notes, seed, update) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  /// For the library: a task keeps a node of its own.
  Node(Node&&) = default;

  /// Returns the node's number in the whole graph.
  NodeId Id() const { return base_.Graph().nodes[node_]; }
  /// Returns the node's label in the graph's file.
  std::string Label() const { return base_.Graph().Label(node_); }
  /// Returns the node's number within this process. Numbers start at 0 and have no gaps, so they can index your own arrays.
  std::size_t Index() const { return partition_.first_local + node_; }
  /// Returns the number of the worker that updates the node, among all threads of all processes.
  std::uint32_t Worker() const { return base_.Graph().worker; }
  /// Returns the number of this update, from RunOptions::first_update. Each worker counts its own updates.
  std::uint64_t Update() const { return update_; }
  /// Returns the node's random numbers for this update. They depend only on the run's seed, the node and the update.
  NodeRandom Random() const { return {seed_, Id(), update_}; }

  /// Returns the edges of a network that end here, in the order of inputs.
  InEdges<> In(Network network = {}) const { return network.number == 0 ? InOf(base_) : InOf(SiteOf(network)); }
  /// Returns the same edges if every node of the network has exactly `degree` inputs. The compiler can then unroll loops over them.
  /// Every build throws uit::InputError, and so ends the run, if a node of this worker has another number of inputs.
  template <std::size_t degree>
  InEdges<degree> In(Network network = {}) const {
    return network.number == 0 ? InOf<degree>(base_) : InOf<degree>(SiteOf(network));
  }
  /// Returns the edges of a network that begin here, in the order of outputs. In an undirected graph, input i and output i
  /// connect to the same neighbour.
  OutEdges Out(Network network = {}) const { return network.number == 0 ? OutOf(base_) : OutOf(SiteOf(network)); }
  /// Whether the network is due: its edges now show the values of the previous update. A network is due once per period.
  bool IsDue(Network network = {}) const { return update_ % SiteOf(network).edges.part->period == 0; }

  /// Publishes nothing in this update; call it if nothing has changed. If the update still writes to a published field,
  /// neighbours see the new value at the node's next publication at the latest.
  void StaySilent() {
    if (notes_.silent.empty() || notes_.silent.back() != node_) notes_.silent.push_back(node_);
  }
  /// Asks all workers to end the run soon: in modes 0 to 2 at their next barrier, in mode 5 after the same update at one of the next
  /// votes, elsewhere when they learn of it. This is not an error.
  void RequestStop() { wants_stop_ = true; }

  /// For reductions: gives the node's number to one of them, of which the largest counts. See ToOrdered.
  void Contribute(std::size_t reduction, std::uint64_t number) {
    std::uint64_t& largest = notes_.reduced.extremes[reduction];
    largest = std::max(largest, number);
  }
  /// For reductions: adds the node's number to a sum.
  void AddToSum(std::size_t reduction, double number) { notes_.reduced.sums.At(reduction).Add(number); }
  /// For reductions: what the workers have agreed on last.
  std::uint64_t AgreedOn(std::size_t reduction) const { return partition_.agreed[reduction]; }
  /// For fields: the slot of the node's own values.
  std::size_t Slot() const { return first_slot_ + node_; }
  /// For the run loop: moves to another node of the worker.
  void GoTo(std::uint32_t node) { node_ = node; }
  /// For the run loop: whether a node has requested a stop.
  bool WantsStop() const { return wants_stop_; }

 private:
  /// What leads to the edges of a worker's nodes in one network: a copy, for the same reason as in EdgeSite.
  struct NodeSite {
    explicit NodeSite(const NetworkPart& part)
        : edges(part), first_in(part.graph.first_in.data()), first_out(part.graph.first_out.data()), first_input(part.first_input),
          first_output(part.first_output), in_degree(part.common_in_degree) {}
    const WorkerGraph& Graph() const { return edges.part->graph; }

    EdgeSite edges;
    const std::uint32_t* first_in;
    const std::uint32_t* first_out;
    std::size_t first_input;
    std::size_t first_output;
    std::size_t in_degree;
  };

  NodeSite SiteOf(Network network) const {
    UIT_ASSERT_HEAVY(network.number < partition_.networks.size(), "the mesh has the network");
    return NodeSite(*partition_.networks[network.number]);
  }
  template <std::size_t extent = std::dynamic_extent>
  InEdges<extent> InOf(const NodeSite& site) const {
    if constexpr (extent == std::dynamic_extent) {
      return {site.edges, site.first_input + site.first_in[node_], site.first_input + site.first_in[node_ + 1]};
    } else {
      if (site.in_degree != extent) [[unlikely]] site.edges.part->RefuseDegree(extent);
      const std::size_t first = site.first_input + node_ * extent;
      return {site.edges, first, first + extent};
    }
  }
  OutEdges OutOf(const NodeSite& site) const {
    return {site.edges, site.first_output + site.first_out[node_], site.first_output + site.first_out[node_ + 1]};
  }

  const Partition& partition_;
  NodeSite base_;
  std::size_t first_slot_ = base_.edges.part->first_slot;
  NodeNotes& notes_;
  std::uint64_t seed_;
  std::uint64_t update_;
  std::uint32_t node_ = 0;
  bool wants_stop_ = false;
};

}  // namespace netuit
