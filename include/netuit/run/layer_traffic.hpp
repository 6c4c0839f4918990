#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <netuit/mesh/capture_store.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/phase.hpp>
#include <netuit/replay/record_format.hpp>
#include <netuit/replay/record_reader.hpp>
#include <netuit/replay/record_writer.hpp>
#include <netuit/replay/worker_record.hpp>
#include <netuit/run/cut_rounds.hpp>
#include <netuit/run/cutter.hpp>
#include <netuit/run/late_notice.hpp>
#include <netuit/run/run_control.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/update_record.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/process_hooks.hpp>
#include <uit/support/simulation.hpp>

namespace netuit::detail {

/// Moves one thread's values and messages in a run, layer by layer, and waits for those of others. It does not depend on the
/// update function or on the times of barriers. That thread only. More than 300 lines, because the phases of a run are read together.
class LayerTraffic {
 public:
  /// Serves the partition of `thread`. Frames carry the place of their phase plus `first_stamp`. If the run has a record, incoming
  /// data is written to `record` or read from it.
  LayerTraffic(MeshCore& mesh, RunControl& control, const RunOptions& options, const RunPlan& plan,
               const replay::WorkerRecord& record, std::uint64_t first_stamp, std::uint32_t thread)
      : fabric_(mesh.GetFabric()),
        partition_(*mesh.Partitions()[thread]),
        num_threads_(mesh.NumThreads()),
        hooks_(mesh.GetWorld().Process()->Hooks()),
        control_(control),
        thread_(thread),
        options_(options),
        record_(record),
        delivery_(plan.delivery),
        cutter_(mesh.Captures(), *mesh.Partitions()[thread], thread, options.first_update, plan.is_captured),
        rounds_(mesh, plan.delivery, thread, mesh.Seed(), options.first_update, plan.until.has_value() && record.reader == nullptr) {
    partition_.cuts = {};
    partition_.has_cuts = cutter_.IsOn() || rounds_.IsOn();
    for (LayerPart* const layer : Layers()) layer->SetFirstStamp(first_stamp);
  }

  /// Returns the worker's part of the mesh.
  Partition& GetPartition() { return partition_; }
  /// Returns the number of threads of each process.
  std::uint32_t NumThreads() const { return num_threads_; }
  /// Returns the object that reaches other processes.
  uit::Fabric& GetFabric() { return fabric_; }

  /// Prepares the ends for the run.
  void Prepare() {
    for (LayerPart* const layer : Layers()) layer->HandOver();  // first, because interceptors may throw
    for (LayerPart* const layer : Layers()) layer->Prepare(delivery_, record_.Get());
    partition_.effective = {};
    partition_.notes.reduced = partition_.none_given;
    partition_.agreed = {};
  }

  /// If frames carry time stamps: notes that an update begins at `now` and reads what has been pulled.
  void Read(uit::TimePoint now) {
    partition_.clock.begun = now;
    for (LayerPart* const layer : Layers()) layer->Read(now);
  }
  /// Notes how old the values of others are that an update is about to read.
  void NoteReads(std::uint64_t update) {
    for (const LayerPart* const layer : Layers()) layer->NoteReads(update, partition_.effective);
  }

  // Best effort.

  /// See LayerPart::VisitSources.
  void VisitSources(std::uint64_t update, uit::FunctionRef<void(std::uint32_t, std::uint64_t)> visit) {
    for (LayerPart* const layer : Layers()) layer->VisitSources(update, visit);
  }
  /// Takes in what has arrived before the given update, after the copies of fields that are due.
  void Pull(std::uint64_t update) {
    fabric_.Poll();
    Cut(update);
    for (LayerPart* const layer : Layers()) layer->Pull();
  }
  /// Sends the update's puts in layers that are due.
  void Send(std::uint64_t update) {
    for (LayerPart* const layer : Layers()) layer->Send(update);
  }

  // Recording and replay.

