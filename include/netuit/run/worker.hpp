#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

#include <netuit/mesh/layer.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/node.hpp>
#include <netuit/run/pacer.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/team.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>

namespace netuit::detail {

/// One thread's part in a run.
template <typename M, typename F, bool synchronous>
class Worker;

template <Layer... Ls, typename F, bool synchronous>
class Worker<Mesh<Ls...>, F, synchronous> {
 public:
  using M = Mesh<Ls...>;
  using Share = typename M::Share;

  Worker(M& mesh, Team& team, const RunOptions& options, std::uint64_t first_stamp, std::uint32_t thread, F& update)
      : fabric_(mesh.GetFabric()),
        share_(*mesh.Places()[thread]),
        team_(team),
        options_(options),
        first_stamp_(first_stamp),
        thread_(thread),
        update_(update),
        pacer_(options) {}

  /// Works from the start barrier to the end of the drain.
  WorkerReport Work() {
    Prepare();
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
  static constexpr std::uint64_t last_update = (std::uint64_t{1} << 40) - 1;  // stands for the drain
  static constexpr bool has_unicast = (UnicastLayer<Ls> || ...);

  template <typename G>
  void ForEachLayer(G&& visit) {
    (visit.template operator()<Ls>(share_.template Of<Ls>()), ...);
  }
  template <Layer L>
  bool IsDue(std::uint64_t update) const {
    return update == last_update || update % L::period == 0;
  }
  /// Whether the layer is due in the update that follows.
  template <Layer L>
  bool IsDueNext(std::uint64_t update) const {
    return update == last_update || (update + 1) % L::period == 0;
  }
  std::uint64_t Stamp(std::uint64_t update) const { return first_stamp_ + update; }

  void Prepare() {
    const bool is_muted = options_.mode == AsyncMode::no_communication;
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (MulticastLayer<L>) {
        layer.SetMuted(is_muted);
      } else {
        for (auto& inlet : layer.Inlets()) inlet.HandOver();
        for (auto& outlet : layer.Outlets()) outlet.HandOver();
        layer.Hold(synchronous);
        if (is_muted) layer.Mute();
      }
    });
  }

  // Modes 1-4, and 0: an update of every node.

  void Update() {
    if constexpr (!synchronous) {
      if (options_.mode != AsyncMode::no_communication) Communicate([this] { Pull(); });
    }
    Sweep();
    if constexpr (!synchronous) {
      if (options_.mode != AsyncMode::no_communication) Communicate([this] { Send(); });
    }
    ++num_updates_;
  }
  void Pull() {
    fabric_.Poll();
    ForEachLayer([]<Layer L>(auto& layer) {
      if constexpr (MulticastLayer<L>) layer.Pull(layer.Current());
      else layer.Pull();
    });
  }
  void Send() {
    ForEachLayer([this]<Layer L>(auto& layer) {
      if (!IsDue<L>(num_updates_)) return;
      if constexpr (MulticastLayer<L>) layer.Send(layer.Current(), Stamp(num_updates_), false);
      else layer.Flush();
    });
  }
  void Sweep() {
    const auto num_nodes = static_cast<std::uint32_t>(share_.graph.nodes.size());
    std::uint32_t position = 0;
    Node<M, synchronous> node(share_, options_.seed, num_updates_);
    try {
      for (; position < num_nodes; ++position) {
        node.GoTo(position);
        update_(node);
        node.Commit(share_);
      }
    } catch (...) {
      team_.StopByThrow("the update of node " + share_.graph.Label(position), std::current_exception());
      for (; position < num_nodes; ++position) {
        node.GoTo(position);
        node.Commit(share_);
      }
    }
    ForEachLayer([this]<Layer L>(auto& layer) {
      if constexpr (MulticastLayer<L>) {
        if (IsDue<L>(num_updates_)) layer.Counting().AddOneEach();
      }
    });
  }

  // Mode 0.

