#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <netuit/mesh/frame_note.hpp>
#include <netuit/mesh/phase.hpp>
#include <netuit/mesh/waiting_messages.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/quality/effective_updates.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/replay/worker_record.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/tally.hpp>

namespace netuit {

struct PeerTrace;

/// How a run moves values and messages.
struct Delivery {
  /// Values become visible to all other nodes together, after the update that wrote them. The schedule must meet after each
  /// update, unless frames are awaited.
  bool is_by_update = false;
  /// By update, without a barrier: every frame is kept until its receiver needs it, and a worker waits for those that it needs.
  bool is_awaited = false;
  bool is_muted = false;      ///< nothing leaves its thread before the drain
  /// This run and the one before it await frames: edges with delays above 1 begin with values of that run.
  bool keeps_older = false;
};

/// One worker's part of a layer: what the worker sends to others and receives from them. The run loop uses layers only through
/// this interface. Once the part is joined, only that worker may call it.
class LayerPart {
 public:
  /// Receives a worker's counts for one peer: `visit(worker, counts, trace)`. `trace` is null if frames carry no time stamps.
  using VisitPeer = std::function<void(std::uint32_t, const ExchangeCounts&, PeerTrace*)>;
  /// Receives the counts of a channel that leaves the thread.
  using VisitChannel = std::function<void(const Channel&, const ExchangeCounts&)>;

  /// Makes a part of a layer that is due when the update's number is a multiple of `period`, which must be at least 1.
  explicit LayerPart(std::uint64_t period);
  LayerPart(const LayerPart&) = delete;
  LayerPart& operator=(const LayerPart&) = delete;
  virtual ~LayerPart();

  /// Returns the period in updates.
  std::uint64_t Period() const { return period_; }
  /// Whether the layer is due in this phase. It is in every one that is not an update.
  bool IsDue(Phase phase) const { return !phase.IsUpdate() || phase.Update() % period_ == 0; }
  /// Whether the layer is due in the update after this one.
  bool IsDueNext(Phase phase) const { return !phase.IsUpdate() || (phase.Update() + 1) % period_ == 0; }

  // At the beginning of a run.

  /// Makes the calling thread the owner of the ends.
  virtual void HandOver() {}
  /// Prepares for a run.
  virtual void Prepare(const Delivery& delivery, const replay::WorkerRecord& record) = 0;
  /// Sets the first stamp of the run. Frames carry this stamp plus the place of their phase.
  void SetFirstStamp(std::uint64_t first_stamp) { first_stamp_ = first_stamp; }

  // Best effort.

  /// Takes in the frames that have arrived.
  virtual void Pull() = 0;
  /// Sends what an update has put, if the layer is due.
  virtual void Send(std::uint64_t update) = 0;
  /// If frames carry time stamps: notes that an update that begins at `now` reads the values pulled so far.
  virtual void Read(uit::TimePoint now) = 0;
  /// Tells how old the values of others are that an update is about to read.
  virtual void NoteReads(std::uint64_t update, EffectiveUpdates& effective) const = 0;

  /// Calls `visit(worker, num_made)` for each other worker whose values an update would read: when it sent the newest that have
  /// arrived, it had made so many updates. They need not be pulled yet.
  virtual void VisitSources(std::uint64_t, uit::FunctionRef<void(std::uint32_t, std::uint64_t)>) {}

  /// Raises each of `counts` to the most that any other worker had when it sent what the next Pull takes in.
  virtual void RaiseToNewest([[maybe_unused]] CutCounts& counts) {}

  // Recording and replay.

  /// Returns the most bytes that PullRecorded writes.
  virtual std::size_t MaxRecordBytes() const { return 0; }
  /// Pulls, and records the changes at `to`. Returns the end of the bytes written.
  virtual std::byte* PullRecorded(std::byte* to) {
    Pull();
    return to;
  }
  /// Repeats the changes that PullRecorded recorded. Returns false if the bytes are not such a record.
  [[nodiscard]] virtual bool TryReplay(uit::ByteReader&) { return true; }
  /// Ends recording or replay: later events are not part of the record.
  virtual void StopIntercepting() {}