  /// Returns the worker's record.
  UpdateRecord& Record() { return record_; }
  const UpdateRecord& Record() const { return record_; }
  /// Takes in what has arrived and records the changes. Throws uit::OutputError.
  void PullRecorded(std::uint64_t update) {
    replay::RecordWriter& writer = *record_.Get().writer;
    std::size_t max_bytes = 0;
    for (const LayerPart* const layer : Layers()) max_bytes += layer->MaxRecordBytes();
    std::byte* at = writer.Reserve(max_bytes);
    fabric_.Poll();
    Cut(update);
    for (LayerPart* const layer : Layers()) at = layer->PullRecorded(at);
    writer.Commit(replay::Event::update, at);
  }
  /// Reads the values from the record that arrived before an update. Throws uit::InputError or RecordEnd.
  void ReplayValues() {
    replay::RecordReader& reader = *record_.Get().reader;
    for (LayerPart* const layer : Layers()) {
      if (!layer->TryReplay(reader.Rest())) reader.FailToRead();
    }
  }
  /// Ends recording or replay: later events are not part of the record.
  void StopIntercepting() {
    for (LayerPart* const layer : Layers()) layer->StopIntercepting();
  }

  // Updates whose values become visible together.

  /// Before the first update, after all workers have come here: reports the steps made between runs, so that their room can be
  /// used again.
  void BeginUpdates() {
    SetStamp(Phase::Start());
    ExchangeReports(Phase::Start());
  }
  /// Stamps frames with this phase from here on.
  void SetStamp(Phase phase) {
    for (LayerPart* const layer : Layers()) layer->SetStamp(phase);
  }
  /// Sends the last frames of an update, waits for those of all peers, and shows what was put.
  void EndUpdate(std::uint64_t update) {
    SendLast(update);
    // Where there is no barrier, a report must not overtake the frames of its update: the next report, and the next frames, are
    // then those of the update after, and come only when this worker has read what it needs.
    if (!delivery_.is_awaited) ReportUpdate(update);
    PullLast(update);
    if (delivery_.is_awaited) ReportUpdate(update);
    ReadReports(update);
    for (LayerPart* const layer : Layers()) layer->Refresh(update);
  }

  /// Whether workers update their nodes level by level.
  bool IsByLevel() const { return delivery_.is_awaited && !partition_.levels.empty(); }
  /// Waits within an update until `ready()`. To the other threads, this one has then ended it, as far as they ask how long to wait
  /// for other processes.
  template <typename Ready>
  void AwaitWithin(std::uint64_t update, Ready ready) {
    if (ready()) return;
    control_.NoteEnd(thread_, update);
    Await(update, ready);
    control_.NoteEnd(thread_, update, false);
  }

  // Every mode.

  /// Copies the fields that are due when the worker has made so many updates, or that others have copied.
  void Cut(std::uint64_t num_updates) {
    if (!partition_.has_cuts) [[likely]] return;
    const CutCounts newest = NewestCuts();
    cutter_.Cut(num_updates, newest.cuts);
    is_round_ready_ = rounds_.Prepare(num_updates, newest.rounds);
  }
  /// After the last update: copies the fields that are due for captures.
  void FinishCaptures(std::uint64_t num_updates) {
    if (partition_.has_cuts) cutter_.Cut(num_updates, NewestCuts().cuts);
  }
  /// Returns whether the reductions over cuts can be evaluated, since the last Cut.
  bool IsRoundReady() const { return is_round_ready_; }
  /// Returns the reductions over cuts.
  CutRounds& Rounds() { return rounds_; }

  /// Counts the puts of an update of all nodes.
  void FinishUpdate(std::uint64_t update) {
    for (LayerPart* const layer : Layers()) layer->FinishUpdate(update);
    partition_.effective.Finish();
    if constexpr (uit::is_simulated) {
      if (hooks_.charge) hooks_.charge(partition_.NumNodes(), options_.simulated_node_cost);
    }
    partition_.notes.silent.clear();
  }
  // The drain.

  /// After the worker's last update: lets its last values leave, for which others may wait. Gives up after a while, because nobody
  /// takes in those for a process that has ended.
  void SendOff() {
    const auto is_empty = [this] {
      return std::ranges::all_of(Layers(), [](LayerPart* layer) { return layer->TryEmpty(); });
    };
    uit::WaitUntil(is_empty, std::chrono::milliseconds(200), [this] { return Idle(); }, uit::Backoff(partition_.spin_habit));
  }
  /// After all workers have stopped: sends everything that was put, and waits until what the others sent has arrived. No worker has
  /// made more updates than `most_updates`.
  void Drain(std::uint64_t most_updates) {
    drain_ = Phase::Drain(most_updates);
    for (LayerPart* const layer : Layers()) layer->BeginDrain(drain_);
    SendLast(drain_);
    PullLast(drain_);
  }
  /// After all workers have drained: reports the steps to the inlets, and waits until all reports have arrived.
  void EndDrain() {
    ExchangeReports(drain_);
    for (LayerPart* const layer : Layers()) layer->EndDrain();
  }
  /// Describes the worker's nodes, what they have read, and the outcomes of its puts and gets.
  void Describe(WorkerReport& report) const {
    report.num_nodes = partition_.NumNodes();
    report.effective_updates = partition_.effective.Known();
    report.staleness = partition_.effective.Age();
    for (const LayerPart* const layer : Layers()) layer->AddTallies(report.tally, report.inside);
  }

