#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/node_counts.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/replay/delta.hpp>
#include <uit/config.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/support/bytes.hpp>
#include <uit/tally.hpp>
#include <uit/wire/frame.hpp>
#include <uit/wire/frame_box.hpp>
#include <uit/wire/out_port.hpp>

namespace netuit {

/// Sends the values of some nodes of a worker to another worker.
struct ValueSender {
  const NetworkPart::Heard* heard = nullptr;  ///< which nodes
  uit::LatestFrame layout{};                  ///< a slot per node
  uit::OutPort port{};                        ///< to the other worker
  uit::Frame frame{};                         ///< to write the next one in
  std::vector<std::uint64_t> counts{};        ///< scratch: publications by node, where they differ

  /// Sends the values that are shown, whether new or not; the nodes' slots begin at `first_slot`.
  void Send(const FieldMemory& memory, std::size_t first_slot, const NodeCounts& puts, std::uint64_t stamp, bool last);
};

/// Receives values of another worker's nodes, which become ghosts.
struct GhostReceiver {
  std::size_t first_slot = 0;          ///< of the ghosts, which stand in a row
  uit::LatestFrame layout;             ///< a slot per ghost
  std::shared_ptr<uit::FrameBox> box;  ///< where frames arrive
  PeerTrace* trace = nullptr;          ///< if frames bear stamps
  uit::GetTally gets;                  ///< values that reached a ghost
  std::uint64_t num_preempted = 0;     ///< messages replaced on the way
  std::vector<std::uint64_t> fresh;    ///< by channel: values that reached a ghost, where they differ; else see below
  std::uint64_t fresh_base = 0;        ///< the same while all channels agree
  std::uint64_t last_update = 0;       ///< stamp of the newest frame
  bool has_last = false;               ///< whether that frame ended its update
  std::vector<std::uint64_t> recorded; ///< while a run is recorded or replayed: the ghosts' bytes, as the record knows them

  /// Copies the newest values that have arrived to their ghosts, of which the first stands at `to`. Counts them as stepped,
  /// or as unread where no update will read them. Returns whether there were any. Throws if the frame has a wrong length.
  bool Pull(std::byte* to, bool will_be_read);
  /// What became of the messages of one channel.
  ExchangeCounts CountsOf(std::size_t channel) const;

 private:
  void Count(const uit::Frame& frame, bool will_be_read);

  std::uint64_t seen_base_ = 0;      // messages that earlier frames knew of, while all channels agree
  std::vector<std::uint64_t> seen_;  // and after
};

/// One worker's part of a field that is published along a network: sends the values of its nodes that others hear, and
/// brings the newest values of others to its ghosts.
///
/// A value is sent when the network is due in the update that follows, so that an update in which it is due sees its
/// neighbours as they were after the update before. That worker only, once it is wired.
class PublishedPart final : public LayerPart {
 public:
  /// Of a field in `memory`, for the worker of `partition`. The field's first part is the one that shows its own nodes'
  /// values, where values are shown update by update. Refers to all arguments.
  PublishedPart(const FieldMemory& memory, const Partition& partition, const NetworkPart& network, bool is_first);

  /// By the worker at the other end; wiring gives them their ports and boxes.
  std::map<std::uint32_t, ValueSender>& Senders() { return senders_; }
  /// The same for what comes in.
  std::map<std::uint32_t, GhostReceiver>& Receivers() { return receivers_; }
  /// The worker that it is a part of.
  const Partition& GetPartition() const { return partition_; }

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

  void Prepare(const Delivery& delivery, const replay::Tape& tape) override;
  void Pull() override;
  void Send(std::uint64_t update) override;
  void Read(uit::TimePoint now) override;

  std::size_t MaxRecordBytes() const override;
  std::byte* PullRecorded(std::byte* to) override;
  [[nodiscard]] bool TryReplay(uit::ByteReader& from) override;

  /// Every node has published, but for those that stay silent, and neighbours of the same worker see it. A network that is
  /// not due next hears nothing.
  void FinishUpdate(std::uint64_t update) override;
  void BeginEnd(std::uint64_t update) override;
  bool TryPullLast(std::uint64_t update) override;

  void AddTallies(uit::Tally& crossing, uit::Tally&) const override;
  void ForEachPeer(const VisitPeer& visit) override;
  void ForEachChannel(const PlaceGraph& graph, const VisitChannel& visit) override;

 private:
  std::byte* Ghosts(const GhostReceiver& receiver) const { return memory_.Shown(receiver.first_slot); }
  void SendAll(std::uint64_t update, bool last) {
    for (auto& [worker, sender] : senders_) sender.Send(memory_, network_.first_slot, puts_, Stamp(update), last);
  }
  /// Neighbours of the same worker see what its nodes have written, but for those that stay silent.
  void ShowOwnValues(std::span<const std::uint32_t> silent);
  /// Brings own nodes' values to their ghosts, where the network has any.
  void ShowOwnGhosts();
  uit::PutTally PutsTo(const ValueSender& sender) const;
  uit::PutTally PutsOf(std::uint32_t node) const { return {.attempted = puts_.Of(node), .muted = muted_.Of(node)}; }

  const FieldMemory& memory_;
  const Partition& partition_;
  const NetworkPart& network_;
  bool is_first_;
  const NetworkPart::Ghosts* own_ghosts_ = nullptr;  // of own nodes, where the network's period is more than an update
  std::map<std::uint32_t, ValueSender> senders_;
  std::map<std::uint32_t, GhostReceiver> receivers_;
  std::map<std::uint32_t, PeerTrace> traces_;  // by worker; empty if frames bear no stamps
  std::uint64_t num_reads_ = 0;
  NodeCounts puts_;
  NodeCounts muted_;
  bool is_muted_ = false;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/published_part.ipp>
#endif
