#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <netuit/mesh/capture_store.hpp>
#include <netuit/mesh/cut_reduction.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/phase.hpp>
#include <netuit/mesh/shared_base.hpp>
#include <netuit/mesh/turn_order.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/run/channel_rows.hpp>
#include <netuit/run/meetings.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/run_record.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/schedules.hpp>
#include <netuit/run/run_control.hpp>
#include <netuit/run/update_loop.hpp>
#include <netuit/run/worker.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/support/simulation.hpp>
#include <uit/team/thread_pool.hpp>
#include <uit/link/world.hpp>

namespace netuit {

namespace detail {

UIT_DEFINE void RunWorkers(MeshCore& mesh, RunControl& control, const RunPlan& plan, const RunOptions& options, UpdateLoop& loop,
                           RunReport& report) {
  const std::uint64_t number = mesh.NextRun();
  const std::uint64_t first_stamp = mesh.NextStamp();
  const RunRecord record = RunRecord::Open(mesh, options, plan, number);
  record.SayEarlyEnds([&control](const std::string& words) { control.Warn(words); });
  report.workers.resize(mesh.NumThreads());
  std::vector<std::vector<QualityRow>> quality(mesh.NumThreads());
  std::vector<Timeline> timelines(mesh.NumThreads());
  std::vector<std::vector<ExchangeCounts>> before;  // by thread
  for (std::uint32_t thread = 0; options.quality.channels && thread < mesh.NumThreads(); ++thread)
    before.push_back(CountChannels(mesh, thread));
  for (const auto& rule : mesh.CutRules()) rule->ForgetRun();
  const auto work = [&](std::uint32_t thread) {
    Worker worker(mesh, control, plan, options, record.RecordOf(thread), first_stamp, thread, loop);
    report.workers[thread] = worker.Work(quality[thread], timelines[thread]);
  };
  mesh.Threads().Run(work);
  const std::uint64_t most_updates = control.Agreed().next;
  mesh.SetNextStamp(first_stamp + Phase::Drain(most_updates).Place() + 1);
  mesh.SetNumUpdates(std::max(mesh.NumUpdates(), options.first_update) + most_updates);
  if (!options.replay.empty() && !plan.delivery.is_by_update) {
    mesh.SetLacksUnread(std::ranges::any_of(report.workers, [](const WorkerReport& of) { return of.tally.get.unread != 0; }));
  }
  for (const Timeline& timeline : timelines) report.timeline.Append(timeline);
  for (const auto& rows : quality) report.quality.insert(report.quality.end(), rows.begin(), rows.end());
  for (std::uint32_t thread = 0; options.quality.channels && thread < mesh.NumThreads(); ++thread) {
    const WorkerReport& worker = report.workers[thread];
    AddChannelHalves(mesh, thread, before[thread], worker.elapsed, worker.num_updates, report.channels);
  }
}

/// Appends the number of values, then the values.
template <typename V>
  requires std::is_trivially_copyable_v<V>
void Pack(uit::Bytes& bytes, std::span<const V> values) {
  const std::uint64_t count = values.size();
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof count + values.size_bytes());
  std::memcpy(bytes.data() + at, &count, sizeof count);
  if (count != 0) std::memcpy(bytes.data() + at + sizeof count, values.data(), values.size_bytes());
}
/// Appends the values that Pack wrote to `values`; nothing if the bytes were cut short.
template <typename C>
void Unpack(uit::ByteReader& reader, C& values) {
  using V = typename C::value_type;
  std::uint64_t count = 0;
  uit::ByteView taken;
  if (!reader.TryRead(count) || count > reader.Rest().size() / sizeof(V) || !reader.TryTake(count * sizeof(V), taken)) return;
  const std::size_t at = values.size();
  values.resize(at + count);
  if (count != 0) std::memcpy(values.data() + at, taken.data(), taken.size());
}

/// Collects every process's part on rank 0.
UIT_DEFINE void GatherReport(RunReport& report, const uit::World& world) {
  uit::Bytes mine;
  Pack(mine, std::span<const WorkerReport>(report.workers));
  Pack(mine, std::span<const QualityRow>(report.quality));
  Pack(mine, std::span<const QualityRow>(report.channels));
  Pack(mine, std::span<const TimelineSpan>(report.timeline.spans));
  Pack(mine, std::span<const TimelineCount>(report.timeline.counts));
  Pack(mine, std::span<const char>(report.message));
  const std::vector<uit::Bytes> parts = world.Gather(mine);
  if (!world.IsRoot()) return;
  report = RunReport{.stopped_by = report.stopped_by, .signal = report.signal};
  for (const uit::Bytes& part : parts) {  // empty for a process that was lost meanwhile
    uit::ByteReader reader(part);
    std::string theirs;
    Unpack(reader, report.workers);
    Unpack(reader, report.quality);
    Unpack(reader, report.channels);
    Unpack(reader, report.timeline.spans);
    Unpack(reader, report.timeline.counts);
    Unpack(reader, theirs);
    if (report.message.empty()) report.message = theirs;
  }
}

/// Warns of exchanges that are too large for shared memory: once per mesh, and again if layers are added.
UIT_DEFINE void WarnOfUnsharedExchanges(MeshCore& mesh, RunControl& control) {
  constexpr std::size_t max_named = 8;
  std::size_t num_exchanges = 0;
  std::size_t num_named = 0;
  std::string ranks;
  const auto unshared = mesh.TakeUnsharedExchanges();
  for (const auto& [rank, count] : unshared) {
    num_exchanges += count;
    if (++num_named <= max_named) ranks += (num_named == 1 ? " " : ", ") + std::to_string(rank);
  }
  if (num_exchanges == 0) return;
  if (num_named > max_named) ranks += " and " + std::to_string(num_named - max_named) + " more";
  control.Warn(std::to_string(num_exchanges) + (num_exchanges == 1 ? " exchange" : " exchanges") + " with rank" +
            (num_named == 1 ? "" : "s") + ranks +
            " cannot have shared memory of their own, because their buffers are too large, and go through the slower link to "
            "the process; see depth, buffer_bytes and max_message_bytes in MeshOptions");
}

/// Returns the plan of a replay, which only the record's end limits.
UIT_DEFINE RunPlan PlanOfReplay(RunPlan plan) {
  plan.updates = 0;
  plan.duration = std::chrono::nanoseconds{0};
  plan.slack.reset();
  plan.until.reset();
  plan.votes_aside = false;
  if (plan.delivery.is_awaited) {  // records may end apart, and barriers let all workers end together
    plan.make = [] { return std::make_unique<MeetingAlways>(); };
  } else if (!plan.delivery.is_by_update) {  // nodes see recorded values, so no worker needs another
    plan.make = [] { return std::make_unique<MeetingNever>(); };
  }
  return plan;
}

/// Makes edges show values with their delays, while it lives and if `is_on`.
class UsingDelays {
 public:
  UsingDelays(MeshCore& mesh, bool is_on) : mesh_(mesh) { mesh.UseDelays(is_on); }
  UsingDelays(const UsingDelays&) = delete;
  UsingDelays& operator=(const UsingDelays&) = delete;
  ~UsingDelays() { mesh_.UseDelays(false); }

