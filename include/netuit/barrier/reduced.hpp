#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <netuit/barrier/exact_sum.hpp>
#include <netuit/barrier/ordered_double.hpp>

namespace netuit {

/// Reductions that a mesh may have.
inline constexpr std::size_t max_reductions = 2;

/// The sums of those reductions that are sums. A copy reads no more of them than there are, because most meshes have none.
class ReductionSums {
 public:
  /// No sums.
  ReductionSums() = default;
  /// Copies the sums that there are.
  ReductionSums(const ReductionSums& other) { *this = other; }
  /// Copies the sums that there are.
  ReductionSums& operator=(const ReductionSums& other) {
    size_ = other.size_;
    for (std::size_t i = 0; i < size_; ++i) std::construct_at(&sums_[i].sum, other.sums_[i].sum);
    return *this;
  }
  ~ReductionSums() = default;

  /// Returns the number of reductions up to the last that may have numbers.
  [[nodiscard]] std::size_t Size() const { return size_; }
  /// Returns the sum of a reduction, or an empty one.
  [[nodiscard]] ExactSum Of(std::size_t reduction) const { return reduction < size_ ? sums_[reduction].sum : ExactSum{}; }
  /// Returns the sum of a reduction, to be changed.
  ExactSum& At(std::size_t reduction) {
    while (size_ <= reduction) std::construct_at(&sums_[size_++].sum);
    return sums_[reduction].sum;
  }
  /// Adds all numbers of others.
  void Merge(const ReductionSums& others) {
    for (std::size_t i = 0; i < others.size_; ++i) At(i).Merge(others.sums_[i].sum);
  }
  /// Forgets all numbers.
  void Clear() { size_ = 0; }

 private:
  union Room {
    Room() {}  // NOLINT(modernize-use-equals-default): makes no sum, which would write 32 bytes
    ExactSum sum;
  };

  std::size_t size_ = 0;
  std::array<Room, max_reductions> sums_;
};

/// What nodes have given to the reductions, combined. A reduction is either an extreme or a sum.
struct Reduced {
  /// By reduction: ToOrdered of the largest number, 0 if there is none, or ordered_unknown. An unknown sum is marked here, too.
  std::array<std::uint64_t, max_reductions> extremes{};
  ReductionSums sums{};  ///< by reduction

  /// Returns that no reduction is known.
  static Reduced Unknown() {
    Reduced unknown;
    unknown.extremes.fill(ordered_unknown);
    return unknown;
  }
  /// Combines with what others have given.
  void Merge(const Reduced& others) {
    for (std::size_t i = 0; i < max_reductions; ++i) extremes[i] = std::max(extremes[i], others.extremes[i]);
    sums.Merge(others.sums);
  }
  /// Returns ToOrdered of each reduction, 0 if it has no number, or ordered_unknown.
  [[nodiscard]] std::array<std::uint64_t, max_reductions> Words() const {
    auto words = extremes;
    for (std::size_t i = 0; i < sums.Size(); ++i)
      if (const ExactSum sum = sums.Of(i); !sum.IsEmpty()) words[i] = std::max(words[i], ToOrdered(sum.Value()));
    return words;
  }
};

}  // namespace netuit
