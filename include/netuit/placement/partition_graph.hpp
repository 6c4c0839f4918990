#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// Scales weights to integers whose sum stays near a limit, so that sums of them cannot overflow.
///
/// If all weights are whole numbers and their sum is within the limit, they stay unchanged. Otherwise a weight above 0 becomes
/// at least 1. If all weights are 0, each becomes 1.
class IntegerScale {
 public:
  /// limit: the sum of the scaled weights, approximately. At most 2^53.
  explicit IntegerScale(std::uint64_t limit) : limit_{static_cast<double>(limit)} {}

  /// Call this for every weight, before the first conversion.
  void Add(double weight) {
    are_whole_ = are_whole_ && weight == std::floor(weight);
    if (weight > largest_) {
      total_ = total_ * (largest_ / weight) + 1;
      largest_ = weight;
    } else if (weight > 0) {
      total_ += weight / largest_;
    }
  }

  /// Converts one of the added weights.
  std::int64_t operator()(double weight) const {
    if (largest_ == 0) return 1;
    if (are_whole_ && total_ * largest_ <= limit_) return static_cast<std::int64_t>(weight);
    if (weight == 0) return 0;
    return std::max<std::int64_t>(1, std::llround(weight / largest_ * (limit_ / total_)));
  }

 private:
  double limit_;
  double largest_ = 0;
  double total_ = 0;  // in units of the largest, so that it cannot overflow
  bool are_whole_ = true;
};

/// A graph as partitioners need it: undirected, without loops and parallel edges, with integer weights.
/// The neighbours of node v are neighbors[first[v]] … neighbors[first[v + 1] - 1].
template <std::signed_integral Index>
struct PartitionGraph {
  /// By node, and one more entry at the end.
  std::vector<Index> first{0};
  /// Each edge is listed at both its ends.
  std::vector<Index> neighbors;
  /// By entry of `neighbors`; above 0.
  std::vector<Index> edge_weights;
  /// By node; not negative.
  std::vector<Index> node_weights;

  /// Nodes are 0 … NumNodes() - 1.
  Index NumNodes() const { return static_cast<Index>(node_weights.size()); }
};

/// Converts a topology. The two directions of an edge, and parallel edges, become one edge with the sum of their weights. Edges
/// of weight 0 are dropped, unless all weights are 0. Throws uit::InputError if an Index cannot count the edges.
template <std::signed_integral Index>
PartitionGraph<Index> MakePartitionGraph(const Topology& topology) {
  if (2 * topology.NumEdges() > static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) {
    throw uit::InputError("too many edges for the partitioner: " + std::to_string(topology.NumEdges()));
  }
  IntegerScale node_scale{std::uint64_t{1} << 28U};
  IntegerScale edge_scale{std::uint64_t{1} << 28U};
  for (NodeId node = 0; node < topology.NumNodes(); ++node) node_scale.Add(topology.NodeWeight(node));
  for (EdgeId edge = 0; edge < topology.NumEdges(); ++edge) {
    if (topology.Source(edge) != topology.Target(edge)) edge_scale.Add(topology.EdgeWeight(edge));
  }

  PartitionGraph<Index> graph;
  graph.first.reserve(std::size_t{topology.NumNodes()} + 1);
  graph.node_weights.reserve(topology.NumNodes());
  std::vector<std::size_t> entry_of(topology.NumNodes());  // by neighbour; valid if not below the node's first entry
  const auto join = [&](NodeId node, NodeId neighbor, EdgeId edge) {
    const auto weight = static_cast<Index>(edge_scale(topology.EdgeWeight(edge)));
    if (neighbor == node || weight == 0) return;
    const std::size_t entry = entry_of[neighbor];
    const auto begin = static_cast<std::size_t>(graph.first[node]);
    if (entry >= begin && entry < graph.neighbors.size() && graph.neighbors[entry] == static_cast<Index>(neighbor)) {
      graph.edge_weights[entry] += weight;
    } else {
      entry_of[neighbor] = graph.neighbors.size();
      graph.neighbors.push_back(static_cast<Index>(neighbor));
      graph.edge_weights.push_back(weight);
    }
  };
  for (NodeId node = 0; node < topology.NumNodes(); ++node) {
    EdgeId edge = topology.FirstOutEdge(node);
    for (const NodeId target : topology.OutNeighbors(node)) join(node, target, edge++);
    for (const EdgeId in : topology.InEdges(node)) join(node, topology.Source(in), in);
    graph.first.push_back(static_cast<Index>(graph.neighbors.size()));
    graph.node_weights.push_back(static_cast<Index>(node_scale(topology.NodeWeight(node))));
  }
  return graph;
}

/// A part of a graph, with the ids of its nodes in the whole graph.
template <std::signed_integral Index>
struct Subgraph {
  /// The part; its nodes are numbered from 0.
  PartitionGraph<Index> graph;
  /// By node of `graph`: the node of the topology.
  std::vector<NodeId> nodes;
};

/// The two subgraphs that the nodes on side 0 and side 1 induce.
template <std::signed_integral Index>
std::array<Subgraph<Index>, 2> Split(const Subgraph<Index>& whole, const std::vector<Index>& side_of) {
  std::array<Subgraph<Index>, 2> halves;
  std::vector<Index> index_of(side_of.size());
  std::array<Index, 2> counts{};
  for (std::size_t node = 0; node < side_of.size(); ++node)
    index_of[node] = counts[static_cast<std::size_t>(side_of[node])]++;
  for (std::size_t node = 0; node < side_of.size(); ++node) {
    auto& [half, nodes] = halves[static_cast<std::size_t>(side_of[node])];
    nodes.push_back(whole.nodes[node]);
    half.node_weights.push_back(whole.graph.node_weights[node]);
    const auto end = static_cast<std::size_t>(whole.graph.first[node + 1]);
    for (auto entry = static_cast<std::size_t>(whole.graph.first[node]); entry < end; ++entry) {
      const auto neighbor = static_cast<std::size_t>(whole.graph.neighbors[entry]);
      if (side_of[neighbor] != side_of[node]) continue;
      half.neighbors.push_back(index_of[neighbor]);
      half.edge_weights.push_back(whole.graph.edge_weights[entry]);
    }
    half.first.push_back(static_cast<Index>(half.neighbors.size()));
  }
  return halves;
}

}  // namespace netuit
