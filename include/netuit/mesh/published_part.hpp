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

/// One worker's part of a field that is published along a network. It sends the values of nodes that have recipients on other
/// workers, and stores the newest values of other workers in its ghosts. A channel is a node with a recipient on another
/// worker.
///
/// Values are sent in the update before the one in which the network is due. In an update in which the network is due, a node
/// therefore sees its neighbours as they were after the update before. Once the part is joined, only its worker may call it.
class PublishedPart final : public LayerPart {
 public:
  /// Refers to all arguments. The field has a part for each of its networks. If neighbours see values of the previous update,
  /// the first part (`is_first`) copies the worker's own values for them.
  PublishedPart(const FieldMemory& memory, const Partition& partition, const NetworkPart& network, bool is_first);

  /// Returns the senders by destination worker. The layer gives them their ports when it is joined.
  std::map<std::uint32_t, ValueSender>& Senders() { return senders_; }
  /// Returns the receivers by source worker. The layer gives them their boxes when it is joined.
  std::map<std::uint32_t, ValueReceiver>& Receivers() { return receivers_; }
  /// Makes frames carry time stamps of `clock`, to which the part refers. `is_same_clock(worker)` tells whether a peer's stamps
  /// are comparable. Call it before the layer is joined.
  template <std::predicate<std::uint32_t> F>
  void TraceBy(const uit::TraceClock& clock, F&& is_same_clock) {
    const auto add = [&](std::uint32_t worker) -> PeerTrace& {
      return traces_.try_emplace(worker, clock, is_same_clock(worker)).first->second;
    };
    for (auto& [worker, receiver] : receivers_) receiver.trace = &add(worker);
    for (auto& [worker, sender] : senders_) add(worker);
  }
  /// Returns the trace of a peer, or null if frames carry no time stamps.
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
  /// Counts a publication for every node except silent ones, and shows their values to neighbours of the same worker. Counts
  /// nothing if the network is not due next.
  void FinishUpdate(std::uint64_t update) override;
  void BeginEnd(std::uint64_t update) override;
  bool TryPullLast(std::uint64_t update) override;
  void AddTallies(uit::Tally& crossing, uit::Tally& inside) const override;
  void ForEachPeer(const VisitPeer& visit) override;
  void ForEachChannel(const WorkerGraph& graph, const VisitChannel& visit) override;

 private:
  void SendShown(std::uint64_t update, bool last);
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
  const NetworkPart::Ghosts* own_ghosts_ = nullptr;  // of the worker's own nodes, if the period is more than one update
  std::map<std::uint32_t, ValueSender> senders_;
  std::map<std::uint32_t, ValueReceiver> receivers_;
  std::map<std::uint32_t, PeerTrace> traces_;  // by worker; empty if frames carry no time stamps
  std::uint64_t num_reads_ = 0;
  NodeCounts puts_;
  NodeCounts muted_;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/published_part.ipp>
#endif
