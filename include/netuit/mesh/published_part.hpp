#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/node_counts.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/value_exchange.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/tally.hpp>

namespace netuit {

/// One worker's part of a field that is published along a network: sends the values of its nodes that other workers hear, and
/// brings the newest values of others to its ghosts. A channel is a node that is heard by another worker.
///
/// In which update values are sent: the one before the network is due. So in an update in which it is due, a node sees its
/// neighbours as they were after the update before. That worker only, once it is wired.
class PublishedPart final : public LayerPart {
 public:
  /// Of a field in `memory`, for the worker of `partition`. The field's first part is the one that shows its own nodes'
  /// values, where values are shown update by update. Refers to all arguments.
  PublishedPart(const FieldMemory& memory, const Partition& partition, const NetworkPart& network, bool is_first);

  /// By the worker at the other end; wiring gives them their ports and boxes.
  std::map<std::uint32_t, ValueSender>& Senders() { return senders_; }
  /// The same for what comes in.
  std::map<std::uint32_t, ValueReceiver>& Receivers() { return receivers_; }
  /// Frames are to bear stamps with the times of `clock`, which the part refers to; `is_same_clock(worker)` tells whether a
  /// peer's are comparable. Before it is wired.
  template <std::predicate<std::uint32_t> F>
  void TraceBy(const uit::TraceClock& clock, F&& is_same_clock) {
    const auto add = [&](std::uint32_t worker) -> PeerTrace& {
      return traces_.try_emplace(worker, clock, is_same_clock(worker)).first->second;
    };
    for (auto& [worker, receiver] : receivers_) receiver.trace = &add(worker);
    for (auto& [worker, sender] : senders_) add(worker);
  }
  /// Of a peer, if frames bear stamps, else null.
  PeerTrace* TraceOf(std::uint32_t worker) {
    const auto found = traces_.find(worker);
    return found == traces_.end() ? nullptr : &found->second;
  }

  void Prepare(const Delivery& delivery, const replay::WorkerRecord& record) override;
  void Pull() override;
  void Read(uit::TimePoint now) override;
  void Send(std::uint64_t update) override;
  std::size_t MaxRecordBytes() const override;
  std::byte* PullRecorded(std::byte* to) override;
  [[nodiscard]] bool TryReplay(uit::ByteReader& from) override;
  /// Every node has published, but for those that stay silent, and neighbours of the same worker see it. A network that is
  /// not due next hears nothing.
  void FinishUpdate(std::uint64_t update) override;
  void BeginEnd(std::uint64_t update) override;
  bool TryPullLast(std::uint64_t update) override;
  void AddTallies(uit::Tally& crossing, uit::Tally& inside) const override;
  void ForEachPeer(const VisitPeer& visit) override;
  void ForEachChannel(const WorkerGraph& graph, const VisitChannel& visit) override;

 private:
  void SendShown(std::uint64_t update, bool last);
  /// Neighbours of the same worker see what its nodes have written, but for those that stay silent.
  void ShowOwnValues(std::span<const std::uint32_t> silent);
  /// Brings own nodes' values to their ghosts, where the network has any.
  void ShowOwnGhosts();
  /// Counts puts as muted, or as sent.
  NodeCounts& Counting() { return is_muted_ ? muted_ : puts_; }
  /// What a node has put.
  uit::PutTally PutsOf(std::uint32_t node) const { return {.attempted = puts_.Of(node), .muted = muted_.Of(node)}; }
  uit::PutTally PutsTo(const ValueSender& sender) const;

  const FieldMemory& memory_;
  const Partition& partition_;
  const NetworkPart& network_;
  bool is_first_;
  bool is_muted_ = false;
  const NetworkPart::Ghosts* own_ghosts_ = nullptr;  // of own nodes, where the network's period is more than an update
  std::map<std::uint32_t, ValueSender> senders_;
  std::map<std::uint32_t, ValueReceiver> receivers_;
  std::map<std::uint32_t, PeerTrace> traces_;  // by worker; empty if frames bear no stamps
  std::uint64_t num_reads_ = 0;
  NodeCounts puts_;
  NodeCounts muted_;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/published_part.ipp>
#endif
