#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/status_board.hpp>
#include <netuit/run/append_report.hpp>
#include <netuit/run/part_planner.hpp>
#include <netuit/run/run_in_parts.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/stop_reasons.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/process_hooks.hpp>

namespace netuit::detail {

/// Calls on_progress as if there were no parts. A part has a rhythm of its own, which parts shorter than the interval do not reach:
/// then it is due between two of them.
class ProgressOfParts : StopReasons {
 public:
  ProgressOfParts(const RunOptions& options, const uit::ProcessHooks& hooks) : StopReasons(hooks, options), options_(options) {
    SetNext();
  }

  /// Within a part, by its first worker.
  void Say(const Progress& progress) {
    SetNext();
    options_.on_progress(progress);
  }
  /// Between two parts. If on_progress throws, HasThrown.
  void SayIfDue(const Progress& progress) {
    if (options_.on_progress && uit::Now() >= next_) Guard("on_progress", [&] { Say(progress); });
  }
  /// Whether it has thrown between two parts.
  bool HasThrown() const { return StopSeen() != 0; }
  /// What it has thrown then, or an empty string.
  using StopReasons::Message;

 private:
  void SetNext() { next_ = uit::Now() + options_.progress_interval; }

  const RunOptions& options_;
  uit::TimePoint next_;
};

/// Returns the options of a part that begins after so many updates and so much time. Its callbacks count from the run's begin.
UIT_DEFINE RunOptions OptionsOfPart(const RunOptions& options, std::uint64_t first_update, const PartPlanner& planner,
                                    ProgressOfParts& progress_of_parts) {
  RunOptions part = options;
  part.first_update = first_update;
  const std::chrono::nanoseconds elapsed = planner.Elapsed();
  const std::uint64_t done = planner.Done();
  if (options.on_progress) {
    part.on_progress = [&progress_of_parts, elapsed, done](Progress progress) {
      progress.elapsed += elapsed;
      progress.num_updates += done;
      progress_of_parts.Say(progress);
    };
  }
  if (options.on_status) {
    part.on_status = [&options, elapsed, done, shifted = std::vector<WorkerStatus>()](std::span<const WorkerStatus> all) mutable {
      shifted.assign(all.begin(), all.end());
      for (WorkerStatus& status : shifted) {
        if (status.elapsed.count() == 0) continue;  // it has not reported yet
        status.elapsed += elapsed;
        status.num_updates += done;
      }
      options.on_status(shifted);
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

/// A run in parts, while it lasts.
class RunOfParts {
 public:
  RunOfParts(PartMaker& maker, const RunPlan& plan, const RunOptions& options, const PartLimits& limits)
      : maker_(maker),
        plan_(plan),
        options_(options),
        planner_(plan, limits, PeriodOf(maker.GetMesh())),
        progress_(options, maker.GetMesh().GetWorld().Process()->Hooks()) {
    const uit::ProcessHooks& hooks = maker_.GetMesh().GetWorld().Process()->Hooks();
    if (options.stops_on_signal && hooks.heed_stops) stops_ = hooks.heed_stops();
    maker_.GetMesh().SetNumUpdates(std::max(maker_.GetMesh().NumUpdates(), options.first_update));
    first_ = planner_.RoundUp(maker_.GetMesh().NumUpdates());
  }

  RunReport Run() {
    while (!is_over_) {
      try {
        if (is_lost_) TryResume();
        else if (goes_on_) RunPart();
        else Finish();
      } catch (const uit::PeerLost& lost) {
        if (!maker_.OutlivesLosses()) throw;
        whole_.Lose(lost);
        is_lost_ = true;
      }
    }
    const StopReason reason = whole_.stopped_by;
    const bool writes_results = reason == StopReason::peer_lost || reason == StopReason::thrown || reason == StopReason::signal;
    if (stops_ && writes_results) stops_->Keep();
    return std::move(whole_);
  }

 private:
  static std::uint64_t PeriodOf(const MeshCore& mesh) {
    std::uint64_t period = 1;
    for (const auto& network : mesh.Partitions().front()->networks) period = std::lcm(period, network->period);
    return period;
  }
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  void RunPart() {
    const std::uint64_t first = planner_.RoundUp(maker_.GetMesh().NumUpdates());
    begin_ = {.done = first - first_, .elapsed = planner_.Elapsed()};
    reason_.reset();
    is_ended_ = false;
    RunReport part = maker_.Run(planner_.Next(), OptionsOfPart(options_, first, planner_, progress_));
    reached_ = planner_.Elapsed() + part.Elapsed();
    for (WorkerReport& worker : whole_.workers) {
      if (worker.effective_updates) worker.effective_updates = least_effective_;
    }
    AppendReport(whole_, std::move(part), planner_.Elapsed());
    const MeshCore& mesh = maker_.GetMesh();
    if (plan_.delivery.is_awaited) LimitEffective(whole_, mesh.Partitions().front()->max_delay);
    is_lost_ = whole_.stopped_by == StopReason::peer_lost;
    is_over_ = whole_.stopped_by == StopReason::thrown || (is_lost_ && !maker_.OutlivesLosses());
    if (is_lost_ || is_over_) return;
    progress_.SayIfDue({whole_.workers.front().elapsed, whole_.workers.front().num_updates});
    const std::chrono::nanoseconds longest = AgreeOnEnd(mesh.GetWorld());
    if (is_over_) return;
    reason_ = whole_.stopped_by;
    goes_on_ = planner_.GoesOn(whole_.stopped_by, mesh.NumUpdates() - first, longest - planner_.Elapsed());
    maker_.EndPart(!goes_on_);
    is_ended_ = !goes_on_;
  }
  /// Lets all processes have the same reason for the part's end, because a signal may have come to some after the others had agreed,
  /// and on_progress may have thrown on some. Returns how long the whole run has taken.
  std::chrono::nanoseconds AgreeOnEnd(const uit::World& world) {
    struct End {
      std::chrono::nanoseconds elapsed{0};
      int signal = 0;
      int num_thrown = 0;
      std::uint64_t effective = 0;  // updates; `unknown` if a worker does not tell
    };
    const std::vector<End> ends = world.AllGatherValue(End{whole_.Elapsed(), whole_.signal, progress_.HasThrown() ? 1 : 0,
                                                           whole_.EffectiveUpdates().value_or(unknown)});
    const std::uint64_t least = std::ranges::min(ends, {}, &End::effective).effective;
    least_effective_ = least == unknown ? std::nullopt : std::optional(least);
    if (std::ranges::any_of(ends, [](const End& end) { return end.num_thrown != 0; })) {
      is_over_ = true;
      whole_.stopped_by = StopReason::thrown;
      whole_.message = progress_.Message();
      for (const uit::Bytes& theirs : world.AllGather(std::as_bytes(std::span(whole_.message)))) {
        if (whole_.message.empty()) whole_.message.assign(reinterpret_cast<const char*>(theirs.data()), theirs.size());
      }
      return {};
    }
    if (const int signal = std::ranges::max(ends, {}, &End::signal).signal; signal != 0) {
      whole_.stopped_by = StopReason::signal;
      whole_.signal = signal;
    }
    return ends.front().elapsed;  // rank 0 knows all workers
  }
  /// Goes on after a loss. The processes may have come to different parts, so they agree on where the run is.
  void TryResume() {
    struct Place {
      PartPlanner::State state;
      PartPlanner::State begin;          // of the newest part
      std::optional<StopReason> reason;  // of its end, if known
      int signal;
      bool is_ended;
    };
    if (!maker_.TryGoOn(whole_)) {
      is_over_ = true;
      return;
    }
    Place place{planner_.GetState(), begin_, reason_, whole_.signal, is_ended_};
    place.state.elapsed = std::max(place.state.elapsed, reached_);
    for (const Place& theirs : maker_.GetMesh().GetWorld().AllGatherValue(place)) {
      place.state.elapsed = std::max(place.state.elapsed, theirs.state.elapsed);
      place.state.stride = std::max(place.state.stride, theirs.state.stride);
      place.state.duration = std::max(place.state.duration, theirs.state.duration);
      place.begin.elapsed = std::max(place.begin.elapsed, theirs.begin.elapsed);
      place.begin.done = std::max(place.begin.done, theirs.begin.done);
      if (theirs.reason) place.reason = theirs.reason;
      place.signal = std::max(place.signal, theirs.signal);
      place.is_ended = place.is_ended || theirs.is_ended;
    }
    place.state.done = std::max(maker_.GetMesh().NumUpdates(), first_) - first_;
    planner_.Resume(place.state);
    is_lost_ = false;
    if (place.is_ended || place.reason == StopReason::signal) {
      goes_on_ = false;
      whole_.stopped_by = *place.reason;
      whole_.signal = place.signal;
      return;
    }
    if (!planner_.IsPending()) Repeat(place.state, place.begin);
    goes_on_ = planner_.IsPending();
    whole_.stopped_by = plan_.updates != 0 && planner_.Done() >= plan_.updates ? StopReason::count : StopReason::clock;
  }
  /// Makes the last part again, for the nodes that have been taken over: they have their values from before it. In modes 0
  /// and 5 all nodes have gone back.
  void Repeat(PartPlanner::State state, const PartPlanner::State& begin) {
    const bool has_made_all = plan_.updates != 0 && state.done >= plan_.updates && !plan_.delivery.is_by_update;
    if (state.duration.count() != 0) state.duration += state.elapsed - begin.elapsed;
    if (has_made_all) state.done = begin.done;
    planner_.Resume(state);
    if (has_made_all) maker_.RepeatFrom(first_ + begin.done);
  }
  /// Heeds signals that have come since the last part.
  void Finish() {
    const int late = std::ranges::max(maker_.GetMesh().GetWorld().AllGatherValue(stops_ ? stops_->Take() : 0));
    if (late != 0 && whole_.stopped_by != StopReason::signal) {
      whole_.stopped_by = StopReason::signal;
      whole_.signal = late;
    }
    is_over_ = true;
  }

  PartMaker& maker_;
  const RunPlan& plan_;
  const RunOptions& options_;
  PartPlanner planner_;
  ProgressOfParts progress_;
  std::unique_ptr<uit::StopSource> stops_;  // of signals that come between two parts
  RunReport whole_;
  std::uint64_t first_ = 0;              // update of the run
  PartPlanner::State begin_;             // where the newest part has begun
  std::chrono::nanoseconds reached_{0};  // when it ended here, since the run has begun
  // Of all workers after the newest part. In the next part, the values of any of them may reach any other.
  std::optional<std::uint64_t> least_effective_{};
  std::optional<StopReason> reason_;     // why it ended, once all have agreed
  bool goes_on_ = true;                  // another part follows
  bool is_lost_ = false;                 // a process was lost, and the run has not gone on yet
  bool is_ended_ = false;                // the last part has come to its end
  bool is_over_ = false;
};

UIT_DEFINE RunReport RunInParts(PartMaker& maker, const RunPlan& plan, const RunOptions& options, const PartLimits& limits) {
  plan.Check();
  return RunOfParts(maker, plan, options, limits).Run();
}

}  // namespace netuit::detail
