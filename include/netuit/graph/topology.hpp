#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <netuit/graph/label.hpp>
#include <netuit/graph/reciprocal_matcher.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// An edge of a topology: its position in CSR order, by source and then by output.
using EdgeId = std::uint64_t;

/// A directed edge. Its weight is the traffic expected on it, in any unit.
struct Edge {
  /// Who sends.
  NodeId source = 0;
  /// Who receives.
  NodeId target = 0;
  /// Finite and not negative.
  double weight = 1;
};

/// A directed multigraph in CSR form, immutable.
///
///     const netuit::Topology path{3, {{0, 1}, {1, 0}, {1, 2}, {2, 1}}};
///     for (const netuit::NodeId target : path.OutNeighbors(1)) …
///
/// Outputs of a node: first those that have a reciprocal edge, then the rest, each in the order in
/// which the edges were given. Inputs likewise, so that while edges are reciprocal, input i and
/// output i of a node face the same neighbour. Parallel edges are matched in order; a self-loop is
/// its own reciprocal. Costs 16 bytes an edge and 16 a node, and 8 more where weights differ from 1.
///
/// Asking for a node or an edge that it does not have throws uit::Error, in every build: a graph that netuit::OnRoot reads
/// is empty on every rank but 0, so a program that works on one process may ask elsewhere.
class Topology {
 public:
  /// No nodes.
  Topology() = default;

  /// Labels and node weights are by node, or empty for the default: the decimal id, and 1. A node's
  /// weight is its expected load. Throws uit::InputError if an edge ends at no node, if a weight is
  /// negative or not finite, or if there are more or fewer labels or weights than nodes.
  Topology(NodeId num_nodes, std::vector<Edge> edges, Labels labels = {}, std::vector<double> node_weights = {});

  /// Nodes are 0 … NumNodes() - 1.
  NodeId NumNodes() const { return num_nodes_; }
  /// Directed edges are 0 … NumEdges() - 1.
  EdgeId NumEdges() const { return targets_.size(); }

