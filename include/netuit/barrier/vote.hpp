#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace netuit {

/// Reductions that a mesh may have.
inline constexpr std::size_t max_reductions = 2;

/// What a worker brings to a barrier. The workers agree on the maximum of all votes, field by field.
struct Vote {
  std::uint32_t stop = 0;        ///< reason to stop, or 0
  std::uint32_t is_pending = 0;  ///< 1 if a worker has updates left
  std::uint64_t next = 0;        ///< number of the next barrier
  std::array<std::uint64_t, max_reductions> reduced{};  ///< by reduction: ToOrdered of the largest number; 0 if there is none

  /// Returns the number of reductions up to the last that has a number. Only so many need to be sent.
  std::size_t NumReduced() const {
    std::size_t num = max_reductions;
    while (num > 0 && reduced[num - 1] == 0) --num;
    return num;
  }
  /// Merges another worker's vote into this one.
  void Merge(const Vote& other) {
    stop = std::max(stop, other.stop);
    is_pending = std::max(is_pending, other.is_pending);
    next = std::max(next, other.next);
    for (std::size_t i = 0; i < max_reductions; ++i) reduced[i] = std::max(reduced[i], other.reduced[i]);
  }
};

}  // namespace netuit
