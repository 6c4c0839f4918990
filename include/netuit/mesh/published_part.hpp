#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <netuit/mesh/delayed_exchange.hpp>
#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/frame_note.hpp>
#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/node_counts.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/phase.hpp>
#include <netuit/mesh/value_ends.hpp>
#include <netuit/mesh/value_exchange.hpp>
#include <netuit/quality/effective_updates.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/tally.hpp>

namespace netuit {

/// One worker's part of a field that is published along a network. It sends the values of nodes that have recipients on other
/// workers, and stores the newest values of other workers in its ghosts. A channel is a node with a recipient on another
/// worker.
///
/// Values are sent in the last update before the one in which the network is due. In an update in which the network is due, a node
/// therefore sees its neighbours as they were after the previous update. Once the part is joined, only its worker may call it.
class PublishedPart final : public LayerPart {
 public:
  /// Refers to all arguments. The field has a part for each of its networks. If neighbours see values of the previous update,
  /// the first part (`is_first`) copies the worker's own values for them.
  PublishedPart(const FieldMemory& memory, const Partition& partition, const NetworkPart& network, bool is_first);

  /// Returns the senders and receivers. The layer joins them.
  ValueEnds& Ends() { return ends_; }
  /// Returns what moves awaited values instead, or null if every edge of the mesh has delay 1, or the period is longer.
  DelayedExchange* Delayed() { return delayed_.get(); }
  /// Makes frames carry time stamps of `clock`, to which the part refers. `is_same_clock(worker)` tells whether a peer's stamps
  /// are comparable. Call it before the layer is joined.
  template <std::predicate<std::uint32_t> F>
  void TraceBy(const uit::TraceClock& clock, F&& is_same_clock) {
    const auto add = [&](std::uint32_t worker) { traces_.try_emplace(worker, clock, is_same_clock(worker)); };
    for (const ValueReceiver& receiver : receivers_) add(receiver.worker);
    for (const ValueSender& sender : senders_) add(sender.worker);
  }
  /// Returns the traces by worker; empty if frames carry no time stamps.
  std::map<std::uint32_t, PeerTrace>& Traces() { return traces_; }
  /// Returns the trace of a peer, or null if frames carry no time stamps.
  PeerTrace* TraceOf(std::uint32_t worker) {
    const auto found = traces_.find(worker);
    return found == traces_.end() ? nullptr : &found->second;
  }

  void Prepare(const Delivery& delivery, const replay::WorkerRecord& record) override;
  void Pull() override;
  void Read(uit::TimePoint now) override;
  void NoteReads(std::uint64_t update, EffectiveUpdates& effective) const override;
  void Send(std::uint64_t update) override;
  void RaiseToNewest(CutCounts& counts) override;
  void VisitSources(std::uint64_t update, uit::FunctionRef<void(std::uint32_t, std::uint64_t)> visit) override;
  std::size_t MaxRecordBytes() const override;
  std::byte* PullRecorded(std::byte* to) override;
  [[nodiscard]] bool TryReplay(uit::ByteReader& from) override;
  /// Counts a publication for every node except silent ones, and shows their values to neighbours of the same worker. Counts
  /// nothing if the network is not due next.
  void FinishUpdate(std::uint64_t update) override;
  bool IsCrossed(std::size_t level) const override;
  void BeginLevels() override;
  bool TryBeginLevel(std::size_t level, std::uint64_t update) override;
  void ShowLevel(std::size_t level, std::span<const std::uint32_t> silent) override;
  bool TrySendLevel(std::size_t level, std::uint64_t update) override;
  void TakeIn(std::uint64_t update) override;
  void AgeValues(std::uint64_t update) override;
  bool TryEmpty() override;
  void BeginEnd(Phase phase) override;
  bool TryEnd(Phase phase) override;
  bool TryPullLast(Phase phase) override;
  void AddTallies(uit::Tally& crossing, uit::Tally& inside) const override;
  void ForEachPeer(const VisitPeer& visit) override;
  void ForEachChannel(const WorkerGraph& graph, const VisitChannel& visit) override;

 private:
  ShownValues Shown() const {
    return {.pack = memory_.pack,
            .values = memory_.shown,
            .first_slot = network_.first_slot,
            .puts = puts_,
            .num_effective = partition_.effective.Count(),
            .cuts = partition_.cuts};
  }
  /// Returns how many updates of this run a worker had made when it sent a frame with this stamp.
  std::uint64_t NumMade(std::uint64_t stamp) const { return stamp < Stamp(0) ? 0 : stamp - Stamp(0) + 1; }
  void SendShown(Phase phase, bool last);
  /// Takes in what has arrived; in a run with cuts, what RaiseToNewest has seen.
  bool PullFrom(ValueReceiver& receiver) {
    return partition_.has_cuts ? receiver.PullSeen(memory_.shown, true) : receiver.Pull(memory_.shown, true);
  }
  /// Whether the frames of a phase are awaited. Those of the drain use the same way in every run.
  bool IsAwaited(Phase phase) const { return is_awaited_ && !phase.IsDrain(); }
  /// Whether the exchange with delays moves the values of a phase.
  bool IsByLevel(Phase phase) const { return IsAwaited(phase) && delayed_ != nullptr; }
  /// Takes back the publications of nodes that were silent.
  void CountSilent(std::span<const std::uint32_t> silent);
  /// Shows the nodes' values to neighbours of the same worker, except those of silent nodes.
  void ShowOwnValues(std::span<const std::uint32_t> silent);
  /// Copies the worker's own nodes' values to their ghosts, if the network has any.
  void ShowOwnGhosts();
  /// Returns the counter in use: muted or sent.
  NodeCounts& Counting() { return is_muted_ ? muted_ : puts_; }
  /// Returns the puts of a node.
  uit::PutTally PutsOf(std::uint32_t node) const { return {.attempted = puts_.Of(node), .muted = muted_.Of(node)}; }
  uit::PutTally PutsTo(const ValueSender& sender) const;

  const FieldMemory& memory_;
  const Partition& partition_;
  const NetworkPart& network_;
  bool is_first_;
  bool is_muted_ = false;
  bool is_awaited_ = false;
  const NetworkPart::Ghosts* own_ghosts_ = nullptr;  // of the worker's own nodes, if the period is more than one update
  ValueEnds ends_;
  std::vector<ValueSender>& senders_ = ends_.senders;
  std::size_t num_sent_ = 0;  // senders that have sent an awaited frame of this update
  std::vector<ValueReceiver>& receivers_ = ends_.receivers;
  std::unique_ptr<DelayedExchange> delayed_;
  std::uint64_t num_by_level_ = 0;  // updates of this run
  std::map<std::uint32_t, PeerTrace> traces_;  // by worker; empty if frames carry no time stamps
  std::uint64_t num_reads_ = 0;
  NodeCounts puts_;
  NodeCounts muted_;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/published_part.ipp>
#endif
