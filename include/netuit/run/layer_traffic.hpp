#pragma once

#include <cstddef>
#include <cstdint>

#include <netuit/mesh/layer.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/replay/record_format.hpp>
#include <netuit/replay/tap.hpp>
#include <netuit/run/late_notice.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/team.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>

namespace netuit::detail {

/// Stands for the drain where the number of an update is asked for.
inline constexpr std::uint64_t drain_update = (std::uint64_t{1} << 40) - 1;

/// What one thread's part in a run sends, takes in and waits for, layer by layer; it knows nothing of what updates do,
/// nor of when the workers meet. That thread only.
template <typename M>
class LayerTraffic;

template <Layer... Ls>
class LayerTraffic<Mesh<Ls...>> {
 public:
  using M = Mesh<Ls...>;
  using Share = typename M::Share;

  /// Of the place of `thread`. Frames are stamped with the number of their update, from `first_stamp` on. What comes in is
  /// written on `tape`, or read from it, if there is any.
  LayerTraffic(M& mesh, Team& team, const RunOptions& options, const replay::Tape& tape, std::uint64_t first_stamp,
               std::uint32_t thread)
      : fabric_(mesh.GetFabric()),
        share_(*mesh.Places()[thread]),
        team_(team),
        options_(options),
        tape_(tape),
        first_stamp_(first_stamp),
        is_synchronous_(options.mode == AsyncMode::every_update),
        pulls_(!is_synchronous_ && options.mode != AsyncMode::no_communication) {}

  /// The place.
  Share& GetShare() { return share_; }
  /// How the process reaches others.
  uit::Fabric& GetFabric() { return fabric_; }

