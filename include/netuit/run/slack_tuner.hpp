#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <uit/support/clock.hpp>

namespace netuit::detail {

/// Chooses a worker's slack by trials: it compares the rate of effective updates with the present slack and with the next smaller or
/// larger one, in turn. It moves on when a slack was better in three trials, and tries less often while it finds nothing better. That
/// worker only.
class SlackTuner {
 public:
  /// The slacks to choose from.
  static constexpr std::array<std::uint64_t, 8> slacks{0, 1, 2, 4, 8, 16, 64, 256};

  /// Begins with the largest slack, or with none. The rate of effective updates does not tell what a worker gains by updates of its
  /// nodes among themselves, so it stays with the first choice unless that rate speaks against it.
  explicit SlackTuner(bool begins_with_most = false) : chosen_(begins_with_most ? slacks.size() - 1 : 0) {}

  /// Returns the slack to use now.
  std::uint64_t Slack() const { return slacks[IsTrial() ? tried_ : chosen_]; }
  /// Tells the time and how many updates the worker has made by then, and how many of them count.
  void Look(uit::TimePoint now, std::uint64_t num_updates, std::uint64_t num_effective) {
    const bool is_over = now - begin_ >= length && num_updates - updates_ >= least_updates;
    if (!has_begun_ || is_over) {
      const std::uint64_t num_new = num_effective - std::min(num_effective, effective_);  // the count may fall: see EffectiveUpdates
      if (has_begun_) EndSpan(static_cast<double>(num_new) / std::chrono::duration<double>(now - begin_).count());
      has_begun_ = true;
      begin_ = now;
      updates_ = num_updates;
      effective_ = num_effective;
    }
  }

 private:
  static constexpr std::chrono::milliseconds length{10};  // of a span, at least; rates of shorter ones depend on the scheduler
  static constexpr std::uint64_t least_updates = 8;       // in a span
  static constexpr std::uint32_t least_spans = 4;         // between trials, so that the usual rate is known
  static constexpr std::uint32_t most_spans = 32;
  static constexpr double least_gain = 0.05;              // that counts as better
  static constexpr int num_wins = 3;                      // one after another, to move on; a busy machine makes some by chance

  bool IsTrial() const { return num_spans_ == spans_between_; }

  /// Takes note of the rate of a span, and chooses what to do in the next.
  void EndSpan(double rate) {
    if (!IsTrial()) {
      usual_ += (rate - usual_) / ++num_spans_;
      if (IsTrial()) ChooseTrial();
      return;
    }
    if (rate > (1 + least_gain) * usual_) {
      spans_between_ = least_spans;
      if (++wins_ == num_wins) {
        chosen_ = tried_;
        wins_ = 0;
      }
    } else {
      spans_between_ = std::min(2 * spans_between_, most_spans);
      is_up_ = !is_up_;
      wins_ = 0;
    }
    num_spans_ = 0;
    usual_ = 0;
  }
  void ChooseTrial() {
    if (chosen_ == 0) is_up_ = true;
    if (chosen_ + 1 == slacks.size()) is_up_ = false;
    tried_ = is_up_ ? chosen_ + 1 : chosen_ - 1;
  }

  std::size_t chosen_;
  std::size_t tried_ = 0;
  bool is_up_ = true;  // the next trial, if it has a choice
  int wins_ = 0;       // trials of that slack in a row that were better
  double usual_ = 0;   // rate since the last trial
  std::uint32_t num_spans_ = 0;                // since the last trial
  std::uint32_t spans_between_ = least_spans;  // trials
  bool has_begun_ = false;
  uit::TimePoint begin_{};      // of the span
  std::uint64_t updates_ = 0;   // when it began
  std::uint64_t effective_ = 0;
};

}  // namespace netuit::detail
