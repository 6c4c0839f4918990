#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>

#include <netuit/mesh/mesh_core.hpp>
#include <netuit/run/append_report.hpp>
#include <netuit/run/run_in_parts.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/process_hooks.hpp>

namespace netuit::detail {

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
    if (reason != StopReason::count && reason != StopReason::clock) return false;
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

  const RunPlan& plan_;
  const PartLimits& limits_;
  std::uint64_t period_;
  std::uint64_t done_ = 0;
  std::uint64_t stride_;  // updates of a part that is to take as long as `every`
  std::chrono::nanoseconds elapsed_{0};
};

/// Returns the options of a part that begins after so many updates and so much time.
UIT_DEFINE RunOptions OptionsOfPart(const RunOptions& options, std::uint64_t first_update, const PartPlanner& planner) {
  RunOptions part = options;
  part.first_update = first_update;
  const std::chrono::nanoseconds elapsed = planner.Elapsed();
  const std::uint64_t done = planner.Done();
  if (options.on_progress) {
    part.on_progress = [&options, elapsed, done](Progress progress) {
      progress.elapsed += elapsed;
      progress.num_updates += done;
      options.on_progress(progress);
    };
  }
  if (options.on_sample) {
    part.on_sample = [&options, elapsed, done](Sample sample) {
      sample.elapsed += elapsed;
      sample.num_updates += done;
      options.on_sample(sample);
    };
  }
  return part;
}

/// Lowers counts of effective updates to one in `max_delay`. The counts of parts do not add up: each counts its first update, and
/// later parts still read older values from before it.
UIT_DEFINE void LimitEffective(RunReport& whole, std::uint64_t max_delay) {
  for (WorkerReport& worker : whole.workers) {
    if (worker.effective_updates)
      worker.effective_updates = std::min(*worker.effective_updates, (worker.num_updates + max_delay - 1) / max_delay);
  }
}

UIT_DEFINE RunReport RunInParts(PartMaker& maker, const RunPlan& plan, const RunOptions& options, const PartLimits& limits) {
  plan.Check();
  const uit::World world = maker.GetMesh().GetWorld();
  std::uint64_t period = 1;
  for (const auto& network : maker.GetMesh().Partitions().front()->networks) period = std::lcm(period, network->period);
  const std::uint64_t max_delay = maker.GetMesh().Partitions().front()->max_delay;
  const uit::ProcessHooks& hooks = world.Process()->Hooks();
  const std::unique_ptr<uit::StopSource> stops =  // of signals that come between two parts
      options.stops_on_signal && hooks.heed_stops ? hooks.heed_stops() : nullptr;
  maker.GetMesh().SetNumUpdates(std::max(maker.GetMesh().NumUpdates(), options.first_update));
  PartPlanner planner(plan, limits, period);
  RunReport whole;
  for (bool goes_on = true; goes_on;) {
    const std::uint64_t first = planner.RoundUp(maker.GetMesh().NumUpdates());
    AppendReport(whole, maker.Run(planner.Next(), OptionsOfPart(options, first, planner)), planner.Elapsed());
    if (plan.delivery.is_awaited) LimitEffective(whole, max_delay);
    if (whole.stopped_by == StopReason::peer_lost || whole.stopped_by == StopReason::thrown) {
      if (stops) stops->Keep();
      return whole;
    }
    const std::chrono::nanoseconds longest = world.AllGatherValue(whole.Elapsed()).front();
    goes_on = planner.GoesOn(whole.stopped_by, maker.GetMesh().NumUpdates() - first, longest - planner.Elapsed());
    maker.EndPart(!goes_on);
  }
  const int late = std::ranges::max(world.AllGatherValue(stops ? stops->Take() : 0));
  if (late != 0 && whole.stopped_by != StopReason::signal) {
    whole.stopped_by = StopReason::signal;
    whole.signal = late;
  }
  if (stops && whole.stopped_by == StopReason::signal) stops->Keep();
  return whole;
}

}  // namespace netuit::detail
