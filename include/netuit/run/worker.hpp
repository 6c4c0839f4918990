#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/replay/record_reader.hpp>
#include <netuit/replay/tape.hpp>
#include <netuit/run/layer_traffic.hpp>
#include <netuit/run/observers.hpp>
#include <netuit/run/pacer.hpp>
#include <netuit/run/quality_sampler.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/simulated_cost.hpp>
#include <netuit/run/sweep.hpp>
#include <netuit/run/team.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

/// One thread's part in a run.
class Worker {
 public:
  Worker(Mesh& mesh, Team& team, const RunOptions& options, const replay::Tape& tape, std::uint64_t first_stamp,
         std::uint32_t thread, Sweep& sweep)
      : traffic_(mesh, team, options, tape, first_stamp, thread),
        team_(team),
        options_(options),
        thread_(thread),
        sweep_(sweep),
        is_synchronous_(options.mode == AsyncMode::every_update),
        communicates_(traffic_.Communicates()),
        pacer_(options),
        cost_(options),
        is_traced_(mesh.IsTraced()),
        sampler_(mesh, traffic_.GetPartition(), options.quality),
        observers_(mesh, traffic_.GetPartition(), team, options, pacer_, MyPlace()) {}

  /// Works from the start barrier to the end of the drain. The snapshots go to `quality`.
  WorkerReport Work(std::vector<QualityRow>& quality) {
    Call("the record", [this] { traffic_.Prepare(); });
    Meet({.is_pending = 1});
    const uit::TimePoint start = uit::Now();
    pacer_.Start(start);
    sampler_.Start(start, options_.duration);
    if (is_synchronous_) KeepPace();
    else if (traffic_.IsReplay()) GoByRecord();
    else if (options_.mode == AsyncMode::rolling || options_.mode == AsyncMode::fixed) MeetNowAndThen();
    else GoAhead();
    const uit::TimePoint end = uit::Now();
    elapsed_ = pacer_.Elapsed(end);
    sampler_.Finish(end, num_updates_);
    if (traffic_.IsTaped()) Call("the record", [this] { traffic_.EndUpdatesTaped(); });
    Drain();
    quality = sampler_.TakeRows();
    WorkerReport report = Report();
    if (traffic_.IsTaped()) Call("the record", [&] { traffic_.FinishTaped(report); });
    return report;
  }

 private:
  // Modes 1-4, and 0: an update of every node.

  void Update() {
    if (traffic_.IsTaped()) [[unlikely]] {
      if (!PullTaped() && !is_synchronous_) return;
    } else if (communicates_) {
      Communicate([this] { traffic_.Pull(); });
    }
    if (is_traced_) traffic_.Read(uit::Now());
    UpdateNodes();
    if (communicates_) Communicate([this] { traffic_.Send(num_updates_); });
    ++num_updates_;
  }
  bool IsRecordOver() {
    bool is_over = true;
    if (!is_record_cut_) Call("the record", [&] { is_over = traffic_.IsRecordOver(); });
    return is_over;
  }
  /// False if there is nothing to go by, or nothing can be written.
  bool PullTaped() {
    bool is_pulled = false;
    Communicate([&] {
      try {
        traffic_.PullTaped();
        is_pulled = true;
      } catch (const replay::RecordEnd&) {
        is_record_cut_ = true;
      } catch (const uit::InputError&) {
        is_record_cut_ = true;
        team_.StopByThrow("the record", std::current_exception());
      } catch (const uit::OutputError&) {
        team_.StopByThrow("the record", std::current_exception());
      }
    });
    return is_pulled;
  }
  void UpdateNodes() {
    const Partition& partition = traffic_.GetPartition();
    std::uint32_t position = 0;
    try {
      sweep_.Update(thread_, num_updates_, position);
    } catch (const replay::RecordEnd&) {
      is_record_cut_ = true;
    } catch (...) {
      team_.StopByThrow("the update of node " + partition.graph.Label(position), std::current_exception());
    }
    traffic_.CountUpdate(num_updates_);
    cost_.Charge(static_cast<std::uint32_t>(partition.graph.nodes.size()));
  }

