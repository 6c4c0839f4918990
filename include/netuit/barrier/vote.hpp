#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <netuit/barrier/reduced.hpp>

namespace netuit {

/// What a worker brings to a barrier. The workers agree on the maximum of all votes, field by field, and on what all nodes have
/// given to the reductions.
struct Vote {
  std::uint32_t stop = 0;        ///< reason to stop, or 0
  std::uint32_t is_pending = 0;  ///< 1 if a worker has updates left
  std::uint64_t next = 0;        ///< number of the next barrier
  Reduced reduced{};             ///< of the worker's nodes

  /// Returns the number of reductions up to the last that has an extreme. Without sums, only so many need to be sent.
  std::size_t NumExtremes() const {
    std::size_t num = max_reductions;
    while (num > 0 && reduced.extremes[num - 1] == 0) --num;
    return num;
  }
  /// Merges another worker's vote into this one.
  void Merge(const Vote& other) {
    stop = std::max(stop, other.stop);
    is_pending = std::max(is_pending, other.is_pending);
    next = std::max(next, other.next);
    reduced.Merge(other.reduced);
  }
};

}  // namespace netuit
