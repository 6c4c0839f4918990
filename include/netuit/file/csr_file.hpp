#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <netuit/file/graph_options.hpp>
#include <netuit/graph/csr_rows.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

/// A graph in a binary file, of which any process can read some nodes without the others.
///
/// The file has no gaps, and all its numbers are little-endian:
///
/// | bytes | content |
/// |---|---|
/// | 8 | the letters `UITCSR`, then the bytes 0x1A and 0x0A |
/// | 4 | unsigned: the version, 1 |
/// | 4 | unsigned: 1 if edges have weights, else 0 |
/// | 8 | unsigned: n, the number of nodes, at most 2^32 - 1 |
/// | 8 | unsigned: m, the number of directed edges |
/// | 8 (n + 1) | unsigned: the outputs of node i are edges row[i] … row[i + 1] - 1; row[0] is 0 and row[n] is m |
/// | 4 m | unsigned: the target of each edge |
/// | 8 m, only with weights | IEEE 754 double: the weight of each edge, finite and not negative |
///
/// The order of edges is the order in which they are given; see Topology. An undirected link is a pair of edges, one each way.
/// Nodes have no labels. All errors name the file in one line.
class CsrFile {
 public:
  /// Opens a file and checks its header against its size. Throws uit::InputError if they do not fit, before it allocates anything.
  explicit CsrFile(const std::filesystem::path& path);

  /// Returns the number of nodes.
  NodeId NumNodes() const { return static_cast<NodeId>(num_nodes_); }
  /// Returns the number of directed edges.
  EdgeId NumEdges() const { return num_edges_; }
  /// Whether the file has weights.
  bool HasWeights() const { return has_weights_; }

  /// Reads the first edge of a node, or the number of edges for NumNodes(), without checking it. Throws uit::InputError if the file
  /// cannot be read.
  EdgeId FirstEdge(NodeId node);
  /// Reads the nodes `first` … `last` - 1. Requires first <= last <= NumNodes(). Throws uit::InputError if their rows are not in
  /// order, if an edge ends outside of the graph, or if a weight is negative or not finite. Needs memory only for what it returns.
  CsrRows Rows(NodeId first, NodeId last);

 private:
  [[noreturn]] void Fail(const std::string& reason) const;
  void ReadHeader();
  /// Reads values that begin at a byte of the file.
  template <typename V>
  void Read(std::uint64_t at, V* values, std::uint64_t count);
  std::uint64_t AtRow(NodeId node) const;
  void CheckRows(const CsrRows& rows) const;
  void CheckEdges(const CsrRows& rows) const;

  std::string name_;
  std::ifstream stream_;
  std::uint64_t num_nodes_ = 0;
  std::uint64_t num_edges_ = 0;
  bool has_weights_ = false;
};

/// Reads a whole graph from a CsrFile. Of the options, only `max_nodes` and `max_edges` matter. Throws as CsrFile, and
/// uit::InputError if the graph exceeds a limit.
Topology ReadCsr(const std::filesystem::path& path, const GraphOptions& options = {});

/// Writes a graph as a CsrFile, whole or not at all. The outputs of nodes keep their order, and so do inputs that have a reciprocal
/// edge. Other inputs of a node are read in ascending order of their sources. The weights of nodes are not written. Throws
/// uit::InputError if nodes have labels, and uit::OutputError if the file cannot be written.
void WriteCsr(const std::filesystem::path& path, const Topology& topology);

namespace detail {

/// Whether a file begins like a CsrFile. False if it cannot be read.
bool IsCsrFile(const std::filesystem::path& path);

}  // namespace detail

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/file/csr_file.ipp>
#endif
