#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/replay/record_reader.hpp>
#include <netuit/replay/worker_record.hpp>
#include <netuit/run/flow.hpp>
#include <netuit/run/layer_traffic.hpp>
#include <netuit/run/observers.hpp>
#include <netuit/run/quality_sampler.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/schedules.hpp>
#include <netuit/run/sweep.hpp>
#include <netuit/run/team.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/process_hooks.hpp>
#include <uit/support/simulation.hpp>

namespace netuit::detail {

/// One thread's part in a run.
class Worker {
 public:
  Worker(MeshCore& mesh, Team& team, const RunPlan& plan, const RunOptions& options, const replay::WorkerRecord& record,
         std::uint64_t first_stamp, std::uint32_t thread, Sweep& sweep)
      : traffic_(mesh, team, options, plan.delivery, record, first_stamp, thread),
        flow_(MakeFlow(traffic_, plan.delivery, record)),
        schedule_(plan.make()),
        team_(team),
        plan_(plan),
        options_(options),
        thread_(thread),
        sweep_(sweep),
        hooks_(mesh.GetWorld().Process()->Hooks()),
        is_traced_(mesh.IsTraced()),
        sampler_(mesh, traffic_.GetPartition(), options.quality),
        observers_(mesh, traffic_.GetPartition(), team, options, MyId()) {
    if (!traffic_.IsReplay()) return;
    // Only the record's end limits a replay. If nodes see recorded values, no worker needs another.
    plan_.updates = 0;
    plan_.duration = std::chrono::nanoseconds{0};
    if (!plan_.delivery.is_by_update) schedule_ = std::make_unique<MeetingNever>();
  }

  /// Works from the start barrier to the end of the drain. Writes the snapshots to `quality`.
  WorkerReport Work(std::vector<QualityRow>& quality) {
    Call("the record", [this] { traffic_.Prepare(); });
    const Vote first{.is_pending = HasMadeAll() ? 0U : 1U};
    Meet(first);
    if (plan_.delivery.is_by_update) {
      Communicate([this] { traffic_.BeginUpdates(); });
      Meet(first);  // no worker reports the first update before all have read these reports
    }
    start_ = uit::Now();
    end_ = plan_.End(start_);
    schedule_->Start(start_);
    observers_.Start(start_);
    sampler_.Start(start_, plan_.duration);
    Loop();
    const uit::TimePoint end = uit::Now();
    elapsed_ = end - start_;
    sampler_.Finish(end, num_updates_);
    if (traffic_.HasRecord()) Call("the record", [this] { traffic_.EndUpdatesOnRecord(); });
    Drain();
    quality = sampler_.TakeRows();
    WorkerReport report = Report();
    if (traffic_.HasRecord()) Call("the record", [&] { traffic_.FinishRecord(report); });
    return report;
  }

 private:
  void Loop() {
    Moment moment;
    std::uint64_t next_reading = 0;
    std::uint64_t num_at_meeting = ~std::uint64_t{0};  // updates made before the last barrier
    for (;;) {
      if (num_updates_ >= next_reading) {
        moment.now = uit::Now();
        next_reading = num_updates_ + plan_.clock_every;
        Attend(moment.now);
      }
      moment.num_updates = num_updates_;
      moment.has_made_all = HasMadeAll();
      moment.others_go_on = team_.Agreed().is_pending != 0;
      moment.is_to_stop = IsToStop(moment.now);
      switch (schedule_->Next(moment)) {
        case Step::update:
          Update();
          break;
        case Step::meet:
          if (num_updates_ == num_at_meeting) Attend(moment.now = uit::Now());  // no update since the last barrier
          num_at_meeting = num_updates_;
          if (!MeetAndGoOn(moment.now)) return;
          break;
        case Step::stop:
          reason_ = View(moment.now).stop;
          if (reason_ == 0) reason_ = Team::Encode(StopReason::count);
          is_record_cut_ |= traffic_.IsReplay() && moment.is_to_stop;
          return;
      }
    }
  }
  /// Updates every node once.
  void Update() {
    if (!TryReveal() && !plan_.delivery.is_by_update) return;  // in mode 0, all continue until they agree to stop
    if (is_traced_) traffic_.Read(uit::Now());
    UpdateNodes();
    Communicate([this] { flow_->Send(num_updates_); });
    ++num_updates_;
  }
  /// Returns false if a replay's record has ended, or recording has failed.
  bool TryReveal() {
    bool is_revealed = false;
    Communicate([&] {
      try {
        flow_->Reveal(num_updates_);
        is_revealed = true;
      } catch (const replay::RecordEnd&) {
        is_record_cut_ = true;
      } catch (const uit::InputError&) {
        is_record_cut_ = true;
        team_.StopByThrow("the record", std::current_exception());
      } catch (const uit::OutputError&) {
        team_.StopByThrow("the record", std::current_exception());
      }
    });
    return is_revealed;
  }
  void UpdateNodes() {
    const Partition& partition = traffic_.GetPartition();
    std::uint32_t position = 0;
    try {
      if (sweep_.Update(thread_, num_updates_, position)) team_.RaiseStop(Team::Encode(StopReason::asked));
    } catch (const replay::RecordEnd&) {
      is_record_cut_ = true;
    } catch (...) {
      team_.StopByThrow("the update of node " + partition.graph.Label(position), std::current_exception());
    }
    traffic_.FinishUpdate(num_updates_);
    if constexpr (uit::is_simulated) {
      if (hooks_.charge) hooks_.charge(partition.NumNodes(), options_.simulated_node_cost);
    }
  }
  /// Returns false if the workers have agreed to stop.
  bool MeetAndGoOn(uit::TimePoint now) {
    Vote mine = View(now);
    mine.next = schedule_->Propose(now);
    Meet(mine);
    ++num_barriers_;
    const Vote agreed = team_.Agreed();
    reason_ = agreed.stop != 0 ? agreed.stop : Team::Encode(StopReason::count);
    const bool goes_on = agreed.stop == 0 && agreed.is_pending != 0;
    if (goes_on) schedule_->Met(uit::Now(), agreed.next);
    return goes_on;
  }
  bool HasMadeAll() {
    if (plan_.updates != 0 && num_updates_ >= plan_.updates) return true;
    if (!traffic_.IsReplay()) return false;
    bool is_over = true;
    if (!is_record_cut_) Call("the record", [&] { is_over = flow_->IsOver(); });
    return is_over;
  }
  /// In a replay, an exception of another worker does not end this worker's updates early.
  bool IsToStop(uit::TimePoint now) const {
    const std::uint32_t stop = team_.StopSeen();
    if (!traffic_.IsReplay()) return stop != 0 || now >= end_;
    return stop >= Team::Encode(StopReason::signal) && stop != Team::Encode(StopReason::thrown);
  }
  /// Returns this worker's vote for a barrier.
  Vote View(uit::TimePoint now) {
    Vote mine;
    mine.stop = team_.StopSeen();
    if (mine.stop == 0 && now >= end_) mine.stop = Team::Encode(StopReason::clock);
    mine.is_pending = HasMadeAll() ? 0 : 1;
    return mine;
  }
  bool IsTimeToLook(uit::TimePoint now) {
    if (now < next_look_) return false;
    next_look_ = now + std::chrono::milliseconds(1);
    return true;
  }
  /// From time to time, a worker takes its snapshots and calls the user's callbacks. The first worker also checks for signals
  /// and other processes' stops.
  void Attend(uit::TimePoint now) {
    if (now >= sampler_.Next()) [[unlikely]] sampler_.Look(now, num_updates_);
    observers_.Look(now, num_updates_);
    if (thread_ == 0 && IsTimeToLook(now)) Communicate([&] { team_.LookOut(!plan_.delivery.is_by_update); });
  }
  std::chrono::nanoseconds Patience() const { return schedule_->Patience(options_.peer_timeout); }
  /// Calls a function that uses the record or is the user's. If it throws, the run ends.
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
  WorkerId MyId() { return {static_cast<std::uint32_t>(traffic_.GetFabric().GetWorld().Rank()), thread_}; }