  /// Makes the ends ready for the run's mode.
  void Prepare() {
    const bool is_muted = options_.mode == AsyncMode::no_communication;
    ForEachLayer([]<Layer L>(auto& layer) {  // first, since taps may throw
      if constexpr (UnicastLayer<L>) {
        for (auto& inlet : layer.Inlets()) inlet.HandOver();
        for (auto& outlet : layer.Outlets()) outlet.HandOver();
      }
    });
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (MulticastLayer<L>) {
        layer.SetMuted(is_muted);
        if (tape_.IsOn() && pulls_) layer.BeginRecord();
      } else {
        if (tape_.IsOn() && !is_synchronous_) layer.Tap(tape_);
        layer.Hold(is_synchronous_);
        if (is_muted) layer.Mute();
      }
    });
  }

  // While frames bear stamps.

  /// An update begins at `now`, and reads what has been pulled.
  void Read(uit::TimePoint now) {
    share_.clock.begun = now;
    ForEachLayer([now]<Layer L>(auto& layer) { layer.Read(now); });
  }

  // Best effort.

  /// Takes in what has arrived.
  void Pull() {
    fabric_.Poll();
    ForEachLayer([]<Layer L>(auto& layer) {
      if constexpr (MulticastLayer<L>) layer.Pull(layer.Current());
      else layer.Pull();
    });
  }
  /// Sends what the update has put, in layers that are due.
  void Send(std::uint64_t update) {
    if (tape_.reader != nullptr) return;  // those who would hear it go by records of their own
    ForEachLayer([&]<Layer L>(auto& layer) {
      if (!IsDue<L>(update)) return;
      if constexpr (MulticastLayer<L>) layer.Send(layer.Current(), Stamp(update), false);
      else layer.Flush();
    });
  }

  // Recorded and replayed.

  /// Whether the run is.
  bool IsTaped() const { return tape_.IsOn(); }
  /// Whether the run is replayed.
  bool IsReplay() const { return tape_.reader != nullptr; }
  /// Whether a replay has come to the end of the updates.
  bool IsRecordOver() { return tape_.reader->Peek() != replay::Event::update; }

  /// An update begins: takes in what has arrived, and records it; or what is recorded. The record of a bulk synchronous run
  /// tells only how many updates there were. Throws uit::OutputError, uit::InputError, or RecordEnd.
  void PullTaped() {
    if (tape_.reader != nullptr) {
      if (tape_.reader->Take() != replay::Event::update) tape_.reader->FailToFit("begins an update");
      if (!pulls_) return;
      ForEachMulticast([this](auto& layer) {
        if (!layer.TryReplay(layer.Current(), tape_.reader->Rest())) tape_.reader->FailToRead();
      });
      return;
    }
    if (!pulls_) return tape_.writer->Add(replay::Event::update);
    std::size_t max_bytes = 0;
    ForEachMulticast([&max_bytes](auto& layer) { max_bytes += layer.MaxRecordBytes(); });
    std::byte* at = tape_.writer->Reserve(max_bytes);
    fabric_.Poll();
    ForEachLayer([&at]<Layer L>(auto& layer) {
      if constexpr (MulticastLayer<L>) at = layer.PullRecorded(layer.Current(), at);
      else layer.Pull();
    });
    tape_.writer->Commit(replay::Event::update, at);
  }
  /// The updates are over. Throws uit::OutputError.
  void EndUpdatesTaped() {
    if (tape_.writer != nullptr) tape_.writer->Add(replay::Event::end);
    else if (tape_.reader->Peek() == replay::Event::end) tape_.reader->Take();
  }
  /// Whether nodes collect: writes that down, or does as it is written. Throws uit::OutputError, uit::InputError.
  bool CollectsTaped(bool can_collect) {
    if (tape_.writer != nullptr) {
      tape_.writer->Add(can_collect ? replay::Event::yes : replay::Event::no);
      return can_collect;
    }
    if (!can_collect || tape_.reader->Peek() == replay::Event::none) return false;
    const replay::Event event = tape_.reader->Take();
    if (event != replay::Event::yes && event != replay::Event::no) tape_.reader->FailToFit("collects");
    return event == replay::Event::yes;
  }
  /// What happens from here on is no part of the record.
  void Untap() {
    ForEachLayer([]<Layer L>(auto& layer) {
      if constexpr (UnicastLayer<L>) layer.Untap();
    });
  }
  /// Ends the record with what the worker reports; or reports what is recorded, if the record is whole. Throws
  /// uit::OutputError.
  void FinishTaped(WorkerReport& report) {
    replay::RecordSummary summary{.num_barriers = report.num_barriers, .tally = report.tally, .inside = report.inside};
    if (tape_.writer != nullptr) {
      std::byte* const at = tape_.writer->Reserve(sizeof summary);
      uit::StoreBytes(summary, {at, sizeof summary});
      tape_.writer->Commit(replay::Event::summary, at + sizeof summary);
      tape_.writer->Seal();
    } else if (tape_.reader->Peek() == replay::Event::summary) {
      tape_.reader->Take();
      if (!tape_.reader->Rest().TryRead(summary)) return;
      report.num_barriers = summary.num_barriers;
      report.tally = summary.tally;
      report.inside = summary.inside;
    }
  }

  // Bulk synchronous.

  /// What the last due update wrote is read from now on.
  void ShowWritten(std::uint64_t update) {
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (MulticastLayer<L>) {
        if (IsDue<L>(update)) layer.Swap();
      }
    });
  }
  /// Frames bear the update's number from here on.
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
    const bool is_drain = update == drain_update;
    const auto values = [&](auto& halo) { return is_synchronous_ && !is_drain ? halo.Next() : halo.Current(); };
    const auto stamp = [&]<Layer L>() { return Stamp(is_drain ? update : update - update % L::period); };
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
      }
    });
    if (is_drain) return;
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (UnicastLayer<L>) {
        if (IsDueNext<L>(update)) Await([&] { return layer.TryReadReports(stamp.template operator()<L>()); });
      }
    });
  }
  /// While everybody stands still, at the end of the update: what was put and stepped takes effect.
  void Refresh(std::uint64_t update) {
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (UnicastLayer<L>) {
        if (IsDueNext<L>(update)) layer.Refresh();
      }
    });
  }

  // Every mode.

  /// Counts the puts of an update of all nodes.
  void CountUpdate(std::uint64_t update) {
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (MulticastLayer<L>) {
        if (IsDue<L>(update)) layer.Counting().AddOneEach();
      }
    });
  }
  /// From here on last frames leave at once, whatever the window: two that await each other's reports would hang.
  void BeginDrain() {
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (UnicastLayer<L>) {
        if (options_.mode == AsyncMode::no_communication) layer.Unmute();
        layer.Hold(true);
      }
    });
    SetStamp(drain_update);
  }
  /// After EndUpdate of the drain: what was staged or held back can be stepped to, as soon as all workers have come here.
  void ShowAll() {
    ForEachLayer([]<Layer L>(auto& layer) {
      if constexpr (UnicastLayer<L>) layer.ShowAll();
    });
  }
  /// Passes over what nobody has read.
  void DiscardUnread() {
    ForEachLayer([]<Layer L>(auto& layer) {
      if constexpr (UnicastLayer<L>) layer.DiscardUnread();
    });
  }
  /// Tells the inlets that nothing waits any more, and waits until they all know.
  void EndDrain() {
    ForEachLayer([]<Layer L>(auto& layer) {
      if constexpr (UnicastLayer<L>) layer.Report();
    });
    ForEachLayer([&]<Layer L>(auto& layer) {
      if constexpr (UnicastLayer<L>) {
        Await([&] { return layer.TryReadReports(Stamp(drain_update)); });
        layer.Hold(false);
      }
    });
  }
  /// Adds what became of the place's puts and gets.
  void AddTallies(WorkerReport& report) {
    ForEachLayer([&report]<Layer L>(auto& layer) {
      if constexpr (MulticastLayer<L>) {
        report.tally += layer.GetTally();
      } else {
        report.tally += layer.GetTally(true);
        report.inside += layer.GetTally(false);
      }
    });
  }

 private:
  template <typename G>
  void ForEachLayer(G&& visit) {
    (visit.template operator()<Ls>(share_.template Of<Ls>()), ...);
  }
  template <typename G>
  void ForEachMulticast(G&& visit) {
    ForEachLayer([&visit]<Layer L>(auto& layer) {
      if constexpr (MulticastLayer<L>) visit(layer);
    });
  }
  template <Layer L>
  static bool IsDue(std::uint64_t update) {
    return update == drain_update || update % L::period == 0;
  }
  /// Whether the layer is due in the update that follows.
  template <Layer L>
  static bool IsDueNext(std::uint64_t update) {
    return update == drain_update || (update + 1) % L::period == 0;
  }
  std::uint64_t Stamp(std::uint64_t update) const { return first_stamp_ + update; }

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
    bool is_ready = false;
    bool is_anybody_gone = false;
    const auto is_over = [&] {
      if (team_.IsBroken()) return true;
      is_anybody_gone = team_.IsAnybodyGone();  // what it did before has arrived
      is_ready = ready();
      return is_ready || is_anybody_gone;
    };
    LateNotice notice(options_.warn_after);
    const auto idle = [&] {
      notice.Try([this] { team_.Warn("waiting for messages of other processes"); });
      return fabric_.Poll();
    };
    const bool is_in_time = uit::WaitUntil(is_over, uit::After(options_.peer_timeout), idle);
    if (is_ready || team_.IsBroken()) return;
    if (is_in_time) team_.BreakForTheGone("its messages are awaited");
    else team_.Break("no answer from another process within the time allowed");
  }

  uit::Fabric& fabric_;
  Share& share_;
  Team& team_;
  const RunOptions& options_;
  replay::Tape tape_;
  std::uint64_t first_stamp_;
  bool is_synchronous_;
  bool pulls_;  // between two updates
};

}  // namespace netuit::detail
