#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <uit/config.hpp>

namespace uit {

/// Which members of a pool have been heard for its next frame, and which are waited for: all of them, but for those
/// that have been excused since they were last heard. A member is heard when it speaks, that is, when the frame carries
/// a message of it, and when it tries to in vain.
class PoolRoll {
 public:
  /// Of a pool of that many members, none of which has been heard.
  explicit PoolRoll(std::size_t num_members)
      : heard_for_(num_members, first_frame - 1), num_missing_(num_members), num_awaited_(num_members) {}

  /// Whether the member spoke for the frame before, and has not been heard for this one: the usual case, in which
  /// NoteNext will do.
  UIT_INLINE bool IsNext(std::size_t member) const { return heard_for_[member] == frame_ - 1; }
  /// Such a member has spoken. True if that completes the roll.
  UIT_INLINE bool NoteNext(std::size_t member) {
    heard_for_[member] = frame_ + 1;
    return --num_missing_ == 0;
  }

  /// A member has spoken; from here on it is waited for again. False if it had been heard for this frame already.
  bool Note(std::size_t member) {
    std::uint64_t& heard = heard_for_[member];
    const bool is_first = NoteHeard(member);
    if (heard == frame_) --num_silent_;
    heard = frame_ + 1;
    return is_first;
  }
  /// The same of a member that has tried to speak in vain.
  bool NoteInVain(std::size_t member) {
    const bool was_heard = IsHeard(member);
    const bool is_first = NoteHeard(member);
    if (was_heard) return is_first;
    heard_for_[member] = frame_;
    ++num_silent_;
    return true;
  }
  /// A member is not waited for until it is heard again.
  void Excuse(std::size_t member) {
    std::uint64_t& heard = heard_for_[member];
    if (heard == excused) return;
    if (IsHeard(member)) {  // it counts for this frame, and is gone from the next on
      if (std::ranges::find(leaving_, member) == leaving_.end()) leaving_.push_back(member);
      return;
    }
    --num_missing_;
    --num_awaited_;
    heard = excused;
  }
  /// Excuses every member that has not been heard for this frame.
  void ExcuseRest() {
    if (num_missing_ == 0) return;
    for (std::size_t member = 0; member < heard_for_.size(); ++member) {
      if (!IsHeard(member)) Excuse(member);
    }
  }

  /// Whether every member that is waited for has been heard.
  bool IsComplete() const { return num_missing_ == 0; }
  /// Whether the frame carries a message of the member.
  bool HasSpoken(std::size_t member) const { return heard_for_[member] == frame_ + 1; }
  /// Of how many members the frame carries a message.
  std::size_t NumSpoken() const { return num_awaited_ - num_missing_ - num_silent_; }
  /// Begins the next frame.
  void Renew() {
    frame_ += 2;
    for (const std::size_t member : leaving_) heard_for_[member] = excused;
    num_awaited_ -= leaving_.size();
    leaving_.clear();
    num_missing_ = num_awaited_;
    num_silent_ = 0;
  }

 private:
  static constexpr std::uint64_t first_frame = 2;
  static constexpr std::uint64_t excused = ~std::uint64_t{0};

  bool IsHeard(std::size_t member) const { return heard_for_[member] - frame_ <= 1; }
  /// Counts a member that is about to be noted. False if it had been heard, and not excused since.
  bool NoteHeard(std::size_t member) {
    if (IsHeard(member)) return std::erase(leaving_, member) != 0;
    if (heard_for_[member] == excused) ++num_awaited_;
    else --num_missing_;
    return true;
  }

  // By member: the frame that it was heard for last, plus 1 if it spoke; or `excused`.
  std::vector<std::uint64_t> heard_for_;
  std::uint64_t frame_ = first_frame;     // even
  std::size_t num_missing_;               // waited for, and not heard
  std::size_t num_awaited_;
  std::size_t num_silent_ = 0;            // heard, and did not speak
  std::vector<std::size_t> leaving_;      // excused after they were heard
};

}  // namespace uit
