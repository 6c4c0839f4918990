#pragma once

#include <cstdint>
#include <utility>

#include <uit/duct/fold.hpp>

namespace uit::detail {

/// What is put into an accumulator while its inlet is held: accepted if it does not overflow, neither by itself nor with
/// what waited when the hold was last refreshed. So acceptance does not show whether the outlet has stepped since, and
/// there is room for the sum at the next refresh. The inlet's thread only.
template <Foldable T>
class HeldSum {
 public:
  /// Adds a sum that stands for `num_messages`. False, with nothing changed, if there is no room.
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

  /// What has been put since the last refresh.
  const T& Sum() const { return sum_; }
  /// How many messages that stands for.
  std::uint64_t NumMessages() const { return num_messages_; }

  /// Begins anew, while `waiting` waits; null: nothing does.
  void Refresh(const T* waiting) {
    num_messages_ = 0;
    sum_ = T{};
    is_bounded_ = waiting != nullptr;
    bound_ = is_bounded_ ? *waiting : T{};
  }

 private:
  T sum_{};
  T bound_{};  // with what waited
  std::uint64_t num_messages_ = 0;
  bool is_bounded_ = false;
};

}  // namespace uit::detail