  // Updates whose values become visible together, and the drain of every run.

  /// Stamps frames with this phase from here on.
  virtual void SetStamp(Phase) {}
  /// Begins to send a phase's last frames.
  virtual void BeginEnd(Phase) {}
  /// Sends a phase's last frames. Returns false if a peer has no room yet: then call MakeRoom of all layers, and this again.
  virtual bool TryEnd(Phase) { return true; }
  /// Takes in the last frames that others send in the same phase. This prevents two workers from waiting for each other's room.
  virtual void MakeRoom(Phase) {}
  /// Pulls. Returns whether every peer's last frames of the phase have arrived.
  virtual bool TryPullLast(Phase phase) = 0;
  /// Returns whether every peer's reports of the phase have arrived.
  virtual bool TryReadReports(Phase) { return true; }
  /// Applies puts and steps within the worker, at the end of an update.
  virtual void Refresh(std::uint64_t) {}
  /// Counts the puts of an update after all nodes have been updated.
  virtual void FinishUpdate(std::uint64_t) {}

  // Updates by level, in a run by Dataflow on a mesh with edge delays. `level` is the position among the worker's levels.

  /// Whether the level's nodes need values of other workers, or others need theirs. If neither is so in any layer, TryBeginLevel and
  /// TrySendLevel are not called.
  virtual bool IsCrossed([[maybe_unused]] std::size_t level) const { return false; }
  /// Called before the first level.
  virtual void BeginLevels() {}
  /// Takes in what has arrived. Returns whether the level's nodes can be updated.
  virtual bool TryBeginLevel([[maybe_unused]] std::size_t level, std::uint64_t) { return true; }
  /// Shows what the level's nodes have published. `silent` nodes have published nothing; ascending.
  virtual void ShowLevel([[maybe_unused]] std::size_t level, [[maybe_unused]] std::span<const std::uint32_t> silent) {}
  /// Sends it. Returns false if a peer has no room yet: then call TakeIn of all layers, and this again.
  virtual bool TrySendLevel([[maybe_unused]] std::size_t level, std::uint64_t) { return true; }
  /// Takes in what has arrived and may be, to make room for others.
  virtual void TakeIn(std::uint64_t) {}
  /// Called after the last level, before FinishUpdate of any layer.
  virtual void AgeValues([[maybe_unused]] std::uint64_t update) {}

  /// Moves frames. Returns whether all that others may wait for has left this process.
  virtual bool TryEmpty() { return true; }

  // After all workers have stopped.

  /// From here on, frames are of this phase, and last frames leave at once, whatever the window. Otherwise two workers could wait for
  /// each other's reports.
  virtual void BeginDrain(Phase) {}
  /// Tells the inlets how far the outlets have stepped.
  virtual void ReportSteps() {}
  /// Ends the drain and the run. Makes staged and held messages available to steps.
  virtual void EndDrain() {}

  /// Returns the messages that wait between runs, or null if the layer carries none.
  virtual WaitingMessages* Messages() { return nullptr; }

  /// Marks the nodes that only the layer's worker may update. In a run whose values become visible by update, other threads may
  /// update the others, each node on one thread at a time.
  virtual void BindNodes(std::vector<bool>&) const {}

  // Counts since the mesh was made.

  /// Adds the outcomes of puts and gets: channels that leave the thread to `crossing`, all others to `inside`.
  virtual void AddTallies(uit::Tally& crossing, uit::Tally& inside) const = 0;
  /// Visits every other worker with which this one exchanges values or messages.
  virtual void ForEachPeer(const VisitPeer& visit) = 0;
  /// Visits every channel that leaves the thread. `graph` is the worker's.
  virtual void ForEachChannel(const WorkerGraph& graph, const VisitChannel& visit) = 0;

 protected:
  /// Returns the stamp for frames of a phase.
  std::uint64_t Stamp(Phase phase) const { return first_stamp_ + phase.Place(); }

 private:
  std::uint64_t period_;
  std::uint64_t first_stamp_ = 0;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/layer_part.ipp>
#endif
