#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/shared_base.hpp>
#include <netuit/mesh/turn_order.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/quality/timeline.hpp>
#include <netuit/quality/worker_timeline.hpp>
#include <netuit/replay/record_reader.hpp>
#include <netuit/replay/worker_record.hpp>
#include <netuit/run/agreement.hpp>
#include <netuit/run/communicate.hpp>
#include <netuit/run/flow.hpp>
#include <netuit/run/lag.hpp>
#include <netuit/run/layer_traffic.hpp>
#include <netuit/run/node_updates.hpp>
#include <netuit/run/observers.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/run_control.hpp>
#include <netuit/run/update_loop.hpp>
#include <uit/config.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

/// One thread's part in a run. More than 300 lines, because the run loop and what it calls are read together.
class Worker {
 public:
  Worker(MeshCore& mesh, RunControl& control, const RunPlan& plan, const RunOptions& options, const replay::WorkerRecord& record,
         std::uint64_t first_stamp, std::uint32_t thread, UpdateLoop& loop)
      : traffic_(mesh, control, options, plan, record, first_stamp, thread),
        flow_(MakeFlow(traffic_, plan.delivery, record)),
        schedule_(plan.make()),
        control_(control),
        plan_(plan),
        options_(options),
        thread_(thread),
        shared_(mesh.SharedObjects()),
        nodes_(traffic_, control, plan.steals, loop, thread),
        is_traced_(mesh.IsTraced()),
        lag_(traffic_, control, options, thread),
        agreement_(control, plan, traffic_.GetPartition(), traffic_.Rounds(), thread),
        observers_(mesh, traffic_.GetPartition(), control, options, MyId()),
        timeline_(options.timeline, MyId()) {}

  /// Works from the start barrier to the end of the drain. Writes the snapshots to `quality`, and what it did when to `timeline`.
  WorkerReport Work(std::vector<QualityRow>& quality, Timeline& timeline) {
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
    observers_.Start(start_, plan_.duration);
    timeline_.Start(start_);
    Loop();
    if (traffic_.GetPartition().turns != nullptr) traffic_.GetPartition().turns->EndRun(thread_);
    traffic_.FinishCaptures(num_updates_);
    if (plan_.votes_aside) agreement_.FinishAside(reason_, [this] { return EndVote(); });
    FinishVotes();
    const uit::TimePoint end = uit::Now();
    elapsed_ = end - start_;
    observers_.Finish(end, num_updates_);
    if (traffic_.Record().IsOn()) Call("the record", [this] { traffic_.Record().EndUpdates(); });
    Drain();
    timeline_.Note(Activity::end);
    if (timeline_.IsOn()) Count(uit::Now());
    timeline = timeline_.Take();
    quality = observers_.TakeQuality();
    WorkerReport report = Report();
    if (traffic_.Record().IsOn()) Call("the record", [&] { traffic_.Record().Finish(report); });
    return report;
  }

