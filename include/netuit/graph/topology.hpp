#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <netuit/graph/label.hpp>
#include <uit/config.hpp>

namespace netuit {

/// An edge of a topology: its position in CSR order, by source and then by output.
using EdgeId = std::uint64_t;

/// A directed edge.
struct Edge {
  /// The sending node.
  NodeId source = 0;
  /// The receiving node.
  NodeId target = 0;
  /// The expected traffic, in any unit: finite and not negative.
  double weight = 1;
};

/// A directed multigraph in CSR form, immutable.
///
///     const netuit::Topology path{3, {{0, 1}, {1, 0}, {1, 2}, {2, 1}}};
///     for (const netuit::NodeId target : path.OutNeighbors(1)) …
///
/// The outputs of a node are ordered: first those that have a reciprocal edge, then the rest, each in the order in which the
/// edges were given. Inputs are ordered alike. So, among reciprocal edges, input i and output i of a node face the same
/// neighbour. Parallel edges are matched in order. A self-loop is its own reciprocal. An edge and a node cost 16 bytes each,
/// and 8 more if weights differ from 1.
///
/// Every build throws uit::Error for a node or edge that the topology lacks. Reason: a graph that netuit::OnRoot reads is empty
/// except on rank 0, so a program that works on one process may fail on several.
class Topology {
 public:
  /// No nodes.
  Topology() = default;

  /// Labels and node weights are by node. If empty, a label is the decimal id, and a weight is 1. A node's weight is its
  /// expected load. Throws uit::InputError if an edge ends outside the nodes, if a weight is negative or not finite, or if
  /// the number of labels or weights differs from the number of nodes.
  Topology(NodeId num_nodes, std::vector<Edge> edges, Labels labels = {}, std::vector<double> node_weights = {});

  /// Nodes are 0 … NumNodes() - 1.
  NodeId NumNodes() const { return num_nodes_; }
  /// Directed edges are 0 … NumEdges() - 1.
  EdgeId NumEdges() const { return targets_.size(); }

  /// The targets of a node's outputs, in output order.
  std::span<const NodeId> OutNeighbors(NodeId node) const {
    CheckNode(node);
    return {targets_.data() + first_out_[node], first_out_[node + 1] - first_out_[node]};
  }
  /// Output k of a node is edge FirstOutEdge(node) + k.
  EdgeId FirstOutEdge(NodeId node) const {
    CheckNode(node);
    return first_out_[node];
  }
  /// The edges that end at a node, in input order.
  std::span<const EdgeId> InEdges(NodeId node) const {
    CheckNode(node);
    return {in_edges_.data() + first_in_[node], first_in_[node + 1] - first_in_[node]};
  }

  /// The node that an edge leaves.
  NodeId Source(EdgeId edge) const {
    CheckEdge(edge);
    return sources_[edge];
  }
  /// The node that an edge ends at.
  NodeId Target(EdgeId edge) const {
    CheckEdge(edge);
    return targets_[edge];
  }
  /// The expected traffic on an edge, in any unit.
  double EdgeWeight(EdgeId edge) const {
    CheckEdge(edge);
    return edge_weights_.empty() ? 1 : edge_weights_[edge];
  }
  /// The expected load of a node, in any unit.
  double NodeWeight(NodeId node) const {
    CheckNode(node);
    return node_weights_.empty() ? 1 : node_weights_[node];
  }

  /// Whether output k and input k of a node have the same neighbour, and so are reciprocal.
  bool IsReciprocal(NodeId node, std::size_t k) const {
    return k < OutNeighbors(node).size() && k < InEdges(node).size() &&
           OutNeighbors(node)[k] == Source(InEdges(node)[k]);
  }

  /// Whether some edge has a weight other than 1.
  bool HasEdgeWeights() const { return !edge_weights_.empty(); }
  /// Whether some node has a weight other than 1.
  bool HasNodeWeights() const { return !node_weights_.empty(); }
  /// Whether some node has a label other than its decimal id.
  bool HasLabels() const { return !labels_.IsEmpty(); }

  /// A node's label in the graph's file; its decimal id if it has none.
  std::string Label(NodeId node) const;

  /// The same graph with other node weights, one for each node. Throws as the constructor does.
  Topology WithNodeWeights(std::vector<double> node_weights) const&;
  /// The same, without copying the rest of the graph.
  Topology WithNodeWeights(std::vector<double> node_weights) &&;

  /// Whether nodes, edges, their order, weights and labels are the same.
  bool operator==(const Topology&) const;

 private:
  // These check the arrays, which are empty after a move, and not the number of nodes.
  void CheckNode(NodeId node) const {
    if (std::size_t{node} + 1 >= first_out_.size()) [[unlikely]]
      Refuse("node", node);
  }
  void CheckEdge(EdgeId edge) const {
    if (edge >= targets_.size()) [[unlikely]]
      Refuse("edge", edge);
  }
  [[noreturn]] void Refuse(const char* what, std::uint64_t number) const;

  void CheckEdges(const std::vector<Edge>& edges) const;
  void SetLabels(Labels labels);
  void SetNodeWeights(std::vector<double> node_weights);
  void Join(const std::vector<Edge>& edges);
  static bool IsWeight(double weight);

  NodeId num_nodes_ = 0;
  std::vector<EdgeId> first_out_{0};
  std::vector<EdgeId> first_in_{0};
  std::vector<NodeId> targets_;
  std::vector<NodeId> sources_;
  std::vector<EdgeId> in_edges_;
  std::vector<double> edge_weights_;
  std::vector<double> node_weights_;
  Labels labels_;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/graph/topology.ipp>
#endif
