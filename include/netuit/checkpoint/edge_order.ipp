#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <netuit/checkpoint/edge_order.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

/// Orders the edges of a topology. The order of reciprocal edges follows from their numbers. Each of the others must come after the
/// one before it among the outputs of its source, and after the one before it among the inputs of its target.
class EdgeOrder {
 public:
  EdgeOrder(NodeId num_nodes, const std::vector<Edge>& edges, const std::vector<std::uint32_t>& positions)
      : edges_(edges), positions_(positions), first_out_(num_nodes + std::size_t{1}), first_in_(num_nodes + std::size_t{1}) {
    if (positions.size() != edges.size()) Refuse();
    for (const Edge& edge : edges) {
      if (edge.source >= num_nodes || edge.target >= num_nodes) Refuse();
      ++first_out_[edge.source + std::size_t{1}];
      ++first_in_[edge.target + std::size_t{1}];
    }
    for (std::size_t node = 0; node < num_nodes; ++node) {
      first_out_[node + 1] += first_out_[node];
      first_in_[node + 1] += first_in_[node];
    }
    FindInputs();
    for (std::size_t node = 0; node < num_nodes; ++node) num_reciprocal_.push_back(CountReciprocal(node));
  }

  std::vector<Edge> Take() {
    std::vector<Edge> ordered;
    std::vector<std::uint8_t> num_before(edges_.size());  // edges that must come first, and have not
    std::vector<EdgeId> ready;
    for (EdgeId edge = 0; edge < edges_.size(); ++edge) {
      if (IsReciprocal(edge)) {
        ordered.push_back(edges_[edge]);
        continue;
      }
      const NodeId target = edges_[edge].target;
      num_before[edge] = static_cast<std::uint8_t>((PositionOut(edge) != num_reciprocal_[edges_[edge].source] ? 1 : 0) +
                                                   (positions_[edge] != num_reciprocal_[target] ? 1 : 0));
      if (num_before[edge] == 0) ready.push_back(edge);
    }
    while (!ready.empty()) {
      const EdgeId edge = ready.back();
      ready.pop_back();
      ordered.push_back(edges_[edge]);
      const NodeId target = edges_[edge].target;
      const EdgeId next_input = first_in_[target] + positions_[edge] + 1;
      if (edge + 1 < first_out_[edges_[edge].source + std::size_t{1}] && --num_before[edge + 1] == 0) ready.push_back(edge + 1);
      if (next_input < first_in_[target + std::size_t{1}] && --num_before[inputs_[next_input]] == 0)
        ready.push_back(inputs_[next_input]);
    }
    if (ordered.size() != edges_.size()) Refuse();
    return ordered;
  }

 private:
  [[noreturn]] static void Refuse() { throw uit::InputError("its edges are not in the order of a graph"); }
  EdgeId PositionOut(EdgeId edge) const { return edge - first_out_[edges_[edge].source]; }
  bool IsReciprocal(EdgeId edge) const { return PositionOut(edge) < num_reciprocal_[edges_[edge].source]; }

  void FindInputs() {
    constexpr EdgeId none = ~EdgeId{0};
    inputs_.assign(edges_.size(), none);
    for (EdgeId edge = 0; edge < edges_.size(); ++edge) {
      if (edge != 0 && edges_[edge].source < edges_[edge - 1].source) Refuse();
      const EdgeId at = first_in_[edges_[edge].target] + positions_[edge];
      if (at >= first_in_[edges_[edge].target + std::size_t{1}] || inputs_[at] != none) Refuse();
      inputs_[at] = edge;
    }
  }
  /// Returns how many outputs of a node have a reciprocal edge. They come first among outputs and among inputs.
  std::size_t CountReciprocal(std::size_t node) const {
    std::size_t count = 0;
    while (first_out_[node] + count < first_out_[node + 1] && first_in_[node] + count < first_in_[node + 1] &&
           edges_[first_out_[node] + count].target == edges_[inputs_[first_in_[node] + count]].source)
      ++count;
    return count;
  }

  const std::vector<Edge>& edges_;
  const std::vector<std::uint32_t>& positions_;
  std::vector<EdgeId> first_out_;  // by node
  std::vector<EdgeId> first_in_;   // by node
  std::vector<EdgeId> inputs_;     // edges, by target and position
  std::vector<std::size_t> num_reciprocal_;  // by node
};

UIT_DEFINE std::vector<Edge> OrderForTopology(NodeId num_nodes, const std::vector<Edge>& edges,
                                              const std::vector<std::uint32_t>& positions) {
  return EdgeOrder(num_nodes, edges, positions).Take();
}

}  // namespace netuit::detail
