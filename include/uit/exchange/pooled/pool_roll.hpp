#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <uit/config.hpp>

namespace uit {

/// Tracks which members of a pool have tried to put for the next frame, and which ones the pool waits for.
///
/// A try either contributes a message to the frame or is refused. The pool waits for every member, except those skipped
/// since their last try.
class PoolRoll {
 public:
  /// For a pool of `num_members`, none of which has tried yet.
  explicit PoolRoll(std::size_t num_members)
      : tried_for_(num_members, first_frame - 1), num_missing_(num_members), num_awaited_(num_members) {}

  /// Whether the member contributed to the previous frame and has not tried for this one. In this usual case NoteNext may
  /// be called.
  UIT_INLINE bool IsNext(std::size_t member) const { return tried_for_[member] == frame_ - 1; }
  /// Counts a contribution of a member for which IsNext is true. Returns true if the roll is then complete.
  UIT_INLINE bool NoteNext(std::size_t member) {
    tried_for_[member] = frame_ + 1;
    return --num_missing_ == 0;
  }

  /// Counts a contribution of any member. The pool waits for this member again. Returns false if the member had already
  /// tried for this frame.
  bool NoteContribution(std::size_t member) {
    std::uint64_t& tried_for = tried_for_[member];
    const bool is_first = NoteTry(member);
    if (tried_for == frame_) --num_refused_;
    tried_for = frame_ + 1;
    return is_first;
  }
  /// The same for a refused put.
  bool NoteRefusal(std::size_t member) {
    const bool had_tried = HasTried(member);
    const bool is_first = NoteTry(member);
    if (had_tried) return is_first;
    tried_for_[member] = frame_;
    ++num_refused_;
    return true;
  }
  /// Skips a member: the pool does not wait for it until its next try.
  void Skip(std::size_t member) {
    std::uint64_t& tried_for = tried_for_[member];
    if (tried_for == skipped) return;
    if (HasTried(member)) {  // it counts for this frame and is skipped from the next one on
      if (std::ranges::find(skipped_next_, member) == skipped_next_.end()) skipped_next_.push_back(member);
      return;
    }
    --num_missing_;
    --num_awaited_;
    tried_for = skipped;
  }
  /// Skips every member that has not tried for this frame.
  void SkipRest() {
    if (num_missing_ == 0) return;
    for (std::size_t member = 0; member < tried_for_.size(); ++member) {
      if (!HasTried(member)) Skip(member);
    }
  }

  /// Whether every member that the pool waits for has tried.
  bool IsComplete() const { return num_missing_ == 0; }
  /// Whether the frame carries a message of the member.
  bool HasContributed(std::size_t member) const { return tried_for_[member] == frame_ + 1; }
  /// Returns the number of members with a message in the frame.
  std::size_t NumContributors() const { return num_awaited_ - num_missing_ - num_refused_; }
  /// Begins the next frame.
  void Renew() {
    frame_ += 2;
    for (const std::size_t member : skipped_next_) tried_for_[member] = skipped;
    num_awaited_ -= skipped_next_.size();
    skipped_next_.clear();
    num_missing_ = num_awaited_;
    num_refused_ = 0;
  }

 private:
  static constexpr std::uint64_t first_frame = 2;
  static constexpr std::uint64_t skipped = ~std::uint64_t{0};

  bool HasTried(std::size_t member) const { return tried_for_[member] - frame_ <= 1; }
  /// Counts a try. Returns false if the member had already tried for this frame and has not been skipped since.
  bool NoteTry(std::size_t member) {
    if (HasTried(member)) return std::erase(skipped_next_, member) != 0;
    if (tried_for_[member] == skipped) ++num_awaited_;
    else --num_missing_;
    return true;
  }

  // By member: the number of the last frame it tried for, plus 1 if it contributed; or `skipped`.
  std::vector<std::uint64_t> tried_for_;
  std::uint64_t frame_ = first_frame;      // even
  std::size_t num_missing_;                // members awaited that have not tried
  std::size_t num_awaited_;
  std::size_t num_refused_ = 0;            // members whose only tries were refused
  std::vector<std::size_t> skipped_next_;  // members skipped after they tried; takes effect at the next frame
};

}  // namespace uit
