#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>
#include <uit/support/clock.hpp>
#include <uit/tally.hpp>

namespace netuit {

/// What a worker is doing.
enum class Activity : std::uint32_t {
  update,    ///< updates its nodes
  receive,   ///< takes in values and messages before an update
  send,      ///< sends values and messages after an update
  exchange,  ///< in modes 0 and 5: sends them, and waits for those of others
  wait,      ///< waits for slower workers, because of a slack
  barrier,   ///< waits at a barrier
  end        ///< waits for the others after its last update, and receives all messages in flight
};

/// A span of time in which a worker did one thing. Times are by the clock of the worker's host, since the run's start barrier.
struct TimelineSpan {
  WorkerId worker;                        ///< the worker
  Activity activity = Activity::update;   ///< what it did
  std::uint32_t is_last = 0;              ///< 1: later spans were not recorded, see TimelineOptions::spans
  std::chrono::nanoseconds begin{0};      ///< when it began
  std::chrono::nanoseconds length{0};     ///< how long it took
};

/// What a worker had counted at a time, since the mesh was made.
struct TimelineCount {
  WorkerId worker;                    ///< the worker
  std::chrono::nanoseconds time{0};   ///< since the start barrier
  std::uint64_t attempted = 0;        ///< puts
  std::uint64_t refused = 0;          ///< puts that found no room
  std::uint64_t read = 0;             ///< messages
  std::uint64_t replaced = 0;         ///< messages that newer ones replaced before they were read
};

/// What to record of a run's course. The same on every process.
struct TimelineOptions {
  std::size_t spans = 0;  ///< most spans of each worker; 0: nothing is recorded. Each takes 32 bytes
  std::chrono::nanoseconds count_interval = std::chrono::milliseconds(10);  ///< between two looks at the counts
};

/// The course of a run: what each worker did when.
struct Timeline {
  std::vector<TimelineSpan> spans{};    ///< by worker, then by time
  std::vector<TimelineCount> counts{};  ///< likewise

  /// Appends that of other workers, or of a later part of the run, which began `after` the first.
  void Append(const Timeline& other, std::chrono::nanoseconds after = {}) {
    for (TimelineSpan span : other.spans) span.begin += after, spans.push_back(span);
    for (TimelineCount count : other.counts) count.time += after, counts.push_back(count);
  }
};

namespace detail {

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

}  // namespace detail

}  // namespace netuit
