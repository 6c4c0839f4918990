#pragma once

#include <algorithm>
#include <cstdint>

namespace uit {

/// Decides how many turns at sending to skip between frames that newer ones may replace. This spreads them over the time
/// in which the peer acknowledges a window of them.
///
/// A slow peer takes all frames that have arrived since its last poll at once. If frames left as soon as there was room,
/// they would all date from its last poll. If they are spread, the last of them is only about one window's part of that
/// time old. At each acknowledgement, the number of skipped turns doubles if the window has been closed to such frames
/// since the previous acknowledgement; otherwise it halves. Between the two, the window itself absorbs the difference.
class Pace {
 public:
  /// Skips at most `max_turns` turns in a row; 0: none.
  explicit Pace(std::uint32_t max_turns) : max_turns_(max_turns) {}

  /// Call it once per turn. Returns whether to use the turn.
  bool TakeTurn() {
    if (num_to_wait_ != 0) {
      --num_to_wait_;
      return false;
    }
    num_to_wait_ = num_turns_;
    return true;
  }
  /// Notes that the window was closed while only such frames waited.
  void NoteShut() { was_shut_ = true; }
  /// Notes that the peer has acknowledged frames.
  void NoteAcknowledged() {
    num_turns_ = was_shut_ ? std::min(2 * num_turns_ + 1, max_turns_) : num_turns_ / 2;
    num_to_wait_ = std::min(num_to_wait_, num_turns_);
    was_shut_ = false;
  }
  /// Returns the number of turns skipped between two that are used.
  std::uint32_t NumTurns() const { return num_turns_; }

 private:
  std::uint32_t max_turns_;
  std::uint32_t num_turns_ = 0;
  std::uint32_t num_to_wait_ = 0;
  bool was_shut_ = false;
};

}  // namespace uit