 private:
  void Loop() {
    Moment moment{.is_apart = IsApart()};
    std::uint64_t next_reading = 0;
    std::uint64_t num_at_meeting = ~std::uint64_t{0};  // updates made before the last barrier
    for (;;) {
      if (num_updates_ >= next_reading) {
        moment.now = uit::Now();
        next_reading = num_updates_ + plan_.clock_every;
        Attend(moment.now);
      }
      if (HasLostValues()) {
        reason_ = RunControl::Encode(StopReason::peer_lost);
        return;
      }
      if (plan_.votes_aside && IsDone(agreement_.EndsAside(moment.now, Patience(), [&] { return MyVote(moment.now); }))) return;
      moment.num_updates = num_updates_;
      moment.has_made_all = HasMadeAll();
      moment.others_go_on = control_.Agreed().is_pending != 0;
      moment.is_to_stop = IsToStop(moment.now);
      if (plan_.slack) {
        moment.num_behind = lag_.Look(num_updates_);
        moment.num_effective = traffic_.GetPartition().effective.Count();
      }
      switch (schedule_->Next(moment)) {
        case Step::update:
          Update();
          break;
        case Step::meet:
          if (num_updates_ == num_at_meeting) Attend(moment.now = uit::Now());  // no update since the last barrier
          num_at_meeting = num_updates_;
          if (!MeetAndGoOn(moment.now)) return;
          break;
        case Step::wait:
          lag_.Await(num_updates_, [this] { return Idle(); });
          timeline_.Note(Activity::wait);
          next_reading = num_updates_;
          break;
        case Step::vote:
          if (!VoteAndGoOn(moment.now)) return;
          break;
        case Step::stop:
          reason_ = StopSeen(moment.now);
          if (reason_ == 0) reason_ = RunControl::Encode(StopReason::count);
          is_record_cut_ |= IsReplay() && moment.is_to_stop;
          return;
      }
    }
  }
  /// Whether the worker has a core of its own, and reads values of other workers for at most an eighth of its number of nodes.
  bool IsApart() {
    const Partition& partition = traffic_.GetPartition();
    std::size_t num_ghosts = 0;
    for (const auto& network : partition.networks) num_ghosts += network->NumGhosts();
    return partition.spin_habit.IsLong() && 8 * num_ghosts <= partition.NumNodes();
  }
  /// Updates every node once.
  void Update() {
    if (!TryReveal() && !plan_.delivery.is_by_update) return;  // in modes 0 and 5, all continue until they agree to stop
    if (HasLostValues()) return;
    timeline_.Note(Activity::receive);
    if (traffic_.IsRoundReady()) [[unlikely]] EvaluateRound();
    if (is_traced_) traffic_.Read(uit::Now());
    traffic_.NoteReads(num_updates_);
    agreement_.BeginUpdate();
    is_record_cut_ |= !nodes_.Update(num_updates_);
    if (nodes_.LacksValues()) return;
    for (const auto& object : shared_)
      Call("a function for a shared object", [&] { object->EndUpdate(thread_, traffic_.GetPartition().spin_habit); });
    traffic_.FinishUpdate(num_updates_);
    timeline_.Note(Activity::update);
    Communicate([this] { flow_->Send(num_updates_); });
    timeline_.Note(plan_.delivery.is_by_update ? Activity::exchange : Activity::send);
    ++num_updates_;
  }
  /// Whether values that the next update needs will never come. Then nobody meets at barriers.
  bool HasLostValues() const { return plan_.delivery.is_awaited && control_.IsBroken(); }
  /// Evaluates the reductions over the last cut. If they throw, the run ends.
  UIT_NOINLINE void EvaluateRound() {
    std::uint32_t position = 0;
    try {
      traffic_.Rounds().Evaluate(num_updates_, position);
    } catch (...) {
      const std::string label = traffic_.GetPartition().graph.Label(position);
      control_.StopByThrow("the reduction over cuts at node " + label, std::current_exception());
    }
    traffic_.GetPartition().notes.silent.clear();
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
        control_.StopByThrow("the record", std::current_exception());
      } catch (const uit::OutputError&) {
        control_.StopByThrow("the record", std::current_exception());
      }
    });
    return is_revealed;
  }
  /// Returns false if the workers have agreed to stop.
  bool MeetAndGoOn(uit::TimePoint now) {
    Meet(MyVote(now, schedule_->Propose(now)));
    timeline_.Note(Activity::barrier);
    ++num_barriers_;
    const Vote& agreed = control_.Agreed();
    reason_ = agreed.stop != 0 ? agreed.stop : RunControl::Encode(StopReason::count);
    const bool holds = IsDone(agreement_.Ends(agreed));  // also after the last update, for runs in parts
    const bool goes_on = agreed.stop == 0 && agreed.is_pending != 0 && !holds;
    if (goes_on) schedule_->Met(schedule_->CountsFromBarriers() ? uit::Now() : now, agreed.next);
    return goes_on;
  }
  /// Ends the last vote and begins another. Returns false if the workers have agreed to stop.
  bool VoteAndGoOn(uit::TimePoint now) {
    const Vote agreed = EndVote();
    reason_ = agreed.stop;
    if (reason_ != 0 || IsDone(agreement_.Ends(agreed))) return false;
    control_.BeginVote(thread_, MyVote(now, schedule_->Propose(now)));
    schedule_->Met(now, agreed.next);
    return true;
  }
  /// Sets the reason to stop if the run's condition holds, unless there is a graver one. Returns whether it holds.
  bool IsDone(bool holds) {
    if (holds) reason_ = std::max(reason_, RunControl::Encode(StopReason::asked));
    return holds;
  }
  /// Ends the vote that is under way. Where votes decide on the condition, the last is on the last update.
  void FinishVotes() {
    EndVote();
    if (!plan_.until || !plan_.delivery.is_awaited) return;
    control_.BeginVote(thread_, {.reduced = agreement_.Bring(num_updates_)});
    IsDone(agreement_.Ends(EndVote()));
  }
  Vote EndVote() {
    return control_.EndVote(thread_, Patience(), [this] { return Idle(); }, traffic_.GetPartition().spin_habit);
  }
  bool HasMadeAll() {
    if (plan_.updates != 0 && num_updates_ >= plan_.updates) return true;
    if (!IsReplay()) return false;
    bool is_over = true;
    if (!is_record_cut_) Call("the record", [&] { is_over = flow_->IsOver(); });
    return is_over;
  }
  bool IsReplay() const { return traffic_.Record().IsReplay(); }
  /// In a replay, an exception of another worker does not end this worker's updates early.
  bool IsToStop(uit::TimePoint now) const {
    const std::uint32_t stop = control_.StopSeen();
    if (!IsReplay()) return stop != 0 || now >= end_;
    return stop >= RunControl::Encode(StopReason::signal) && stop != RunControl::Encode(StopReason::thrown);
  }
  /// Returns the reason to stop that this worker has, or 0.
  std::uint32_t StopSeen(uit::TimePoint now) const {
    const std::uint32_t stop = control_.StopSeen();
    return stop == 0 && now >= end_ ? RunControl::Encode(StopReason::clock) : stop;
  }
  /// Returns this worker's vote, and brings `next` with it. Call it once for each vote; see Agreement::Bring.
  Vote MyVote(uit::TimePoint now, std::uint64_t next = 0) {
    return {.stop = StopSeen(now), .is_pending = HasMadeAll() ? 0U : 1U, .next = next, .reduced = agreement_.Bring(num_updates_)};
  }
  bool IsTimeToLook(uit::TimePoint now) {
    if (now < next_look_) return false;
    next_look_ = now + std::chrono::milliseconds(1);
    return true;
  }
  /// From time to time, a worker takes its snapshots and calls the user's callbacks. The first worker also checks for signals
  /// and other processes' stops.
  void Attend(uit::TimePoint now) {
    observers_.Look(now, num_updates_);
    if (timeline_.IsCountDue(now)) [[unlikely]] Count(now);
    if (thread_ == 0 && IsTimeToLook(now)) Communicate([&] { control_.LookOut(!plan_.delivery.is_by_update && !plan_.votes_aside); });
  }
  /// Adds what the worker has counted to its timeline.
  UIT_NOINLINE void Count(uit::TimePoint now) {
    WorkerReport counted;
    traffic_.Describe(counted);
    timeline_.AddCount(now, counted.tally + counted.inside);
  }
  std::chrono::nanoseconds Patience() const { return schedule_->Patience(options_.peer_timeout); }
  /// Calls a function that uses the record or is the user's. If it throws, the run ends.
  template <typename G>
  void Call(const char* name, G&& call) {
    control_.Guard(name, [&] {
      try {
        call();
      } catch (const replay::RecordEnd&) {
        is_record_cut_ = true;
      }
    });
  }
  WorkerId MyId() { return {static_cast<std::uint32_t>(traffic_.GetFabric().GetWorld().Rank()), thread_}; }

  void Meet(const Vote& mine) {
    control_.Meet(thread_, mine, Patience(), [this] { return Idle(); }, traffic_.GetPartition().spin_habit);
  }
  /// Called while waiting for others. Returns whether there was progress.
  bool Idle() {
    bool has_arrived = false;
    Communicate([&] { has_arrived = traffic_.GetFabric().Poll(); });
    return control_.TrySteal(thread_) || has_arrived;
  }
  template <typename G>
  void Communicate(G&& talk) {
    detail::Communicate(control_, std::forward<G>(talk));
  }
  /// Called when all have stopped: delivers all messages in flight, and the last values of all workers.
  void Drain() {
    // A process that has lost another leaves at once, and with a slack, the rest may wait for its values.
    if (plan_.slack) Communicate([this] { traffic_.SendOff(); });
    // Others may still have much to do, and the first worker continues to watch for signals.
    const auto patience = IsReplay() ? std::chrono::nanoseconds::max() : Patience();
    const auto idle = [this] {
      if (thread_ == 0 && IsTimeToLook(uit::Now())) control_.LookOut(false);
      return Idle();
    };
    control_.Meet(thread_, {.stop = reason_, .next = num_updates_}, patience, idle, traffic_.GetPartition().spin_habit);
    control_.BreakIfApart();
    Communicate([this] { traffic_.Drain(control_.Agreed().next); });
    Meet({.stop = control_.Agreed().stop});  // frames leave during this wait; after it, all have been received
    if (traffic_.Record().IsOn()) traffic_.StopIntercepting();
    Communicate([this] { traffic_.EndDrain(); });
    Vote last{.stop = control_.Agreed().stop, .next = num_updates_};
    const bool has_rules = traffic_.Rounds().HasRules() && !IsReplay() && !control_.IsBroken();
    if (has_rules) {
      traffic_.Rounds().PrepareEnd();
      EvaluateRound();
      last.stop = std::max(last.stop, control_.StopSeen());  // if it has thrown
      traffic_.Rounds().Bring(last.reduced);
    }
    Meet(last);
    if (has_rules && thread_ == 0 && !control_.IsBroken()) traffic_.Rounds().TellRules(control_.Agreed().reduced.Words());
  }
  WorkerReport Report() {
    WorkerReport report;
    report.id = MyId();
    report.num_updates = num_updates_;
    report.num_barriers = num_barriers_;
    report.slack = plan_.slack;
    report.elapsed = elapsed_;
    traffic_.Describe(report);
    return report;
  }

  LayerTraffic traffic_;
  std::unique_ptr<Flow> flow_;
  std::unique_ptr<Schedule> schedule_;
  RunControl& control_;
  const RunPlan& plan_;
  const RunOptions& options_;
  std::uint32_t thread_;
  const std::vector<std::unique_ptr<SharedBase>>& shared_;
  NodeUpdates nodes_;
  bool is_traced_;
  Lag lag_;
  Agreement agreement_;
  Observers observers_;
  WorkerTimeline timeline_;
  uit::TimePoint start_{};
  uit::TimePoint end_ = uit::never;
  std::uint64_t num_updates_ = 0;
  std::uint64_t num_barriers_ = 0;
  std::chrono::nanoseconds elapsed_{0};
  uit::TimePoint next_look_{};
  std::uint32_t reason_ = RunControl::Encode(StopReason::count);
  bool is_record_cut_ = false;  // a replay's record has ended, or the replay stops
};

}  // namespace netuit::detail