  // Every mode.

  void Meet(const Vote& mine) {
    team_.Meet(thread_, mine, Patience(), [this] { return Idle(); });
  }
  /// Called while waiting for others. Returns whether anything arrived.
  bool Idle() {
    bool has_arrived = false;
    Communicate([&] { has_arrived = traffic_.GetFabric().Poll(); });
    return has_arrived;
  }
  /// Calls a function that communicates with other workers. If it throws, the run ends, but not the program.
  template <typename G>
  void Communicate(G&& talk) {
    if (team_.IsBroken()) return;
    try {
      std::forward<G>(talk)();
    } catch (const std::exception& trouble) {
      team_.Break(trouble.what());
    }
  }
  /// Called when all have stopped: delivers all messages in flight, and the last values of all workers.
  void Drain() {
    // Others may still have much to do, and the first worker continues to watch for signals.
    const auto patience = traffic_.IsReplay() ? std::chrono::nanoseconds::max() : Patience();
    team_.Meet(thread_, {.stop = reason_}, patience, [this] {
      if (thread_ == 0 && IsTimeToLook(uit::Now())) team_.LookOut(false);
      return Idle();
    });
    team_.BreakIfApart();
    traffic_.BeginDrain();
    Communicate([this] { traffic_.EndUpdate(drain_update); });
    Meet({.stop = team_.Agreed().stop});  // frames leave during this wait; after it, all have been received
    if (traffic_.HasRecord()) traffic_.StopIntercepting();
    Communicate([this] { traffic_.EndDrain(); });
    Meet({.stop = team_.Agreed().stop});
  }
  WorkerReport Report() {
    WorkerReport report;
    report.id = MyId();
    report.num_nodes = traffic_.GetPartition().graph.nodes.size();
    report.num_updates = num_updates_;
    report.num_barriers = num_barriers_;
    report.elapsed = elapsed_;
    traffic_.AddTallies(report);
    return report;
  }

  LayerTraffic traffic_;
  std::unique_ptr<Flow> flow_;
  std::unique_ptr<Schedule> schedule_;
  Team& team_;
  RunPlan plan_;
  const RunOptions& options_;
  std::uint32_t thread_;
  Sweep& sweep_;
  const uit::ProcessHooks& hooks_;
  bool is_traced_;
  QualitySampler sampler_;
  Observers observers_;
  uit::TimePoint start_{};
  uit::TimePoint end_ = uit::never;
  std::uint64_t num_updates_ = 0;
  std::uint64_t num_barriers_ = 0;
  std::chrono::nanoseconds elapsed_{0};
  uit::TimePoint next_look_{};
  std::uint32_t reason_ = Team::Encode(StopReason::count);
  bool is_record_cut_ = false;  // a replay's record has ended, or the replay stops
};

}  // namespace netuit::detail
