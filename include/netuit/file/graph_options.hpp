#pragma once

#include <cstddef>
#include <cstdint>

namespace netuit {

/// Longer lines of a text file are refused by default: a mebibyte.
inline constexpr std::size_t default_max_line_bytes = std::size_t{1} << 20U;

/// How a graph file is read.
struct GraphOptions {
  /// True: a listed edge is one directed edge. False: it is a pair of directed edges, one each way, and a self-loop is one
  /// edge. No NetworkX text format says which is meant.
  bool directed = false;
  /// Files with more nodes are refused. The largest NodeId is 2^32 - 2.
  std::uint64_t max_nodes = std::uint64_t{1} << 24U;
  /// Files with more edges are refused. Counts edges as listed in the file.
  std::uint64_t max_edges = std::uint64_t{1} << 26U;
  /// Files with a longer line are refused.
  std::size_t max_line_bytes = default_max_line_bytes;
};

}  // namespace netuit
