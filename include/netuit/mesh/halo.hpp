#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/node_counts.hpp>
#include <netuit/mesh/place_graph.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/replay/delta.hpp>
#include <uit/config.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/support/bytes.hpp>
#include <uit/tally.hpp>

namespace netuit {

/// The sending half of a halo exchange: the values of some nodes of a place, for one other place.
struct HaloSender {
  std::vector<std::uint32_t> nodes;  ///< local to the place, ascending by id
  uit::LatestFrame layout;           ///< a slot per node
  uit::OutPort port;                 ///< to the other place
  uit::Frame frame;                  ///< to write the next one in
  std::vector<std::uint64_t> counts; ///< scratch: messages by node, where they differ

  /// Sends the nodes' values, whether new or not.
  template <typename T>
  void Send(const T* values, const NodeCounts& puts, std::uint64_t update, bool last) {
    frame.Reserve(layout.MaxBytes());
    auto* slot = frame.Payload();
    for (const std::uint32_t node : nodes) {
      std::memcpy(slot, &values[node], sizeof(T));
      slot += sizeof(T);
    }
    if (!puts.IsUniform()) {
      counts.resize(nodes.size());
      std::ranges::transform(nodes, counts.begin(), [&puts](std::uint32_t node) { return puts.Of(node); });
    }
    layout.Seal(frame, puts.IsUniform() ? nullptr : counts.data(), puts.Base());
    frame.Header().update = update;
    frame.Header().last = last ? 1 : 0;
    port.TryDepart(frame);
  }
};

/// The receiving half: values of nodes elsewhere, which become ghosts in a row.
struct HaloReceiver {
  std::size_t first_ghost = 0;         ///< where its values stand among the place's
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

