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
  void Send(const FieldMemory& memory, std::size_t first_slot, const NodeCounts& puts, std::uint64_t stamp, bool last) {
    frame.Reserve(layout.MaxBytes());
    memory.pack(memory.shown, first_slot, heard->nodes, frame.Payload());
    if (!puts.IsUniform()) {
      counts.resize(heard->nodes.size());
      std::ranges::transform(heard->nodes, counts.begin(), [&puts](std::uint32_t node) { return puts.Of(node); });
    }
    layout.Seal(frame, puts.IsUniform() ? nullptr : counts.data(), puts.Base());
    frame.Header().update = stamp;
    frame.Header().last = last ? 1 : 0;
    port.TryDepart(frame);
  }
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
  bool Pull(std::byte* to, bool will_be_read) {
    if (!box->TryStep()) return false;
    uit::Frame& frame = box->Get();
    if (trace != nullptr) [[unlikely]] trace->frames.Take(frame);
    layout.Check(frame);
    std::memcpy(to, frame.Payload(), layout.SlotsBytes());
    Count(frame, will_be_read);
    has_last = frame.Header().last != 0;
    last_update = frame.Header().update;
    return true;
  }
  /// What became of the messages of one channel.
  ExchangeCounts CountsOf(std::size_t channel) const {
    const std::uint64_t num_fresh = fresh.empty() ? fresh_base : fresh[channel];
    const std::uint64_t num_seen = seen_.empty() ? seen_base_ : seen_[channel];
    return {.channels_in = 1, .stepped = num_fresh, .skipped = num_seen - num_fresh, .laden = num_fresh};
  }

 private:
  void Count(const uit::Frame& frame, bool will_be_read) {
    std::uint64_t num_fresh = 0;
    std::uint64_t num_new = 0;
    if (layout.IsUniform(frame) && seen_.empty()) {
      num_fresh = frame.Header().base != seen_base_ ? layout.num_channels : 0;
      num_new = (frame.Header().base - seen_base_) * layout.num_channels;
      seen_base_ = frame.Header().base;
      fresh_base += num_fresh != 0 ? 1 : 0;
    } else {
      if (seen_.empty()) {
        seen_.assign(layout.num_channels, seen_base_);
        fresh.assign(layout.num_channels, fresh_base);
      }
      for (std::size_t channel = 0; channel < layout.num_channels; ++channel) {
        const std::uint64_t count = layout.Count(frame, channel);
        num_fresh += count != seen_[channel] ? 1 : 0;
        fresh[channel] += count != seen_[channel] ? 1 : 0;
        num_new += count - seen_[channel];
        seen_[channel] = count;
      }
    }
    (will_be_read ? gets.stepped : gets.unread) += num_fresh;
    num_preempted += num_new - num_fresh;
  }

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
  PublishedPart(const FieldMemory& memory, const Partition& partition, const NetworkPart& network, bool is_first)
      : LayerPart(network.period), memory_(memory), partition_(partition), network_(network), is_first_(is_first) {
    for (const NetworkPart::Heard& heard : network.heard) {
      if (heard.worker == network.graph.worker) continue;
      senders_[heard.worker] = ValueSender{.heard = &heard, .layout = {heard.nodes.size(), memory.slot_bytes}};
    }
    for (const NetworkPart::Ghosts& ghosts : network.ghosts) {
      if (ghosts.worker == network.graph.worker) {
        own_ghosts_ = &ghosts;
        continue;
      }
      GhostReceiver& receiver = receivers_[ghosts.worker];
      receiver.first_slot = ghosts.first;
      receiver.layout = {ghosts.ids.size(), memory.slot_bytes};
    }
  }

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

  void Prepare(const Delivery& delivery, const replay::Tape& tape) override {
    is_muted_ = delivery.is_muted;
    if (!tape.IsOn() || delivery.is_by_update || is_muted_) return;
    for (auto& [worker, receiver] : receivers_) receiver.recorded.assign(replay::NumWords(receiver.layout.SlotsBytes()), 0);
  }
  void Pull() override {
    for (auto& [worker, receiver] : receivers_) receiver.Pull(Ghosts(receiver), true);
  }
  void Send(std::uint64_t update) override {
    if (IsDueNext(update)) SendAll(update, false);
  }
  void Read(uit::TimePoint now) override {
    ++num_reads_;
    for (auto& [worker, trace] : traces_) trace.Read(now);
  }

  std::size_t MaxRecordBytes() const override {
    std::size_t num_bytes = 0;
    for (const auto& [worker, receiver] : receivers_) num_bytes += 1 + replay::MaxDeltaBytes(receiver.layout.SlotsBytes());
    return num_bytes;
  }
  std::byte* PullRecorded(std::byte* to) override {
    for (auto& [worker, receiver] : receivers_) {
      const bool has_arrived = receiver.Pull(Ghosts(receiver), true);
      *to++ = static_cast<std::byte>(has_arrived ? 1 : 0);
      if (has_arrived) to = replay::EncodeDelta(Ghosts(receiver), receiver.layout.SlotsBytes(), receiver.recorded, to);
    }
    return to;
  }
  [[nodiscard]] bool TryReplay(uit::ByteReader& from) override {
    for (auto& [worker, receiver] : receivers_) {
      std::uint8_t has_arrived = 0;
      if (!from.TryRead(has_arrived) || has_arrived > 1) return false;
      if (has_arrived == 0) continue;
      if (!replay::TryDecodeDelta(from, receiver.recorded)) return false;
      std::memcpy(Ghosts(receiver), receiver.recorded.data(), receiver.layout.SlotsBytes());
    }
    return true;
  }

  /// Every node has published, but for those that stay silent, and neighbours of the same worker see it. A network that is
  /// not due next hears nothing.
  void FinishUpdate(std::uint64_t update) override {
    if (is_first_ && memory_.IsByUpdate()) ShowOwnValues(partition_.silent);
    if (!IsDueNext(update)) return;
    ShowOwnGhosts();
    NodeCounts& counts = is_muted_ ? muted_ : puts_;
    counts.AddOneEach();
    for (const std::uint32_t node : partition_.silent) counts.Deviate(node, -1, partition_.NumNodes());
  }
  void BeginEnd(std::uint64_t update) override {
    if (update == drain_update) {
      if (is_first_ && memory_.IsByUpdate()) ShowOwnValues({});
      ShowOwnGhosts();
    }
    if (IsDueNext(update)) SendAll(update, true);
  }
  bool TryPullLast(std::uint64_t update) override {
    if (!IsDueNext(update)) return true;
    bool all = true;
    for (auto& [worker, receiver] : receivers_) {
      if (receiver.has_last && receiver.last_update == Stamp(update)) continue;
      receiver.Pull(Ghosts(receiver), update != drain_update);
      all &= receiver.has_last && receiver.last_update == Stamp(update);
    }
    return all;
  }

  void AddTallies(uit::Tally& crossing, uit::Tally&) const override {
    for (const auto& [worker, sender] : senders_) crossing.put += PutsTo(sender);
    for (const auto& [worker, receiver] : receivers_) {
      crossing.get += receiver.gets;
      crossing.put.preempted += receiver.num_preempted;
    }
  }
  void ForEachPeer(const VisitPeer& visit) override {
    std::map<std::uint32_t, ExchangeCounts> peers;
    for (const auto& [worker, sender] : senders_) {
      ExchangeCounts& counts = peers[worker];
      counts.channels_out = sender.heard->nodes.size();
      counts += PutsTo(sender);
    }
    for (const auto& [worker, receiver] : receivers_) {
      ExchangeCounts& counts = peers[worker];
      counts.channels_in = receiver.layout.num_channels;
      counts += receiver.gets;
      counts.skipped += receiver.num_preempted;
      counts.pulls = num_reads_ * receiver.layout.num_channels;
      counts.laden = receiver.gets.stepped + receiver.gets.unread;
    }
    for (auto& [worker, counts] : peers) {
      PeerTrace* const trace = TraceOf(worker);
      if (trace != nullptr) counts.touches = trace->frames.NumTouches();
      visit(worker, counts, trace);
    }
  }
  void ForEachChannel(const PlaceGraph& graph, const VisitChannel& visit) override {
    for (const auto& [worker, sender] : senders_) {
      for (const std::uint32_t node : sender.heard->nodes) {
        ExchangeCounts counts{.channels_out = 1};
        counts += PutsOf(node);
        visit(Channel{.source = graph.nodes[node], .target = no_node, .peer = worker}, counts);
      }
    }
    for (const NetworkPart::Ghosts& ghosts : network_.ghosts) {
      if (&ghosts == own_ghosts_) continue;
      const GhostReceiver& receiver = receivers_.at(ghosts.worker);
      for (std::size_t channel = 0; channel < ghosts.ids.size(); ++channel) {
        ExchangeCounts counts = receiver.CountsOf(channel);
        counts.pulls = num_reads_;
        if (const PeerTrace* const trace = TraceOf(ghosts.worker); trace != nullptr) counts.touches = trace->frames.NumTouches();
        visit(Channel{.source = ghosts.ids[channel], .target = no_node, .peer = ghosts.worker}, counts);
      }
    }
  }

 private:
  std::byte* Ghosts(const GhostReceiver& receiver) const { return memory_.Shown(receiver.first_slot); }
  void SendAll(std::uint64_t update, bool last) {
    for (auto& [worker, sender] : senders_) sender.Send(memory_, network_.first_slot, puts_, Stamp(update), last);
  }
  /// Neighbours of the same worker see what its nodes have written, but for those that stay silent.
  void ShowOwnValues(std::span<const std::uint32_t> silent) {
    std::size_t next = 0;  // the first node that is yet to be shown
    const auto show_up_to = [&](std::size_t end) {
      const std::size_t slot = network_.first_slot + next;
      std::memcpy(memory_.Shown(slot), memory_.Own(slot), (end - next) * memory_.slot_bytes);
      next = end + 1;
    };
    for (const std::uint32_t node : silent) show_up_to(node);
    show_up_to(partition_.NumNodes());
  }
  /// Brings own nodes' values to their ghosts, where the network has any.
  void ShowOwnGhosts() {
    if (own_ghosts_ == nullptr) return;
    const auto heard = std::ranges::find(network_.heard, network_.graph.worker, &NetworkPart::Heard::worker);
    memory_.pack(memory_.shown, network_.first_slot, heard->nodes, memory_.Shown(own_ghosts_->first));
  }
  uit::PutTally PutsTo(const ValueSender& sender) const {
    uit::PutTally puts;
    for (const std::uint32_t node : sender.heard->nodes) puts += PutsOf(node);
    return puts;
  }
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
