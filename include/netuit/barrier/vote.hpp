#pragma once

#include <algorithm>
#include <cstdint>

namespace netuit {

/// What the workers of a run agree on at a barrier: the maximum of what each brings, field by field.
struct Vote {
  std::uint32_t stop = 0;        ///< why to stop, or 0
  std::uint32_t is_pending = 0;  ///< 1: somebody has work left
  std::uint64_t next = 0;        ///< the number of the next barrier

  /// Takes another worker's view in.
  void Merge(const Vote& other) {
    stop = std::max(stop, other.stop);
    is_pending = std::max(is_pending, other.is_pending);
    next = std::max(next, other.next);
  }
};

}  // namespace netuit