 private:
  MeshCore& mesh_;
};

/// Gives nodes their turns at objects that they use in sequence, while it lives.
class TakingTurns {
 public:
  /// `turns` may be null.
  TakingTurns(TurnOrder* turns, const MeshCore& mesh, std::uint64_t first_update, bool is_by_level) : turns_(turns) {
    if (turns != nullptr) turns->Begin(mesh.Partitions(), first_update, is_by_level);
  }
  TakingTurns(const TakingTurns&) = delete;
  TakingTurns& operator=(const TakingTurns&) = delete;
  ~TakingTurns() {
    if (turns_ != nullptr) turns_->End();
  }

 private:
  TurnOrder* turns_;
};

UIT_DEFINE RunReport RunUpdateLoop(MeshCore& mesh, const RunPlan& given, const RunOptions& options, UpdateLoop& loop) {
  given.Check();
  CheckOptions(options);
  RunPlan plan = options.replay.empty() ? given : PlanOfReplay(given);
  if (plan.steals && !(options.record.empty() && options.replay.empty()))
    throw uit::InputError("a run with steals can be neither recorded nor replayed");
  if (plan.steals && std::ranges::any_of(mesh.SharedObjects(), [](const auto& object) { return object->NeedsOwnWorker(); }))
    throw uit::InputError("steals cannot be used with objects that nodes share in sequence or one at a time");
  if (!mesh.IsOpen()) throw uit::Error("the mesh cannot run, because it is closed or has lost a peer; make a new one");
  if (plan.slack && std::ranges::none_of(mesh.Layers(), [](const auto& layer) { return layer->TellsUpdates(); }))
    throw uit::InputError("slack bounds the age of published values, but the mesh has no published field");
  for (const auto& network : mesh.Partitions().front()->networks) {
    if (options.first_update % network->period != 0)
      throw uit::InputError("first_update must be a multiple of every network's period, and one has a period of " +
                            std::to_string(network->period) + " updates");
  }
  if (plan.delivery.is_awaited && !mesh.CutRules().empty() && mesh.NumSlotsByUpdate() != mesh.NumSlots())
    throw uit::InputError("a mesh with reductions over cuts cannot run by Dataflow with edge delays other than 1");
  if (mesh.Turns() != nullptr && !plan.delivery.is_by_update)
    throw uit::InputError("an object that nodes use in sequence needs EveryUpdate or Dataflow: other modes have no common order of updates");
  const bool has_older = plan.delivery.is_awaited && mesh.Partitions().front()->max_delay > 1;
  plan.delivery.keeps_older = has_older && mesh.HasOlderValues() && options.first_update >= mesh.NumUpdates();
  mesh.SetHasOlderValues(false);
  if (plan.delivery.is_awaited) mesh.JoinAwaited();
  mesh.Connect();
  if (uit::is_simulated && mesh.NumThreads() != 1) throw uit::InputError("a simulated process has one thread");
  RunControl control(mesh.GetBarrier(), *mesh.GetWorld().Process(), mesh.NumThreads(), options, plan);
  WarnOfUnsharedExchanges(mesh, control);
  if (!mesh.Captures().empty()) mesh.AlignCaptures();
  RunReport report;
  const UsingDelays delays(mesh, plan.delivery.is_awaited);
  const TakingTurns turns(mesh.Turns(), mesh, options.first_update, plan.delivery.is_awaited);
  mesh.UseSeed(options.seed);
  RunWorkers(mesh, control, plan, options, loop, report);
  mesh.SetHasOlderValues(has_older && !control.IsBroken());
  control.HeedLateSignal();
  const auto take_reason = [&] {
    report.stopped_by = control.Reason();
    report.signal = control.Signal();
    report.message = control.Message();
  };
  take_reason();
  if (control.IsBroken()) {
    report.lost_peers = control.LostPeers();
    mesh.GetBarrier().Leave();
    mesh.Break();
  } else {
    try {
      if (!options.record.empty()) {  // its last events may find no room
        control.HeedLateThrow(mesh.GetWorld());
        take_reason();
      }
      GatherReport(report, mesh.GetWorld());
    } catch (const uit::PeerLost& lost) {  // after the last barrier
      report.Lose(lost);
      control.KeepSignals();
      mesh.GetBarrier().Leave();
      mesh.Break();
    }
  }
  JoinChannelHalves(report.channels);
  report.is_root = mesh.GetWorld().IsRoot();
  return report;
}

}  // namespace detail

}  // namespace netuit
