#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/checkpoint/mesh_state.hpp>
#include <netuit/checkpoint/take_over.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/resilience/recovery.hpp>
#include <netuit/run/run_in_parts.hpp>
#include <netuit/run/run_options.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

/// Throws uit::InputError if an option is invalid.
UIT_DEFINE CheckpointOptions CheckedForRecovery(CheckpointOptions options) {
  if (options.to.empty()) throw uit::InputError("a resilient program needs a folder for checkpoints; see CheckpointOptions::to");
  if (options.every.count() < 0) throw uit::InputError("CheckpointOptions::every must not be negative");
  if (options.every.count() == 0 && options.every_updates == 0)
    throw uit::InputError("a resilient program needs checkpoints during a run; see CheckpointOptions::every and every_updates");
  return options;
}

UIT_DEFINE Recovery::Recovery(ResilientKeeper& keeper, const uit::Team& team, CheckpointOptions checkpoints)
    : keeper_(keeper),
      checkpoints_(CheckedForRecovery(std::move(checkpoints))),
      process_(team.GetWorld().Process()),
      team_(team.On(team.GetWorld().Duplicate())),
      ranks_(team.NumProcesses()) {
  std::iota(ranks_.begin(), ranks_.end(), std::size_t{0});
}

UIT_DEFINE Recovery::~Recovery() {
  const uit::World& world = team_.GetWorld();
  if (!world.Process()->IsBroken()) {
    try {
      world.Release(uit::After(std::chrono::seconds(std::uncaught_exceptions() == 0 ? 10 : 2)));
    } catch (const std::exception& trouble) {
      world.Process()->Fail(trouble.what());
    }
  }
  if (const std::string words = world.Process()->Trouble(); !words.empty()) process_->Note(words);
}

UIT_DEFINE RunReport Recovery::RunAll(const RunPlan& plan, const RunOptions& options) {
  CheckReplaceable(keeper_.GetMesh(), options, "resilient");
  plan.Check();
  rolls_back_ = plan.delivery.is_by_update;
  peer_timeout_ = options.peer_timeout;
  const std::size_t num_before = losses_.size();
  Mesh& mesh = keeper_.GetMesh();
  if (plan.delivery.is_awaited) mesh.JoinAwaited();
  mesh.Connect();  // the first mesh may get its shared memory from MPI, which waits for all: nothing does so from the checkpoint on
  mesh.UseSeed(options.seed);  // which a program that goes on from here needs
  SaveCheckpoint(mesh, checkpoints_.to, checkpoints_.notes);
  RunReport report =
      RunInParts(*this, plan, options, {.every = checkpoints_.every, .every_updates = checkpoints_.every_updates});
  for (const std::size_t rank : std::exchange(report.lost_peers, {}))
    if (report.stopped_by == StopReason::peer_lost && rank < ranks_.size()) report.lost_peers.push_back(ranks_[rank]);
  for (const Loss& loss : std::span(losses_).subspan(num_before))
    report.lost_peers.insert(report.lost_peers.end(), loss.ranks.begin(), loss.ranks.end());
  std::ranges::sort(report.lost_peers);
  return report;
}

UIT_DEFINE RunReport Recovery::Run(const RunPlan& plan, const RunOptions& options) {
  const uit::TimePoint begin = uit::Now();
  RunReport report = keeper_.RunPart(plan, options);
  longest_part_ = std::max<std::chrono::nanoseconds>(longest_part_, uit::Now() - begin);
  earlier_.AddTo(report);
  return report;
}

UIT_DEFINE void Recovery::EndPart(bool) { SaveCheckpoint(keeper_.GetMesh(), checkpoints_.to, checkpoints_.notes); }

UIT_DEFINE Loss Recovery::Restore(Mesh& from, Mesh& to) {
  const TakeOverResult result = rolls_back_ ? GoBack(to, checkpoints_.to) : TakeOver(from, to, checkpoints_.to);
  return {.num_updates = to.NumUpdates(), .num_nodes = result.num_nodes, .num_messages = result.num_messages};
}

UIT_DEFINE std::vector<WorkerReport> Recovery::GatherWorkers(const uit::Team& team, const std::vector<WorkerReport>& all) {
  std::vector<WorkerReport> mine = all;  // on the first process of a team, its own are the first
  mine.resize(team.NumThreads());
  for (WorkerReport& worker : mine) worker.effective_updates.reset();  // they do not go on on another mesh
  std::vector<WorkerReport> gathered = team.GetWorld().GatherValues<WorkerReport>(mine);
  return team.IsRoot() ? gathered : mine;
}

UIT_DEFINE std::chrono::nanoseconds Recovery::Patience() const {
  // The others may have begun another part before they noticed the loss. Earlier ones tell how long it takes; twice that, because the
  // processes have more nodes than before if some have ended.
  const std::chrono::nanoseconds part = std::max(checkpoints_.every, 2 * longest_part_);
  return peer_timeout_ + std::min(part, std::chrono::nanoseconds::max() - peer_timeout_);
}

UIT_DEFINE bool Recovery::TryGoOn(RunReport& whole) {
  keeper_.GetMesh().Break();  // so that it ends without waiting for anybody
  const std::optional<uit::Survivors> survivors = team_.GetWorld().FindSurvivors(uit::After(Patience()));
  if (!survivors) return false;
  const uit::TimePoint begin = uit::Now();
  const uit::Team next = team_.On(survivors->world);
  std::vector<WorkerReport> workers;
  Loss loss;
  keeper_.Replace(next, [&](Mesh& from, Mesh& to) {
    loss = Restore(from, to);
    workers = GatherWorkers(next, whole.workers);
    loss.took = uit::Now() - begin;
    loss.took = next.GetWorld().BroadcastValue(loss.took);
  });
  std::vector<std::size_t> ranks;
  for (const std::size_t rank : survivors->ranks) ranks.push_back(ranks_[rank]);
  std::ranges::set_difference(ranks_, ranks, std::back_inserter(loss.ranks));
  ranks_ = std::move(ranks);
  losses_.push_back(std::move(loss));
  team_ = next;
  earlier_ = EarlierAccounts(workers);
  whole.workers = std::move(workers);
  whole.lost_peers.clear();
  whole.message.clear();
  whole.is_root = team_.IsRoot();
  return true;
}

UIT_DEFINE void Recovery::RepeatFrom(std::uint64_t num_updates) {
  PartMaker::RepeatFrom(num_updates);
  losses_.back().num_updates = num_updates;
}

}  // namespace netuit::detail
