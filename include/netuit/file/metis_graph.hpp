#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <netuit/file/graph_builder.hpp>
#include <netuit/file/line_cursor.hpp>
#include <netuit/file/line_reader.hpp>
#include <netuit/graph/topology.hpp>

namespace netuit {

/// Reads METIS' .graph format: a header "n m [fmt [ncon]]", then a line per node with its weight and its neighbours, as fmt
/// says. The numbers in the header are checked.
class MetisGraphReader {
 public:
  /// `reader` has returned no line yet, and must outlive this one.
  MetisGraphReader(LineReader& reader, const GraphOptions& options) : reader_{reader}, options_{options} {}

  /// Reads to the end. Call it once.
  Topology Read();

 private:
  std::optional<std::string_view> NextLine();
  void ReadHeader();
  void ReadNode(NodeId node, std::string_view line);
  void CheckNumEdges() const;
  void CheckSymmetry(const Topology& topology) const;

  LineReader& reader_;
  GraphOptions options_;
  std::size_t header_line_ = 0;
  std::uint64_t num_nodes_ = 0;
  std::uint64_t num_edges_ = 0;
  bool has_sizes_ = false;
  bool has_node_weights_ = false;
  bool has_edge_weights_ = false;
  std::vector<Edge> edges_;
  std::vector<double> node_weights_;
  std::vector<std::size_t> line_of_;
};

/// Reads METIS' .graph format from a reader that has returned no line yet; see the overload for a stream.
inline Topology ReadMetisGraph(LineReader& reader, const GraphOptions& options = {}) {
  return MetisGraphReader{reader, options}.Read();
}

/// Reads METIS' .graph format, with edge weights, node weights and sizes, as fmt says. Sizes are ignored. The graph is always
/// undirected.
///
/// Node 1 of the file is node 0 here, labelled "1". Lines that start with '%' are comments. An empty line is a node without
/// neighbours. Throws uit::InputError "name:line: reason", also if the header has the wrong number of nodes or edges, or if an
/// edge is not listed alike at both ends.
inline Topology ReadMetisGraph(std::istream& stream, std::string name, const GraphOptions& options = {}) {
  LineReader reader{stream, std::move(name), options.max_line_bytes};
  return ReadMetisGraph(reader, options);
}

inline std::optional<std::string_view> MetisGraphReader::NextLine() {
  auto line = reader_.Next();
  while (line && line->starts_with('%')) line = reader_.Next();
  return line;
}

inline Topology MetisGraphReader::Read() {
  ReadHeader();
  Labels labels;
  for (NodeId node = 0; node < num_nodes_; ++node) {
    const auto line = NextLine();
    if (!line)
      reader_.Fail("the file ends after " + std::to_string(node) + " of " + std::to_string(num_nodes_) + " nodes");
    ReadNode(node, *line);
    line_of_.push_back(reader_.LineNumber());
    labels.Add(std::to_string(node + 1));
  }
  while (const auto line = NextLine()) {
    if (!LineCursor{reader_, *line}.IsAtEnd())
      reader_.Fail("more lines than the header's " + std::to_string(num_nodes_) + " nodes");
  }
  CheckNumEdges();
  const Topology topology{static_cast<NodeId>(num_nodes_), std::move(edges_), std::move(labels),
                          std::move(node_weights_)};
  CheckSymmetry(topology);
  return topology;
}

inline void MetisGraphReader::ReadHeader() {
  auto line = NextLine();
  while (line && LineCursor{reader_, *line}.IsAtEnd()) line = NextLine();
  if (!line) reader_.Fail("no nodes");
  header_line_ = reader_.LineNumber();
  LineCursor cursor{reader_, *line};
  num_nodes_ = cursor.TakeCount();
  num_edges_ = cursor.TakeCount();
  if (num_nodes_ == 0) cursor.Fail("no nodes");
  if (num_nodes_ > options_.max_nodes) cursor.Fail("more than " + std::to_string(options_.max_nodes) + " nodes");
  if (num_edges_ > options_.max_edges) cursor.Fail("more than " + std::to_string(options_.max_edges) + " edges");
  if (cursor.IsAtEnd()) return;
  const std::string_view format = cursor.TakeWord();
  if (format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos) {
    cursor.Fail("the format " + Quoted(format) + " is not up to three digits 0 or 1");
  }
  const auto has = [&](std::size_t digit) { return format.size() > digit && format[format.size() - 1 - digit] == '1'; };
  has_edge_weights_ = has(0);
  has_node_weights_ = has(1);
  has_sizes_ = has(2);
  if (!cursor.IsAtEnd() && cursor.TakeCount() != 1) cursor.Fail("more than one weight per node is not supported");
  cursor.ExpectEnd();
}

inline void MetisGraphReader::ReadNode(NodeId node, std::string_view line) {
  LineCursor cursor{reader_, line};
  if (has_sizes_) cursor.TakeWeight();
  if (has_node_weights_) node_weights_.push_back(cursor.TakeWeight());
  while (!cursor.IsAtEnd()) {
    const std::uint64_t neighbor = cursor.TakeCount();
    if (neighbor == 0 || neighbor > num_nodes_) {
      cursor.Fail("the neighbour " + std::to_string(neighbor) + " is not in 1 … " + std::to_string(num_nodes_));
    }
    edges_.push_back({node, static_cast<NodeId>(neighbor - 1), has_edge_weights_ ? cursor.TakeWeight() : 1});
    if (edges_.size() > 2 * num_edges_) cursor.Fail("more than the header's " + std::to_string(num_edges_) + " edges");
  }
}

/// Each edge is on two lines; a self-loop is on one line, once or twice.
inline void MetisGraphReader::CheckNumEdges() const {
  const auto loops = static_cast<std::uint64_t>(
      std::ranges::count_if(edges_, [](const Edge& edge) { return edge.source == edge.target; }));
  const std::uint64_t ends = edges_.size();
  if (ends == 2 * num_edges_ || ends + loops == 2 * num_edges_) return;
  reader_.FailAt(header_line_, "the header promises " + std::to_string(num_edges_) + " edges, but the lines hold " +
                                   std::to_string(ends) + " ends, which is not twice as many");
}

inline void MetisGraphReader::CheckSymmetry(const Topology& topology) const {
  for (NodeId node = 0; node < topology.NumNodes(); ++node) {
    for (std::size_t k = 0; k < topology.OutNeighbors(node).size(); ++k) {
      const EdgeId there = topology.FirstOutEdge(node) + k;
      if (!topology.IsReciprocal(node, k)) {
        reader_.FailAt(line_of_[node], "node " + topology.Label(node) + " lists node " +
                                           topology.Label(topology.Target(there)) + ", which does not list it");
      }
      if (topology.EdgeWeight(there) != topology.EdgeWeight(topology.InEdges(node)[k])) {
        reader_.FailAt(line_of_[node], "the edge from node " + topology.Label(node) + " to node " +
                                           topology.Label(topology.Target(there)) +
                                           " has another weight at its other end");
      }
    }
  }
}

}  // namespace netuit
