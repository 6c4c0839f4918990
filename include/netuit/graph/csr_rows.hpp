#pragma once

#include <cstddef>
#include <vector>

#include <netuit/graph/topology.hpp>

namespace netuit {

/// Consecutive nodes with their outputs, in the order in which these are given.
struct CsrRows {
  NodeId first_node = 0;             ///< the first of them
  std::vector<EdgeId> first_out{0};  ///< outputs of node first_node + i: [first_out[i], first_out[i + 1])
  std::vector<NodeId> targets{};     ///< by output; may be outside of the rows
  std::vector<double> weights{};     ///< by output; empty if every edge weighs 1

  /// Returns the number of nodes.
  std::size_t NumNodes() const { return first_out.size() - 1; }
};

}  // namespace netuit
