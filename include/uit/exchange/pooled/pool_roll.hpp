#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace uit {

/// Which members of a pool have been heard for its next frame, and which are waited for: all of them, but for those
/// that have been excused since they were last heard.
class PoolRoll {
 public:
  /// Of a pool of that many members, none of which has been heard.
  explicit PoolRoll(std::size_t num_members) : heard_for_(num_members), num_missing_(num_members), num_awaited_(num_members) {}

  /// A member has been heard; from here on it is waited for again. False if it had been heard for this frame already.
  bool Note(std::size_t member) {
    std::uint64_t& heard = heard_for_[member];
    if (heard == frame_) return false;
    if (heard == excused) ++num_awaited_;
    else --num_missing_;
    heard = frame_;
    return true;
  }
  /// A member is not waited for until it is heard again.
  void Excuse(std::size_t member) {
    std::uint64_t& heard = heard_for_[member];
    if (heard == excused) return;
    if (heard != frame_) --num_missing_;
    --num_awaited_;
    heard = excused;
  }
  /// Excuses every member that has not been heard for this frame.
  void ExcuseRest() {
    if (num_missing_ == 0) return;
    for (std::size_t member = 0; member < heard_for_.size(); ++member) {
      if (heard_for_[member] != frame_) Excuse(member);
    }
  }
  /// Whether every member that is waited for has been heard.
  bool IsComplete() const { return num_missing_ == 0; }
  /// Begins the next frame.
  void Renew() {
    num_missing_ = num_awaited_;
    ++frame_;
  }

 private:
  static constexpr std::uint64_t excused = ~std::uint64_t{0};

  std::vector<std::uint64_t> heard_for_;  // by member: the frame that it was heard for last, or `excused`
  std::uint64_t frame_ = 1;
  std::size_t num_missing_;  // waited for, and not heard
  std::size_t num_awaited_;
};

}  // namespace uit