  /// The targets of a node's outputs, in output order.
  std::span<const NodeId> OutNeighbors(NodeId node) const {
    CheckNode(node);
    return std::span{targets_}.subspan(first_out_[node], first_out_[node + 1] - first_out_[node]);
  }
  /// Output k of a node is edge FirstOutEdge(node) + k.
  EdgeId FirstOutEdge(NodeId node) const {
    CheckNode(node);
    return first_out_[node];
  }
  /// The edges that end at a node, in input order.
  std::span<const EdgeId> InEdges(NodeId node) const {
    CheckNode(node);
    return std::span{in_edges_}.subspan(first_in_[node], first_in_[node + 1] - first_in_[node]);
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
  /// The traffic expected on an edge, in any unit.
  double EdgeWeight(EdgeId edge) const {
    CheckEdge(edge);
    return edge_weights_.empty() ? 1 : edge_weights_[edge];
  }
  /// The load expected of a node, in any unit.
  double NodeWeight(NodeId node) const {
    CheckNode(node);
    return node_weights_.empty() ? 1 : node_weights_[node];
  }

  /// Whether output k of a node and input k have the same neighbour, and so are each other's reciprocals.
  bool IsReciprocal(NodeId node, std::size_t k) const {
    return k < OutNeighbors(node).size() && k < InEdges(node).size() &&
           OutNeighbors(node)[k] == Source(InEdges(node)[k]);
  }

  /// Whether some edge weighs other than 1.
  bool HasEdgeWeights() const { return !edge_weights_.empty(); }
  /// Whether some node weighs other than 1.
  bool HasNodeWeights() const { return !node_weights_.empty(); }
  /// Whether some node is called other than its decimal id.
  bool HasLabels() const { return !labels_.IsEmpty(); }

  /// What the file that the graph came from calls a node; its decimal id if there is no such name.
  std::string Label(NodeId node) const {
    CheckNode(node);
    return HasLabels() ? std::string{labels_[node]} : std::to_string(node);
  }

  /// The same graph with other expected loads, one for each node. Throws as the constructor does.
  Topology WithNodeWeights(std::vector<double> node_weights) const& {
    return Topology{*this}.WithNodeWeights(std::move(node_weights));
  }
  /// The same graph with other expected loads, without a copy of the rest.
  Topology WithNodeWeights(std::vector<double> node_weights) && {
    SetNodeWeights(std::move(node_weights));
    return std::move(*this);
  }

  /// Whether nodes, edges, their order, weights and labels are the same.
  bool operator==(const Topology&) const = default;

 private:
  // These go by the arrays, which a topology that was moved from no longer has.
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
  void Wire(const std::vector<Edge>& edges);
  static bool IsWeight(double weight) { return std::isfinite(weight) && weight >= 0; }

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

inline Topology::Topology(NodeId num_nodes, std::vector<Edge> edges, Labels labels, std::vector<double> node_weights)
    : num_nodes_{num_nodes} {
  CheckEdges(edges);
  SetLabels(std::move(labels));
  Wire(edges);
  if (!node_weights.empty()) SetNodeWeights(std::move(node_weights));
}

[[noreturn]] UIT_NOINLINE inline void Topology::Refuse(const char* what, std::uint64_t number) const {
  const bool is_node = std::string_view{what} == "node";
  std::string words = std::string{"there is no "} + what + ' ' + std::to_string(number) + " in a topology of " +
                      (is_node ? std::to_string(NumNodes()) + " nodes" : std::to_string(NumEdges()) + " edges");
  if (num_nodes_ == 0) words += "; one that is read by netuit::OnRoot is empty except on rank 0";
  throw uit::Error(words);
}

inline void Topology::CheckEdges(const std::vector<Edge>& edges) const {
  for (const Edge& edge : edges) {
    const auto name = [&] { return "edge " + std::to_string(edge.source) + " -> " + std::to_string(edge.target); };
    if (edge.source >= num_nodes_ || edge.target >= num_nodes_) {
      throw uit::InputError(name() + " leaves the " + std::to_string(num_nodes_) + " nodes");
    }
    if (!IsWeight(edge.weight)) throw uit::InputError(name() + " has a weight that is negative or not finite");
  }
}

inline void Topology::SetLabels(Labels labels) {
  if (labels.IsEmpty()) return;
  if (labels.Size() != num_nodes_) {
    throw uit::InputError(std::to_string(labels.Size()) + " labels for " + std::to_string(num_nodes_) + " nodes");
  }
  bool are_ids = true;
  for (NodeId node = 0; node < num_nodes_ && are_ids; ++node) are_ids = WholeNumber(labels[node]) == node;
  if (are_ids) return;
  labels.ShrinkToFit();
  labels_ = std::move(labels);
}

inline void Topology::SetNodeWeights(std::vector<double> node_weights) {
  if (node_weights.size() != num_nodes_) {
    throw uit::InputError(std::to_string(node_weights.size()) + " node weights for " + std::to_string(num_nodes_) +
                          " nodes");
  }
  const auto bad = std::ranges::find_if_not(node_weights, IsWeight);
  if (bad != node_weights.end()) {
    throw uit::InputError("node " + Label(static_cast<NodeId>(bad - node_weights.begin())) +
                          " has a weight that is negative or not finite");
  }
  if (std::ranges::all_of(node_weights, [](double weight) { return weight == 1; })) node_weights.clear();
  node_weights_ = std::move(node_weights);
}

inline void Topology::Wire(const std::vector<Edge>& edges) {
  first_out_.assign(std::size_t{num_nodes_} + 1, 0);
  first_in_.assign(std::size_t{num_nodes_} + 1, 0);
  for (const Edge& edge : edges) {
    ++first_out_[edge.source + 1];
    ++first_in_[edge.target + 1];
  }
  for (NodeId node = 0; node < num_nodes_; ++node) {
    first_out_[node + 1] += first_out_[node];
    first_in_[node + 1] += first_in_[node];
  }

  // Positions in `edges`, by node, in the order given.
  std::vector<std::size_t> outs(edges.size());
  std::vector<std::size_t> ins(edges.size());
  {
    std::vector<EdgeId> next_out = first_out_;
    std::vector<EdgeId> next_in = first_in_;
    for (std::size_t at = 0; at < edges.size(); ++at) {
      outs[next_out[edges[at].source]++] = at;
      ins[next_in[edges[at].target]++] = at;
    }
  }

  std::vector<EdgeId> id_of(edges.size());
  in_edges_.resize(edges.size());
  ReciprocalMatcher matcher;
  std::vector<NodeId> targets;
  std::vector<NodeId> sources;
  for (NodeId node = 0; node < num_nodes_; ++node) {
    const auto out = std::span{outs}.subspan(first_out_[node], first_out_[node + 1] - first_out_[node]);
    const auto in = std::span{ins}.subspan(first_in_[node], first_in_[node + 1] - first_in_[node]);
    targets.clear();
    sources.clear();
    for (const std::size_t at : out) targets.push_back(edges[at].target);
    for (const std::size_t at : in) sources.push_back(edges[at].source);
    matcher.Match(targets, sources);

    EdgeId next_out = first_out_[node];
    EdgeId next_in = first_in_[node];
    const auto input_of = matcher.InputOf();
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (input_of[i] == ReciprocalMatcher::unmatched) continue;
      id_of[out[i]] = next_out++;
      in_edges_[next_in++] = in[input_of[i]];
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (input_of[i] == ReciprocalMatcher::unmatched) id_of[out[i]] = next_out++;
    }
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (!matcher.IsInputMatched(i)) in_edges_[next_in++] = in[i];
    }
  }
  for (EdgeId& edge : in_edges_) edge = id_of[edge];

  targets_.resize(edges.size());
  sources_.resize(edges.size());
  if (std::ranges::any_of(edges, [](const Edge& edge) { return edge.weight != 1; })) {
    edge_weights_.resize(edges.size());
  }
  for (std::size_t at = 0; at < edges.size(); ++at) {
    targets_[id_of[at]] = edges[at].target;
    sources_[id_of[at]] = edges[at].source;
    if (HasEdgeWeights()) edge_weights_[id_of[at]] = edges[at].weight;
  }
}

}  // namespace netuit