  void KeepPace() {
    for (bool goes_on = !IsDone(); goes_on;) {
      const std::uint64_t update = num_updates_;
      ShowWritten(update);
      SetStamp(update);
      Update();
      Communicate([this, update] { EndUpdate(update); });
      Meet(View(uit::Now()));
      ++num_barriers_;
      goes_on = GoesOn();
      if constexpr (has_unicast) {
        // Everybody stands still: what was put and stepped takes effect.
        ForEachLayer([&]<Layer L>(auto& layer) {
          if constexpr (UnicastLayer<L>) {
            if (IsDueNext<L>(update)) layer.Refresh();
          }
        });
        team_.MeetHere([this] { return Idle(); });
      }
    }
    ShowWritten(last_update);
  }
  /// What the last due update wrote is read from now on.
  void ShowWritten(std::uint64_t update) {
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (MulticastLayer<L>) {
        if (num_updates_ != 0 && IsDue<L>(update)) layer.Swap();
      }
    });
  }
  void SetStamp(std::uint64_t update) {
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (UnicastLayer<L>) {
        if (IsDue<L>(update)) layer.SetUpdate(Stamp(update));
      }
    });
  }
  /// Sends the last frames of an update, and waits for everybody's. Conduits per edge do so at the end of their period,
  /// since what is put in one can be seen in the next.
  void EndUpdate(std::uint64_t update) {
    const bool is_drain = update == last_update;
    const auto values = [is_drain](auto& halo) { return synchronous && !is_drain ? halo.Next() : halo.Current(); };
    const auto stamp = [this, is_drain, update]<Layer L>() { return Stamp(is_drain ? update : update - update % L::period); };
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (MulticastLayer<L>) {
        if (IsDue<L>(update)) layer.Send(values(layer), Stamp(update), true);
      } else if (IsDueNext<L>(update)) {
        Await([&] { return layer.TryEndUpdate() || MakeRoom(update); });
        if (!is_drain) layer.Report();
      }
    });
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (MulticastLayer<L>) {
        if (IsDue<L>(update)) Await([&] { return layer.TryPullLast(values(layer), Stamp(update), !is_drain); });
      } else if (IsDueNext<L>(update)) {
        Await([&] { return layer.TryPullLast(stamp.template operator()<L>()); });
        if (is_drain) {  // inlets learn that nothing waits any more
          layer.DiscardUnread();
          layer.Report();
        }
      }
    });
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (UnicastLayer<L>) {
        if (IsDueNext<L>(update)) Await([&] { return layer.TryReadReports(stamp.template operator()<L>()); });
      }
    });
  }
  /// Takes in what others end the same update with, so that no two places await each other's room. False: go on waiting.
  bool MakeRoom(std::uint64_t update) {
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (UnicastLayer<L>) {
        if (IsDueNext<L>(update)) layer.MakeRoom();
      }
    });
    return false;
  }
  template <typename Ready>
  void Await(Ready ready) {
    if (ready()) return;
    if (!uit::WaitUntil([&] { return team_.IsBroken() || ready(); }, uit::After(options_.peer_timeout),
                        [this] { return fabric_.Poll(); }))
      team_.Break("no answer from another process within the time allowed");
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
    Communicate([&] { has_arrived = fabric_.Poll(); });
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
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (UnicastLayer<L>) {
        if (options_.mode == AsyncMode::no_communication) layer.Unmute();
        layer.Hold(true);  // last frames leave at once, whatever the window: two that await each other's reports would hang
      }
    });
    SetStamp(last_update);
    Communicate([this] { EndUpdate(last_update); });
    ForEachLayer([]<Layer L>(auto& layer) {
      if constexpr (UnicastLayer<L>) layer.Hold(false);
    });
    // Frames leave while waiting here; when all have come, all has been received.
    Meet({.stop = team_.Agreed().stop});
    ForEachLayer([]<Layer L>(auto& layer) {
      if constexpr (UnicastLayer<L>) layer.DiscardUnread();
    });
  }
  WorkerReport Report() {
    WorkerReport report;
    report.place = {static_cast<std::uint32_t>(fabric_.GetWorld().Rank()), thread_};
    report.num_nodes = share_.graph.nodes.size();
    report.num_updates = num_updates_;
    report.num_barriers = num_barriers_;
    report.elapsed = elapsed_;
    ForEachLayer([&report]<Layer L>(auto& layer) {
      if constexpr (MulticastLayer<L>) {
        report.tally += layer.GetTally();
      } else {
        report.tally += layer.GetTally(true);
        report.inside += layer.GetTally(false);
      }
    });
    return report;
  }

  uit::Fabric& fabric_;
  Share& share_;
  Team& team_;
  const RunOptions& options_;
  std::uint64_t first_stamp_;
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
