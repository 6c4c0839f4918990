#pragma once

#include <cstddef>
#include <cstdint>

namespace netuit {

/// Lines of a text file that are longer are refused, unless something else is asked for: a mebibyte.
inline constexpr std::size_t default_max_line_bytes = std::size_t{1} << 20U;

/// How a graph file is read.
struct GraphOptions {
  /// Whether a line of the file is one directed edge. If not it is a pair of them, one each way, and a
  /// self-loop is one; no NetworkX text format says which is meant.
  bool directed = false;
  /// Files with more nodes are refused. A NodeId counts to 2^32 - 2.
  std::uint64_t max_nodes = std::uint64_t{1} << 24U;
  /// Files with more edges are refused; counts the edges of the file.
  std::uint64_t max_edges = std::uint64_t{1} << 26U;
  /// Files with a longer line are refused.
  std::size_t max_line_bytes = default_max_line_bytes;
};

}  // namespace netuit
