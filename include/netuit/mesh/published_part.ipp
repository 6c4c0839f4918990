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
#include <netuit/mesh/published_part.hpp>
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

UIT_DEFINE void ValueSender::Send(const FieldMemory& memory, std::size_t first_slot, const NodeCounts& puts, std::uint64_t stamp, bool last) {
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

UIT_DEFINE bool GhostReceiver::Pull(std::byte* to, bool will_be_read) {
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

UIT_DEFINE ExchangeCounts GhostReceiver::CountsOf(std::size_t channel) const {
  const std::uint64_t num_fresh = fresh.empty() ? fresh_base : fresh[channel];
  const std::uint64_t num_seen = seen_.empty() ? seen_base_ : seen_[channel];
  return {.channels_in = 1, .stepped = num_fresh, .skipped = num_seen - num_fresh, .laden = num_fresh};
}

UIT_DEFINE void GhostReceiver::Count(const uit::Frame& frame, bool will_be_read) {
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

UIT_DEFINE PublishedPart::PublishedPart(const FieldMemory& memory, const Partition& partition, const NetworkPart& network, bool is_first) : LayerPart(network.period), memory_(memory), partition_(partition), network_(network), is_first_(is_first) {
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

UIT_DEFINE void PublishedPart::Prepare(const Delivery& delivery, const replay::Tape& tape) {
  is_muted_ = delivery.is_muted;
  if (!tape.IsOn() || delivery.is_by_update || is_muted_) return;
  for (auto& [worker, receiver] : receivers_) receiver.recorded.assign(replay::NumWords(receiver.layout.SlotsBytes()), 0);
}

UIT_DEFINE void PublishedPart::Pull() {
  for (auto& [worker, receiver] : receivers_) receiver.Pull(Ghosts(receiver), true);
}

UIT_DEFINE void PublishedPart::Send(std::uint64_t update) {
  if (IsDueNext(update)) SendAll(update, false);
}

UIT_DEFINE void PublishedPart::Read(uit::TimePoint now) {
  ++num_reads_;
  for (auto& [worker, trace] : traces_) trace.Read(now);
}

UIT_DEFINE std::size_t PublishedPart::MaxRecordBytes() const {
  std::size_t num_bytes = 0;
  for (const auto& [worker, receiver] : receivers_) num_bytes += 1 + replay::MaxDeltaBytes(receiver.layout.SlotsBytes());
  return num_bytes;
}

UIT_DEFINE std::byte* PublishedPart::PullRecorded(std::byte* to) {
  for (auto& [worker, receiver] : receivers_) {
    const bool has_arrived = receiver.Pull(Ghosts(receiver), true);
    *to++ = static_cast<std::byte>(has_arrived ? 1 : 0);
    if (has_arrived) to = replay::EncodeDelta(Ghosts(receiver), receiver.layout.SlotsBytes(), receiver.recorded, to);
  }
  return to;
}

UIT_DEFINE bool PublishedPart::TryReplay(uit::ByteReader& from) {
  for (auto& [worker, receiver] : receivers_) {
    std::uint8_t has_arrived = 0;
    if (!from.TryRead(has_arrived) || has_arrived > 1) return false;
    if (has_arrived == 0) continue;
    if (!replay::TryDecodeDelta(from, receiver.recorded)) return false;
    std::memcpy(Ghosts(receiver), receiver.recorded.data(), receiver.layout.SlotsBytes());
  }
  return true;
}

UIT_DEFINE void PublishedPart::FinishUpdate(std::uint64_t update) {
  if (is_first_ && memory_.IsByUpdate()) ShowOwnValues(partition_.silent);
  if (!IsDueNext(update)) return;
  ShowOwnGhosts();
  NodeCounts& counts = is_muted_ ? muted_ : puts_;
  counts.AddOneEach();
  for (const std::uint32_t node : partition_.silent) counts.Deviate(node, -1, partition_.NumNodes());
}

UIT_DEFINE void PublishedPart::BeginEnd(std::uint64_t update) {
  if (update == drain_update) {
    if (is_first_ && memory_.IsByUpdate()) ShowOwnValues({});
    ShowOwnGhosts();
  }
  if (IsDueNext(update)) SendAll(update, true);
}

UIT_DEFINE bool PublishedPart::TryPullLast(std::uint64_t update) {
  if (!IsDueNext(update)) return true;
  bool all = true;
  for (auto& [worker, receiver] : receivers_) {
    if (receiver.has_last && receiver.last_update == Stamp(update)) continue;
    receiver.Pull(Ghosts(receiver), update != drain_update);
    all &= receiver.has_last && receiver.last_update == Stamp(update);
  }
  return all;
}

UIT_DEFINE void PublishedPart::AddTallies(uit::Tally& crossing, uit::Tally&) const {
  for (const auto& [worker, sender] : senders_) crossing.put += PutsTo(sender);
  for (const auto& [worker, receiver] : receivers_) {
    crossing.get += receiver.gets;
    crossing.put.preempted += receiver.num_preempted;
  }
}

UIT_DEFINE void PublishedPart::ForEachPeer(const VisitPeer& visit) {
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

UIT_DEFINE void PublishedPart::ForEachChannel(const PlaceGraph& graph, const VisitChannel& visit) {
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

UIT_DEFINE void PublishedPart::ShowOwnValues(std::span<const std::uint32_t> silent) {
  std::size_t next = 0;  // the first node that is yet to be shown
  const auto show_up_to = [&](std::size_t end) {
    const std::size_t slot = network_.first_slot + next;
    std::memcpy(memory_.Shown(slot), memory_.Own(slot), (end - next) * memory_.slot_bytes);
    next = end + 1;
  };
  for (const std::uint32_t node : silent) show_up_to(node);
  show_up_to(partition_.NumNodes());
}

UIT_DEFINE void PublishedPart::ShowOwnGhosts() {
  if (own_ghosts_ == nullptr) return;
  const auto heard = std::ranges::find(network_.heard, network_.graph.worker, &NetworkPart::Heard::worker);
  memory_.pack(memory_.shown, network_.first_slot, heard->nodes, memory_.Shown(own_ghosts_->first));
}

UIT_DEFINE uit::PutTally PublishedPart::PutsTo(const ValueSender& sender) const {
  uit::PutTally puts;
  for (const std::uint32_t node : sender.heard->nodes) puts += PutsOf(node);
  return puts;
}

}  // namespace netuit
