#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <netuit/file/graph_options.hpp>
#include <netuit/file/line_reader.hpp>
#include <netuit/graph/label_index.hpp>
#include <netuit/graph/topology.hpp>

namespace netuit {

/// Collects the nodes and edges of a file. Errors name the reader's current line.
class GraphBuilder {
 public:
  /// The reader must outlive the builder.
  GraphBuilder(const LineReader& reader, const GraphOptions& options) : reader_{reader}, options_{options} {}

  /// Returns the node with this label, and adds it if it is new. Fails for more nodes than the options allow, and for a whole
  /// number outside 0 … 2^63 - 1. Also fails if all labels before it are whole numbers and this one only starts with a digit: it is
  /// likely a typing error. Whole numbers may have gaps.
  NodeId AddNode(std::string_view label);

  /// Joins two nodes as the options say.
  void AddEdge(NodeId source, NodeId target, double weight = 1);

  /// Returns the graph. Fails if it has no nodes.
  Topology Build() &&;

 private:
  void CheckNew(std::string_view label);

  const LineReader& reader_;
  GraphOptions options_;
  LabelIndex index_;
  std::vector<Edge> edges_;
  std::uint64_t num_edges_ = 0;
  bool are_numbers_ = true;
};

inline NodeId GraphBuilder::AddNode(std::string_view label) {
  const std::size_t num_nodes = index_.Size();
  const NodeId node = index_.FindOrAdd(label);
  if (index_.Size() != num_nodes) CheckNew(label);
  return node;
}

inline void GraphBuilder::CheckNew(std::string_view label) {
  if (index_.Size() > options_.max_nodes) reader_.Fail("more than " + std::to_string(options_.max_nodes) + " nodes");
  if (WholeNumber(label)) return;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_negative = label.starts_with('-') && label.size() > 1;
  const bool is_number = std::ranges::all_of(label.substr(is_negative ? 1 : 0), is_digit);
  if (is_number && is_negative) reader_.Fail("a negative node id: " + Quoted(label));
  if (is_number) {
    const std::size_t zeros = std::min(label.find_first_not_of('0'), label.size() - 1);
    if (!WholeNumber(label.substr(zeros))) reader_.Fail("a node id of 2^63 or more: " + Quoted(label));
    return;
  }
  if (are_numbers_ && index_.Size() > 1 && is_digit(label.front())) {
    reader_.Fail("the label " + Quoted(label) +
                 " is not a whole number, but all labels before it are; if it is correct, put it in quotes");
  }
  are_numbers_ = false;
}

inline void GraphBuilder::AddEdge(NodeId source, NodeId target, double weight) {
  if (++num_edges_ > options_.max_edges) reader_.Fail("more than " + std::to_string(options_.max_edges) + " edges");
  edges_.push_back({source, target, weight});
  if (!options_.directed && source != target) edges_.push_back({target, source, weight});
}

inline Topology GraphBuilder::Build() && {
  const std::size_t num_nodes = index_.Size();
  if (num_nodes == 0) reader_.Fail("no nodes");
  return Topology{static_cast<NodeId>(num_nodes), std::move(edges_), index_.Take()};
}

}  // namespace netuit