  // Mode 0.

  void KeepPace() {
    for (bool goes_on = !IsDone(); goes_on;) {
      const std::uint64_t update = num_updates_;
      if (update != 0) traffic_.ShowWritten(update);
      traffic_.SetStamp(update);
      Update();
      Communicate([this, update] { traffic_.EndUpdate(update); });
      Meet(View(uit::Now()));
      ++num_barriers_;
      goes_on = GoesOn();
      if (!goes_on) sampler_.Finish(uit::Now(), num_updates_);  // all snapshots end before what is next read is shown
      traffic_.Refresh(update);
      team_.MeetHere([this] { return Idle(); });
    }
    if (num_updates_ != 0) traffic_.ShowWritten(drain_update);
  }

  // Modes 1 and 2.

  void MeetNowAndThen() {
    for (;;) {
      const uit::TimePoint now = uit::Now();
      Attend(now);
      if (!IsDone() && !pacer_.IsBarrierDue(now) && !pacer_.IsOver(now) && team_.StopSeen() == 0) {
        Update();
        continue;
      }
      Accord mine = View(now);
      mine.next = pacer_.ProposeNext(now);
      Meet(mine);
      ++num_barriers_;
      if (!GoesOn()) return;
      pacer_.Continue(uit::Now(), team_.Agreed().next);
    }
  }

  // Modes 1 to 4, replayed: no worker waits for another, and what another throws ends its updates when it did.

  void GoByRecord() {
    const auto is_hindered = [this] {
      return team_.StopSeen() >= Team::Encode(StopReason::signal) && team_.StopSeen() != Team::Encode(StopReason::thrown);
    };
    while (!IsRecordOver()) {
      Attend(uit::Now());
      if (is_hindered()) is_record_cut_ = true;
      else Update();
    }
    reason_ = team_.StopSeen() != 0 ? team_.StopSeen() : Team::Encode(StopReason::count);
  }

  // Modes 3 and 4.

  void GoAhead() {
    uit::TimePoint now{};
    std::uint64_t next_reading = 0;
    for (;;) {
      if (num_updates_ >= next_reading) {
        now = uit::Now();
        next_reading = num_updates_ + options_.clock_every;
        Attend(now);
      }
      if (team_.StopSeen() != 0 || pacer_.IsOver(now) || IsDone()) {
        reason_ = View(now).stop;
        if (reason_ == 0) reason_ = Team::Encode(StopReason::count);
        return;
      }
      Update();
    }
  }

  /// After a barrier: whether the workers agreed to go on; if not, why.
  bool GoesOn() {
    reason_ = team_.Agreed().stop != 0 ? team_.Agreed().stop : Team::Encode(StopReason::count);
    return team_.Agreed().stop == 0 && team_.Agreed().is_pending != 0;
  }
  bool IsDone() {
    if (traffic_.IsReplay()) [[unlikely]] return IsRecordOver();
    return options_.num_updates != 0 && num_updates_ >= options_.num_updates;
  }
  Accord View(uit::TimePoint now) {
    Attend(now);
    Accord mine;
    mine.stop = team_.StopSeen();
    if (mine.stop == 0 && !traffic_.IsReplay() && pacer_.IsOver(now)) mine.stop = Team::Encode(StopReason::clock);
    mine.is_pending = IsDone() ? 0 : 1;
    return mine;
  }
  bool IsTimeToLook(uit::TimePoint now) {
    if (now < next_look_) return false;
    next_look_ = now + std::chrono::milliseconds(1);
    return true;
  }
  /// Now and then a worker takes its snapshots and lets the user look, and the first looks after the process: signals, other
  /// processes' stops.
  void Attend(uit::TimePoint now) {
    if (now >= sampler_.Next()) [[unlikely]] sampler_.Look(now, num_updates_);
    observers_.Look(now, num_updates_);
    if (thread_ == 0 && IsTimeToLook(now)) Communicate([&] { team_.LookOut(!is_synchronous_); });
  }
  /// Runs what goes by the record, or what is the user's; if it throws, the run ends.
  template <typename G>
  void Call(const char* name, G&& call) {
    team_.Guard(name, [&] {
      try {
        call();
      } catch (const replay::RecordEnd&) {
        is_record_cut_ = true;
      }
    });
  }
  Place MyPlace() { return {static_cast<std::uint32_t>(traffic_.GetFabric().GetWorld().Rank()), thread_}; }

