#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <netuit/mesh/worker_graph.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/replay/worker_record.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/tally.hpp>

namespace netuit {

/// How a run moves what its layers carry.
struct Delivery {
  bool is_by_update = false;  ///< what an update writes becomes visible to all others at once, after it
  bool is_muted = false;      ///< nothing leaves its thread before the drain
};

/// Stands for the drain where the number of an update is asked for.
inline constexpr std::uint64_t drain_update = (std::uint64_t{1} << 40) - 2;
/// Likewise for what comes before a run's first update. Its stamp follows that of the drain of the run before.
inline constexpr std::uint64_t start_update = ~std::uint64_t{0};

/// One worker's part of a layer: what it writes for other workers, and what it reads of theirs. The run loop knows layers
/// by this alone. That worker only, once it is wired.
class LayerPart {
 public:
  /// Receives what a worker exchanges with another: `visit(worker, counts, trace)`; no trace if frames bear no stamps.
  using VisitPeer = std::function<void(std::uint32_t, const ExchangeCounts&, PeerTrace*)>;
  /// Receives the counts of a channel that leaves the thread.
  using VisitChannel = std::function<void(const Channel&, const ExchangeCounts&)>;

  /// Of a layer that is due when the update's number is a multiple of `period`, which is at least 1.
  explicit LayerPart(std::uint64_t period) : period_(period) { UIT_ASSERT(period >= 1, "a layer's period is at least one update"); }
  LayerPart(const LayerPart&) = delete;
  LayerPart& operator=(const LayerPart&) = delete;
  virtual ~LayerPart() = default;

  /// In updates.
  std::uint64_t Period() const { return period_; }
  /// Whether the period has come round.
  bool IsDue(std::uint64_t update) const { return IsOutside(update) || update % period_ == 0; }
  /// Whether it has in the update that follows.
  bool IsDueNext(std::uint64_t update) const { return IsOutside(update) || (update + 1) % period_ == 0; }

  // At the beginning of a run.

  /// Lets the calling thread own the ends.
  virtual void HandOver() {}
  /// Makes ready for a run whose frames are stamped with the number of their update, from `first_stamp` on.
  virtual void Prepare(const Delivery& delivery, const replay::WorkerRecord& record) = 0;
  /// The first stamp of the run.
  void SetFirstStamp(std::uint64_t first_stamp) { first_stamp_ = first_stamp; }

  // Best effort.

  /// Takes in what has arrived.
  virtual void Pull() = 0;
  /// Sends what an update has put, if the layer is due.
  virtual void Send(std::uint64_t update) = 0;
  /// While frames bear stamps: an update that begins at `now` reads what has been pulled.
  virtual void Read(uit::TimePoint now) = 0;

  // Recorded and replayed.

  /// The most bytes that PullRecorded writes.
  virtual std::size_t MaxRecordBytes() const { return 0; }
  /// Pulls, and writes down what that has changed. Returns where that ends.
  virtual std::byte* PullRecorded(std::byte* to) {
    Pull();
    return to;
  }
  /// Changes what PullRecorded has written down. False: that is not what the bytes are.
  [[nodiscard]] virtual bool TryReplay(uit::ByteReader&) { return true; }
  /// What happens from here on is no part of the record.
  virtual void StopIntercepting() {}

  // Bulk synchronous, and the drain of every run.

  /// Frames bear the update's number from here on.
  virtual void SetStamp(std::uint64_t) {}
  /// Begins to send an update's last frames.
  virtual void BeginEnd(std::uint64_t) {}
  /// Sends an update's last frames. False if a peer has no room yet: call again, and MakeRoom of all layers meanwhile.
  virtual bool TryEnd(std::uint64_t) { return true; }
  /// Takes in what others end the same update with, so that no two workers await each other's room.
  virtual void MakeRoom(std::uint64_t) {}
  /// Pulls, and tells whether everybody's last frames of an update have come.
  virtual bool TryPullLast(std::uint64_t update) = 0;
  /// Tells whether everybody's reports of an update have come.
  virtual bool TryReadReports(std::uint64_t) { return true; }
  /// While everybody stands still, at the end of an update: what was put and stepped takes effect.
  virtual void Refresh(std::uint64_t) {}
  /// All nodes have been updated: counts what they have put.
  virtual void FinishUpdate(std::uint64_t) {}

  // When all workers have stopped.

  /// From here on last frames leave at once, whatever the window: two that await each other's reports would hang.
  virtual void BeginDrain() {}
  /// After the drain's last frames: what was staged or held back can be stepped to, as soon as all workers have come here.
  virtual void ShowAll() {}
  /// Tells the inlets how far the outlets have come.
  virtual void ReportSteps() {}
  /// The run is over.
  virtual void EndDrain() {}

  // What has been counted since the mesh was made.

  /// Adds what became of puts and gets: of channels that leave the thread to `crossing`, of others to `inside`.
  virtual void AddTallies(uit::Tally& crossing, uit::Tally& inside) const = 0;
  /// Visits every other worker that this one exchanges something with.
  virtual void ForEachPeer(const VisitPeer& visit) = 0;
  /// Visits every channel that leaves the thread; `graph` is the worker's.
  virtual void ForEachChannel(const WorkerGraph& graph, const VisitChannel& visit) = 0;

 protected:
  /// Whether it is no update, but what comes before or after all of them.
  static constexpr bool IsOutside(std::uint64_t update) { return update == drain_update || update == start_update; }
  /// What frames of an update are stamped with.
  std::uint64_t Stamp(std::uint64_t update) const { return first_stamp_ + update; }

 private:
  std::uint64_t period_;
  std::uint64_t first_stamp_ = 0;
};

}  // namespace netuit