  /// Copies the newest values that have arrived to their ghosts. Counts them as stepped, or as unread where no
  /// update will read them. Returns whether there were any. Throws for what is no frame of the place's.
  template <typename T>
  bool Pull(T* values, bool will_be_read) {
    if (!box->TryStep()) return false;
    uit::Frame& frame = box->Get();
    if (trace != nullptr) [[unlikely]] trace->frames.Take(frame);
    layout.Check(frame);
    std::memcpy(values + first_ghost, frame.Payload(), layout.SlotsBytes());
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

/// One place's share of a multicast layer: the values of its own nodes, then ghosts, one per node elsewhere that it
/// hears. Its worker only, once it is wired.
template <typename T>
class Halo final : public LayerPart {
 public:
  /// The place that `graph` describes.
  explicit Halo(const PlaceGraph& graph, std::uint64_t period = 1) : LayerPart(period), num_nodes_(graph.nodes.size()) {
    // Ghosts stand by source worker, then by id: the order in which that worker sends them.
    std::vector<std::pair<std::uint32_t, NodeId>> ghosts;
    for (std::size_t input = 0; input < graph.sources.size(); ++input) {
      if (graph.source_workers[input] != graph.worker)
        ghosts.emplace_back(graph.source_workers[input], graph.sources[input]);
    }
    std::ranges::sort(ghosts);
    ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
    in_index_.reserve(graph.sources.size());
    for (std::size_t input = 0; input < graph.sources.size(); ++input) {
      const NodeId source = graph.sources[input];
      if (graph.source_workers[input] == graph.worker) {
        in_index_.push_back(graph.LocalIndex(source));
      } else {
        const auto ghost = std::ranges::lower_bound(ghosts, std::pair{graph.source_workers[input], source});
        in_index_.push_back(static_cast<std::uint32_t>(num_nodes_ + static_cast<std::size_t>(ghost - ghosts.begin())));
      }
    }
    for (std::size_t i = 0; i < ghosts.size(); ++i) {
      ghost_ids_.push_back(ghosts[i].second);
      if (i == 0 || ghosts[i].first != ghosts[i - 1].first) {
        receivers_[ghosts[i].first].first_ghost = num_nodes_ + i;
        receivers_[ghosts[i].first].layout = {.num_channels = 0, .slot_bytes = sizeof(T)};
      }
      ++receivers_[ghosts[i].first].layout.num_channels;
    }
    for (std::uint32_t node = 0; node < num_nodes_; ++node) {
      for (std::uint32_t output = graph.first_out[node]; output < graph.first_out[node + 1]; ++output) {
        if (graph.target_workers[output] == graph.worker) continue;
        HaloSender& sender = senders_[graph.target_workers[output]];
        if (sender.nodes.empty() || sender.nodes.back() != node) sender.nodes.push_back(node);
      }
    }
    for (auto& [worker, sender] : senders_) sender.layout = {sender.nodes.size(), sizeof(T)};
    current_.resize(num_nodes_ + ghosts.size());
    next_.resize(current_.size());
  }

  /// The halves by the worker at the other end; wiring gives them their boxes and ports.
  std::map<std::uint32_t, HaloSender>& Senders() { return senders_; }
  /// The same for what comes in.
  std::map<std::uint32_t, HaloReceiver>& Receivers() { return receivers_; }

  /// Frames are to bear stamps with the times of `clock`, which the halo refers to; `is_same_clock(worker)` tells whether
  /// a peer's are comparable. Before it is wired.
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
  /// An update that begins at `now` reads what has been pulled.
  void Read(uit::TimePoint now) override {
    ++num_reads_;
    for (auto& [worker, trace] : traces_) trace.Read(now);
  }
  /// Calls `visit(worker, counts, trace)` for every other place that it exchanges values with.
  void ForEachPeer(const VisitPeer& visit) override {
    std::map<std::uint32_t, ExchangeCounts> peers;
    for (const auto& [worker, sender] : senders_) {
      ExchangeCounts& counts = peers[worker];
      counts.channels_out = sender.nodes.size();
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

  /// Calls `visit(channel, counts)` for every node heard elsewhere, with its puts, and for every ghost, with what became of
  /// them. `graph` is the place's.
  void ForEachChannel(const PlaceGraph& graph, const VisitChannel& visit) override {
    for (const auto& [worker, sender] : senders_) {
      for (const std::uint32_t node : sender.nodes) {
        ExchangeCounts counts{.channels_out = 1};
        counts += PutsOf(node);
        visit(Channel{.source = graph.nodes[node], .target = no_node, .peer = worker}, counts);
      }
    }
    for (const auto& [worker, receiver] : receivers_) {
      for (std::size_t channel = 0; channel < receiver.layout.num_channels; ++channel) {
        ExchangeCounts counts = receiver.CountsOf(channel);
        counts.pulls = num_reads_;
        if (const PeerTrace* const trace = TraceOf(worker); trace != nullptr) counts.touches = trace->frames.NumTouches();
        const NodeId source = ghost_ids_[receiver.first_ghost - num_nodes_ + channel];
        visit(Channel{.source = source, .target = no_node, .peer = worker}, counts);
      }
    }
  }

  /// By node, then ghosts.
  T* Current() { return current_.data(); }
  /// What a bulk synchronous update writes.
  T* Next() { return next_.data(); }
  /// Where the values of inputs stand, by input.
  const std::uint32_t* InIndex() const { return in_index_.data(); }
  /// The global numbers of the ghosts, as they stand.
  std::span<const NodeId> GhostIds() const { return ghost_ids_; }
  /// How many nodes the place has itself.
  std::size_t NumNodes() const { return num_nodes_; }

  /// Where puts are counted.
  NodeCounts& Counting() { return is_muted_ ? muted_ : puts_; }
  /// Where puts are counted that were refused.
  NodeCounts& Dropped() { return is_muted_ ? muted_ : dropped_; }

  void Prepare(const Delivery& delivery, const replay::Tape& tape) override {
    is_by_update_ = delivery.is_by_update;
    is_muted_ = delivery.is_muted;
    if (!tape.IsOn() || is_by_update_ || is_muted_) return;
    for (auto& [worker, receiver] : receivers_) receiver.recorded.assign(replay::NumWords(receiver.layout.SlotsBytes()), 0);
  }
  void Pull() override { PullAll(Current(), true); }
  void Send(std::uint64_t update) override {
    if (IsDue(update)) SendAll(Current(), update, false);
  }

  std::size_t MaxRecordBytes() const override {
    std::size_t num_bytes = 0;
    for (const auto& [worker, receiver] : receivers_) num_bytes += 1 + replay::MaxDeltaBytes(receiver.layout.SlotsBytes());
    return num_bytes;
  }
  std::byte* PullRecorded(std::byte* to) override {
    for (auto& [worker, receiver] : receivers_) {
      const bool has_arrived = receiver.Pull(Current(), true);
      *to++ = static_cast<std::byte>(has_arrived ? 1 : 0);
      if (!has_arrived) continue;
      const auto* const ghosts = reinterpret_cast<const std::byte*>(Current() + receiver.first_ghost);
      to = replay::EncodeDelta(ghosts, receiver.layout.SlotsBytes(), receiver.recorded, to);
    }
    return to;
  }
  [[nodiscard]] bool TryReplay(uit::ByteReader& from) override {
    for (auto& [worker, receiver] : receivers_) {
      std::uint8_t has_arrived = 0;
      if (!from.TryRead(has_arrived) || has_arrived > 1) return false;
      if (has_arrived == 0) continue;
      if (!replay::TryDecodeDelta(from, receiver.recorded)) return false;
      std::memcpy(static_cast<void*>(Current() + receiver.first_ghost), receiver.recorded.data(), receiver.layout.SlotsBytes());
    }
    return true;
  }

  void ShowWritten(std::uint64_t update) override {
    if (IsDue(update)) current_.swap(next_);
  }
  void BeginEnd(std::uint64_t update) override {
    if (IsDue(update)) SendAll(Written(update), update, true);
  }
  bool TryPullLast(std::uint64_t update) override {
    if (!IsDue(update)) return true;
    bool all = true;
    for (auto& [worker, receiver] : receivers_) {
      if (receiver.has_last && receiver.last_update == Stamp(update)) continue;
      receiver.Pull(Written(update), update != drain_update);
      all &= receiver.has_last && receiver.last_update == Stamp(update);
    }
    return all;
  }
  void FinishUpdate(std::uint64_t update) override {
    if (IsDue(update)) Counting().AddOneEach();
  }

  void AddTallies(uit::Tally& crossing, uit::Tally&) const override { crossing += GetTally(); }
  /// What became of this place's puts and gets; a channel is (source node, reading place).
  uit::Tally GetTally() const {
    uit::Tally tally;
    for (const auto& [worker, sender] : senders_) tally += PutsTo(sender);
    for (const auto& [worker, receiver] : receivers_) {
      tally.get += receiver.gets;
      tally.put.preempted += receiver.num_preempted;
    }
    return tally;
  }

 private:
  /// Where an update's values stand before they are shown.
  T* Written(std::uint64_t update) { return is_by_update_ && update != drain_update ? Next() : Current(); }
  void SendAll(const T* values, std::uint64_t update, bool last) {
    for (auto& [worker, sender] : senders_) sender.Send(values, puts_, Stamp(update), last);
  }
  void PullAll(T* values, bool will_be_read) {
    for (auto& [worker, receiver] : receivers_) receiver.Pull(values, will_be_read);
  }
  uit::PutTally PutsTo(const HaloSender& sender) const {
    uit::PutTally puts;
    for (const std::uint32_t node : sender.nodes) puts += PutsOf(node);
    return puts;
  }
  uit::PutTally PutsOf(std::uint32_t node) const {
    return {.attempted = puts_.Of(node) + dropped_.Of(node), .dropped = dropped_.Of(node), .muted = muted_.Of(node)};
  }

  std::size_t num_nodes_;
  std::vector<T> current_;
  std::vector<T> next_;
  std::vector<std::uint32_t> in_index_;
  std::vector<NodeId> ghost_ids_;
  std::map<std::uint32_t, HaloSender> senders_;
  std::map<std::uint32_t, HaloReceiver> receivers_;
  std::map<std::uint32_t, PeerTrace> traces_;  // by worker; empty if frames bear no stamps
  std::uint64_t num_reads_ = 0;
  NodeCounts puts_;
  NodeCounts muted_;
  NodeCounts dropped_;
  bool is_by_update_ = false;
  bool is_muted_ = false;
};

}  // namespace netuit