  // Every mode.

  void Meet(const Accord& mine) {
    team_.Meet(thread_, mine, pacer_.Patience(), [this] { return Idle(); });
  }
  /// What there is to do while others are awaited. Returns whether anything arrived.
  bool Idle() {
    bool has_arrived = false;
    Communicate([&] { has_arrived = traffic_.GetFabric().Poll(); });
    return has_arrived;
  }
  /// Runs what talks to other workers; trouble there ends the run, not the program.
  template <typename G>
  void Communicate(G&& talk) {
    if (team_.IsBroken()) return;
    try {
      std::forward<G>(talk)();
    } catch (const std::exception& trouble) {
      team_.Break(trouble.what());
    }
  }
  /// When all have stopped: brings everything under way to its end, and everybody's last values to all.
  void Drain() {
    // Others may have much to do yet, and the first worker goes on to watch for signals.
    const auto patience = traffic_.IsReplay() ? std::chrono::nanoseconds::max() : pacer_.Patience();
    team_.Meet(thread_, {.stop = reason_}, patience, [this] {
      if (thread_ == 0 && IsTimeToLook(uit::Now())) team_.LookOut(false);
      return Idle();
    });
    team_.BreakIfApart();
    traffic_.BeginDrain();
    Communicate([this] { traffic_.EndUpdate(drain_update); });
    traffic_.ShowAll();
    Meet({.stop = team_.Agreed().stop});  // frames leave while waiting here; when all have come, all has been received
    Collect();
    if (traffic_.IsTaped()) traffic_.Untap();
    traffic_.DiscardUnread();
    Communicate([this] { traffic_.EndDrain(); });
    Meet({.stop = team_.Agreed().stop});
  }
  /// A look at what has arrived too late for the last update.
  void Collect() {
    if (!sweep_.Collects()) return;
    bool collects = !team_.IsBroken() && !is_record_cut_;
    if (traffic_.IsTaped()) Call("the record", [&] { collects = traffic_.CollectsTaped(std::exchange(collects, false)); });
    if (collects) Call("collect", [this] { sweep_.Collect(thread_, num_updates_); });
  }
  WorkerReport Report() {
    WorkerReport report;
    report.place = MyPlace();
    report.num_nodes = traffic_.GetPartition().graph.nodes.size();
    report.num_updates = num_updates_;
    report.num_barriers = num_barriers_;
    report.elapsed = elapsed_;
    traffic_.AddTallies(report);
    return report;
  }

  LayerTraffic traffic_;
  Team& team_;
  const RunOptions& options_;
  std::uint32_t thread_;
  Sweep& sweep_;
  bool is_synchronous_;
  bool communicates_;  // between two updates
  Pacer pacer_;
  SimulatedCost cost_;
  bool is_traced_;
  QualitySampler sampler_;
  Observers observers_;
  std::uint64_t num_updates_ = 0;
  std::uint64_t num_barriers_ = 0;
  std::chrono::nanoseconds elapsed_{0};
  uit::TimePoint next_look_{};
  std::uint32_t reason_ = Team::Encode(StopReason::count);
  bool is_record_cut_ = false;  // a replay has nothing more to go by, or goes no further
};

}  // namespace netuit::detail
