#pragma once

#include <cstddef>

namespace netuit {

/// How often the results of a partitioner were repaired.
struct PartitionReport {
  /// Invalid cuts, which were replaced by cuts along the node order.
  std::size_t num_fallbacks = 0;
  /// Nodes moved because a side had fewer nodes than workers.
  std::size_t num_moved = 0;
};

}  // namespace netuit