 private:
  const std::vector<LayerPart*>& Layers() const { return partition_.layers; }
  CutCounts NewestCuts() {
    CutCounts newest = partition_.cuts;
    if (delivery_.is_by_update || delivery_.is_muted) return newest;
    for (LayerPart* const layer : Layers()) layer->RaiseToNewest(newest);
    return newest;
  }
  /// Sends the last frames of a phase.
  void SendLast(Phase phase) {
    control_.NoteEnd(thread_, phase);
    for (LayerPart* const layer : Layers()) {
      layer->BeginEnd(phase);
      Await(phase, [&] { return layer->TryEnd(phase) || MakeRoom(phase); });
    }
  }
  /// Waits for the last frames of all peers.
  void PullLast(Phase phase) {
    for (LayerPart* const layer : Layers()) Await(phase, [&] { return layer->TryPullLast(phase); });
  }
  void ExchangeReports(Phase phase) {
    for (LayerPart* const layer : Layers()) layer->ReportSteps();
    ReadReports(phase);
  }
  /// Reports the steps made in an update.
  void ReportUpdate(std::uint64_t update) {
    for (LayerPart* const layer : Layers()) {
      if (layer->IsDueNext(update)) layer->ReportSteps();
    }
  }
  void ReadReports(Phase phase) {
    for (LayerPart* const layer : Layers()) Await(phase, [&] { return layer->TryReadReports(phase); });
  }
  /// Takes in the last frames that others send in the same phase, so that no two workers wait for each other's room. Returns
  /// false, so that the caller continues to wait.
  bool MakeRoom(Phase phase) {
    for (LayerPart* const layer : Layers()) layer->MakeRoom(phase);
    return false;
  }
  /// Waits until `ready()`, or until the run breaks. The time that other processes have for their answer begins when all threads
  /// of this process have updated their nodes.
  template <typename Ready>
  void Await(Phase phase, Ready ready) {
    if (ready()) return;
    bool is_ready = false;
    bool is_anybody_gone = false;
    const auto is_over = [&] {
      if (control_.IsBroken()) return true;
      is_anybody_gone = control_.IsAnybodyGone();  // messages that it sent before have arrived by now
      is_ready = ready();
      return is_ready || is_anybody_gone;
    };
    LateNotice notice(options_.warn_after);
    const auto idle = [&] {
      notice.Try([this] { control_.Warn("waiting for messages from other processes"); });
      return Idle();
    };
    const auto is_due = [&] { return control_.HaveAllEnded(phase); };
    const uit::Backoff backoff(partition_.spin_habit);
    bool is_in_time = false;
    bool is_late = false;
    while (!is_in_time && !is_late) {  // within an update, a thread that seemed to wait only for others may go on
      uit::WaitUntil([&] { return (is_in_time = is_over()) || is_due(); }, uit::never, [&] { return Idle(); }, backoff);
      if (is_in_time) break;
      notice = LateNotice(options_.warn_after);
      is_late = !uit::WaitUntil([&] { return (is_in_time = is_over()) || !is_due(); }, options_.peer_timeout, idle, backoff);
    }
    if (is_ready || control_.IsBroken()) return;
    if (is_in_time) control_.BreakForTheGone("its messages are awaited");
    else control_.Break("no answer from another process within the time allowed");
  }

  /// Called while waiting for others. Returns whether there was progress.
  bool Idle() {
    const bool has_arrived = fabric_.Poll();
    return control_.TrySteal(thread_) || has_arrived;
  }

  uit::Fabric& fabric_;
  Partition& partition_;
  std::uint32_t num_threads_;
  const uit::ProcessHooks& hooks_;
  RunControl& control_;
  std::uint32_t thread_;
  const RunOptions& options_;
  UpdateRecord record_;
  Delivery delivery_;
  Cutter cutter_;
  CutRounds rounds_;
  bool is_round_ready_ = false;
  Phase drain_ = Phase::Drain(0);
};

}  // namespace netuit::detail
