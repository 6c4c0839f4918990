#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

#include <netuit/mesh/layer.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/layer_traffic.hpp>
#include <netuit/run/node.hpp>
#include <netuit/run/pacer.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/team.hpp>
#include <uit/support/clock.hpp>

namespace netuit::detail {

/// One thread's part in a run.
template <typename M, typename F, bool synchronous>
class Worker;

template <Layer... Ls, typename F, bool synchronous>
class Worker<Mesh<Ls...>, F, synchronous> {
 public:
  using M = Mesh<Ls...>;

  Worker(M& mesh, Team& team, const RunOptions& options, std::uint64_t first_stamp, std::uint32_t thread, F& update)
      : traffic_(mesh, team, options, first_stamp, thread),
        team_(team),
        options_(options),
        thread_(thread),
        update_(update),
        pacer_(options) {}

  /// Works from the start barrier to the end of the drain.
  WorkerReport Work() {
    traffic_.Prepare();
    Meet({.is_pending = 1});
    pacer_.Start(uit::Now());
    if constexpr (synchronous) KeepPace();
    else if (options_.mode == AsyncMode::rolling || options_.mode == AsyncMode::fixed) MeetNowAndThen();
    else GoAhead();
    elapsed_ = pacer_.Elapsed(uit::Now());
    Drain();
    return Report();
  }

 private:
  static constexpr bool has_unicast = (UnicastLayer<Ls> || ...);

  // Modes 1-4, and 0: an update of every node.

  void Update() {
    if constexpr (!synchronous) {
      if (options_.mode != AsyncMode::no_communication) Communicate([this] { traffic_.Pull(); });
    }
    Sweep();
    if constexpr (!synchronous) {
      if (options_.mode != AsyncMode::no_communication) Communicate([this] { traffic_.Send(num_updates_); });
    }
    ++num_updates_;
  }
  void Sweep() {
    auto& share = traffic_.GetShare();
    const auto num_nodes = static_cast<std::uint32_t>(share.graph.nodes.size());
    std::uint32_t position = 0;
    Node<M, synchronous> node(share, options_.seed, num_updates_);
    try {
      for (; position < num_nodes; ++position) {
        node.GoTo(position);
        update_(node);
        node.Commit(share);
      }
    } catch (...) {
      team_.StopByThrow("the update of node " + share.graph.Label(position), std::current_exception());
      for (; position < num_nodes; ++position) {
        node.GoTo(position);
        node.Commit(share);
      }
    }
    traffic_.CountUpdate(num_updates_);
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
      if constexpr (has_unicast) {
        traffic_.Refresh(update);
        team_.MeetHere([this] { return Idle(); });
      }
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

  // Modes 3 and 4.

  void GoAhead() {
    for (;;) {
      const uit::TimePoint now = uit::Now();
      Attend(now);
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
  bool IsDone() const { return options_.num_updates != 0 && num_updates_ >= options_.num_updates; }
  Accord View(uit::TimePoint now) {
    Attend(now);
    Accord mine;
    mine.stop = team_.StopSeen();
    if (mine.stop == 0 && pacer_.IsOver(now)) mine.stop = Team::Encode(StopReason::clock);
    mine.is_pending = IsDone() ? 0 : 1;
    return mine;
  }
  bool IsTimeToLook(uit::TimePoint now) {
    if (now < next_look_) return false;
    next_look_ = now + std::chrono::milliseconds(1);
    return true;
  }
  /// Now and then the first worker looks after the process: signals, other processes' stops, progress.
  void Attend(uit::TimePoint now) {
    if (thread_ != 0 || !IsTimeToLook(now)) return;
    Communicate([&] { team_.LookOut(!synchronous); });
    if (!options_.on_progress || now < next_progress_) return;
    if (next_progress_ != uit::TimePoint{}) {
      try {
        options_.on_progress({pacer_.Elapsed(now), num_updates_});
      } catch (...) {
        team_.StopByThrow("on_progress", std::current_exception());
      }
    }
    next_progress_ = now + options_.progress_interval;
  }

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
    team_.Meet(thread_, {.stop = reason_}, pacer_.Patience(), [this] {
      if (thread_ == 0 && IsTimeToLook(uit::Now())) team_.LookOut(false);
      return Idle();
    });
    traffic_.BeginDrain();
    Communicate([this] { traffic_.EndUpdate(drain_update); });
    traffic_.EndDrain();
    // Frames leave while waiting here; when all have come, all has been received.
    Meet({.stop = team_.Agreed().stop});
    traffic_.DiscardUnread();
  }
  WorkerReport Report() {
    WorkerReport report;
    report.place = {static_cast<std::uint32_t>(traffic_.GetFabric().GetWorld().Rank()), thread_};
    report.num_nodes = traffic_.GetShare().graph.nodes.size();
    report.num_updates = num_updates_;
    report.num_barriers = num_barriers_;
    report.elapsed = elapsed_;
    traffic_.AddTallies(report);
    return report;
  }

  LayerTraffic<M> traffic_;
  Team& team_;
  const RunOptions& options_;
  std::uint32_t thread_;
  F& update_;
  Pacer pacer_;
  std::uint64_t num_updates_ = 0;
  std::uint64_t num_barriers_ = 0;
  std::chrono::nanoseconds elapsed_{0};
  uit::TimePoint next_look_{};
  uit::TimePoint next_progress_{};
  std::uint32_t reason_ = Team::Encode(StopReason::count);
};

}  // namespace netuit::detail
