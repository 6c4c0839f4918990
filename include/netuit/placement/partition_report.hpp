#pragma once

#include <cstddef>

namespace netuit {

/// What had to be done to a partitioner's answers.
struct PartitionReport {
  /// Cuts that were not usable and were made through the node order instead.
  std::size_t num_fallbacks = 0;
  /// Nodes moved because a side was too small for its workers.
  std::size_t num_moved = 0;
};

}  // namespace netuit
