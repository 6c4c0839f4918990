#pragma once

#include <chrono>
#include <cstddef>
#include <utility>

#include <netuit/placement/placement.hpp>
#include <netuit/quality/timeline.hpp>
#include <uit/config.hpp>
#include <uit/support/clock.hpp>
#include <uit/tally.hpp>

namespace netuit::detail {

/// Records what one worker does. That worker only. Allocates nothing after it was made.
class WorkerTimeline {
 public:
  /// Records as the options say.
  WorkerTimeline(const TimelineOptions& options, WorkerId worker) : worker_(worker), most_(options.spans), count_interval_(options.count_interval) {
    timeline_.spans.reserve(most_);
    timeline_.counts.reserve(most_ == 0 ? 0 : most_counts);
  }

  /// Whether it records.
  bool IsOn() const { return most_ != 0; }
  /// Notes the time at which all workers left the start barrier.
  void Start(uit::TimePoint now) { start_ = last_ = now; }
  /// Notes what the worker has done since the last call.
  UIT_INLINE void Note(Activity activity) {
    if (IsOn()) [[unlikely]] Add(activity, uit::Now());
  }
  /// Whether it is time for a look at the counts.
  bool IsCountDue(uit::TimePoint now) const { return IsOn() && now >= next_count_ && timeline_.counts.size() < most_counts; }
  /// Adds what the worker has counted.
  void AddCount(uit::TimePoint now, const uit::Tally& all) {
    timeline_.counts.push_back({.worker = worker_,
                                .time = now - start_,
                                .attempted = all.put.attempted,
                                .refused = all.put.dropped,
                                .read = all.get.stepped,
                                .replaced = all.put.preempted + all.get.skipped});
    next_count_ = now + count_interval_;
  }
  /// Returns what was recorded. Call it last.
  Timeline Take() { return std::move(timeline_); }

 private:
  static constexpr std::size_t most_counts = 10'000;

  UIT_NOINLINE void Add(Activity activity, uit::TimePoint now) {
    if (timeline_.spans.size() < most_) {
      timeline_.spans.push_back({.worker = worker_, .activity = activity, .begin = last_ - start_, .length = now - last_});
    } else {
      timeline_.spans.back().is_last = 1;
    }
    last_ = now;
  }

  WorkerId worker_;
  std::size_t most_;
  std::chrono::nanoseconds count_interval_;
  uit::TimePoint start_{};
  uit::TimePoint last_{};
  uit::TimePoint next_count_{};
  Timeline timeline_{};
};

}  // namespace netuit::detail
