#pragma once

#include <cstdint>
#include <utility>

#include <uit/duct/fold.hpp>

namespace uit::detail {

/// The sum of the puts into an accumulator while its inlet is held. A put is accepted if this sum would not overflow,
/// neither alone nor added to the sum that waited at the last refresh. So acceptance does not reveal whether the outlet
/// has stepped since, and the sum has room at the next refresh. Inlet's thread only.
template <Foldable T>
class HeldSum {
 public:
  /// Adds a sum that stands for `num_messages`. If there is no room, changes nothing and returns false.
  bool TryAdd(const T& sum, std::uint64_t num_messages) {
    T bound = bound_;
    if (is_bounded_ && !TryFold(bound, sum)) return false;
    T total = sum_;
    if (!TryFold(total, sum)) return false;
    sum_ = std::move(total);
    bound_ = std::move(bound);
    num_messages_ += num_messages;
    return true;
  }

  /// The sum of the puts since the last refresh.
  const T& Sum() const { return sum_; }
  /// The number of messages in that sum.
  std::uint64_t NumMessages() const { return num_messages_; }

  /// Starts again from zero. `waiting` is the sum that waits; null: none waits.
  void Refresh(const T* waiting) {
    num_messages_ = 0;
    sum_ = T{};
    is_bounded_ = waiting != nullptr;
    bound_ = is_bounded_ ? *waiting : T{};
  }

 private:
  T sum_{};
  T bound_{};  // including the sum that waited
  std::uint64_t num_messages_ = 0;
  bool is_bounded_ = false;
};

}  // namespace uit::detail
