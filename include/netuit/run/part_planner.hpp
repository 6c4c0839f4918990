#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>

namespace netuit::detail {

/// How long a part of a run is.
struct PartLimits {
  std::chrono::nanoseconds every{0};  // 0: does not matter
  std::uint64_t every_updates = 0;    // 0: does not matter
};

/// Where a run in parts is, and how far its next part goes. The same on every process.
class PartPlanner {
 public:
  PartPlanner(const RunPlan& plan, const PartLimits& limits, std::uint64_t period)
      : plan_(plan), limits_(limits), period_(period), stride_(RoundUp(64)) {}

  /// Returns the plan of the next part.
  RunPlan Next() const {
    RunPlan part = plan_;
    if (plan_.updates != 0) part.updates = plan_.updates - done_;
    Limit(part.updates, limits_.every_updates);
    if (plan_.duration.count() != 0) part.duration = plan_.duration - elapsed_;
    if (limits_.every.count() == 0) return part;
    // A clock would end a part within a network's period, and, in best effort, after more updates of one worker than of another.
    const bool needs_count = plan_.delivery.is_by_update ? period_ > 1 : plan_.updates != 0;
    if (needs_count) Limit(part.updates, stride_);
    else if (part.duration.count() == 0 || limits_.every < part.duration) part.duration = limits_.every;
    return part;
  }
  /// Notes that a part has made so many updates in this time. Returns whether another follows.
  bool GoesOn(StopReason reason, std::uint64_t num_updates, std::chrono::nanoseconds took) {
    done_ += num_updates;
    elapsed_ += took;
    took = std::max(took, std::chrono::nanoseconds{1});
    const double fitting =
        static_cast<double>(num_updates) * static_cast<double>(limits_.every.count()) / static_cast<double>(took.count());
    const auto most = static_cast<double>(8 * stride_);  // the first parts are short, and tell little
    stride_ = RoundUp(static_cast<std::uint64_t>(std::clamp(fitting, 1.0, most)));
    return (reason == StopReason::count || reason == StopReason::clock) && IsPending();
  }
  /// Where the planner is.
  struct State {
    std::uint64_t done = 0;
    std::chrono::nanoseconds elapsed{0};
    std::uint64_t stride = 1;
    std::chrono::nanoseconds duration{0};  // at most, or 0
  };
  State GetState() const { return {done_, elapsed_, stride_, plan_.duration}; }
  /// Sets where the planner is, after processes have gone apart.
  void Resume(const State& state) {
    done_ = state.done;
    elapsed_ = state.elapsed;
    stride_ = state.stride;
    plan_.duration = state.duration;
  }
  /// Whether the limits of the run are not reached.
  bool IsPending() const {
    return (plan_.updates == 0 || done_ < plan_.updates) && (plan_.duration.count() == 0 || elapsed_ < plan_.duration);
  }
  std::chrono::nanoseconds Elapsed() const { return elapsed_; }
  std::uint64_t Done() const { return done_; }
  /// Returns the next multiple of every network's period.
  std::uint64_t RoundUp(std::uint64_t update) const { return (update + period_ - 1) / period_ * period_; }

 private:
  /// Sets the limit, unless there is a smaller one; 0 is none.
  static void Limit(std::uint64_t& updates, std::uint64_t limit) {
    if (limit != 0 && (updates == 0 || limit < updates)) updates = limit;
  }

  RunPlan plan_;
  const PartLimits& limits_;
  std::uint64_t period_;
  std::uint64_t done_ = 0;
  std::uint64_t stride_;  // updates of a part that is to take as long as `every`
  std::chrono::nanoseconds elapsed_{0};
};

}  // namespace netuit::detail
