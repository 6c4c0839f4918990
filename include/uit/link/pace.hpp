#pragma once

#include <algorithm>
#include <cstdint>

namespace uit {

/// How many turns at sending to leave out between frames that newer ones may replace, so that they are spread over the
/// time that the peer takes to acknowledge a window of them.
///
/// A peer that lags takes up at once what has come since it looked last. Frames that left as soon as there was room would
/// then all be of the time when it last looked; spread, the last of them is about a window's share of that time old.
/// With each acknowledgement, turns left out double if the window has been shut to such frames since the last, and halve
/// if not: between the two, the window itself takes up the difference.
class Pace {
 public:
  /// Leaves out at most `max_turns`; with 0, none.
  explicit Pace(std::uint32_t max_turns) : max_turns_(max_turns) {}

  /// A turn has come. Whether to use it.
  bool TakeTurn() {
    if (num_to_wait_ != 0) {
      --num_to_wait_;
      return false;
    }
    num_to_wait_ = num_turns_;
    return true;
  }
  /// The window was shut, and nothing but such frames waited.
  void NoteShut() { was_shut_ = true; }
  /// The peer has acknowledged something.
  void NoteAcknowledged() {
    num_turns_ = was_shut_ ? std::min(2 * num_turns_ + 1, max_turns_) : num_turns_ / 2;
    num_to_wait_ = std::min(num_to_wait_, num_turns_);
    was_shut_ = false;
  }
  /// Turns left out between two that are used.
  std::uint32_t NumTurns() const { return num_turns_; }

 private:
  std::uint32_t max_turns_;
  std::uint32_t num_turns_ = 0;
  std::uint32_t num_to_wait_ = 0;
  bool was_shut_ = false;
};

}  // namespace uit
