#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>

#include <netuit/mesh/value_part.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/replay/delta.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>

namespace netuit {

UIT_DEFINE void ValueSender::Send(PackSlots pack, const std::byte* values, std::size_t first_slot, const NodeCounts& puts,
                                  std::uint64_t stamp, bool last) {
  frame.Reserve(layout.MaxBytes());
  pack(values, first_slot, nodes, frame.Payload());
  if (!puts.IsUniform()) {
    counts.resize(nodes.size());
    std::ranges::transform(nodes, counts.begin(), [&puts](std::uint32_t node) { return puts.Of(node); });
  }
  layout.Seal(frame, puts.IsUniform() ? nullptr : counts.data(), puts.Base());
  frame.Header().update = stamp;
  frame.Header().last = last ? 1 : 0;
  port.TryDepart(frame);
}

UIT_DEFINE bool ValueReceiver::Pull(std::byte* values, bool will_be_read) {
  if (!box->TryStep()) return false;
  uit::Frame& frame = box->Get();
  if (trace != nullptr) [[unlikely]] trace->frames.Take(frame);
  layout.Check(frame);
  std::memcpy(Ghosts(values), frame.Payload(), layout.SlotsBytes());
  Count(frame, will_be_read);
  has_last = frame.Header().last != 0;
  last_update = frame.Header().update;
  return true;
}

UIT_DEFINE ExchangeCounts ValueReceiver::CountsOf(std::size_t channel) const {
  const std::uint64_t num_fresh = fresh.empty() ? fresh_base : fresh[channel];
  const std::uint64_t num_seen = seen_.empty() ? seen_base_ : seen_[channel];
  return {.channels_in = 1, .stepped = num_fresh, .skipped = num_seen - num_fresh, .laden = num_fresh};
}

UIT_DEFINE void ValueReceiver::Count(const uit::Frame& frame, bool will_be_read) {
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

UIT_DEFINE void ValuePart::Prepare(const Delivery& delivery, const replay::Tape& tape) {
  is_muted_ = delivery.is_muted;
  if (!tape.IsOn() || delivery.is_by_update || is_muted_) return;
  for (auto& [worker, receiver] : receivers_) receiver.recorded.assign(replay::NumWords(receiver.layout.SlotsBytes()), 0);
}

UIT_DEFINE void ValuePart::Pull() {
  for (auto& [worker, receiver] : receivers_) receiver.Pull(Shown(), true);
}

UIT_DEFINE void ValuePart::Read(uit::TimePoint now) {
  ++num_reads_;
  for (auto& [worker, trace] : traces_) trace.Read(now);
}

UIT_DEFINE std::size_t ValuePart::MaxRecordBytes() const {
  std::size_t num_bytes = 0;
  for (const auto& [worker, receiver] : receivers_) num_bytes += 1 + replay::MaxDeltaBytes(receiver.layout.SlotsBytes());
  return num_bytes;
}

UIT_DEFINE std::byte* ValuePart::PullRecorded(std::byte* to) {
  for (auto& [worker, receiver] : receivers_) {
    const bool has_arrived = receiver.Pull(Shown(), true);
    *to++ = static_cast<std::byte>(has_arrived ? 1 : 0);
    if (has_arrived) to = replay::EncodeDelta(receiver.Ghosts(Shown()), receiver.layout.SlotsBytes(), receiver.recorded, to);
  }
  return to;
}

UIT_DEFINE bool ValuePart::TryReplay(uit::ByteReader& from) {
  for (auto& [worker, receiver] : receivers_) {
    std::uint8_t has_arrived = 0;
    if (!from.TryRead(has_arrived) || has_arrived > 1) return false;
    if (has_arrived == 0) continue;
    if (!replay::TryDecodeDelta(from, receiver.recorded)) return false;
    std::memcpy(receiver.Ghosts(Shown()), receiver.recorded.data(), receiver.layout.SlotsBytes());
  }
  return true;
}

UIT_DEFINE void ValuePart::AddTallies(uit::Tally& crossing, uit::Tally&) const {
  for (const auto& [worker, sender] : senders_) crossing.put += PutsTo(sender);
  for (const auto& [worker, receiver] : receivers_) {
    crossing.get += receiver.gets;
    crossing.put.preempted += receiver.num_preempted;
  }
}

UIT_DEFINE void ValuePart::ForEachPeer(const VisitPeer& visit) {
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

UIT_DEFINE void ValuePart::ForEachChannel(const PlaceGraph& graph, const VisitChannel& visit) {
  for (const auto& [worker, sender] : senders_) {
    for (const std::uint32_t node : sender.nodes) {
      ExchangeCounts counts{.channels_out = 1};
      counts += PutsOf(node);
      visit(Channel{.source = graph.nodes[node], .target = no_node, .peer = worker}, counts);
    }
  }
  for (const auto& [worker, receiver] : receivers_) {
    for (std::size_t channel = 0; channel < receiver.ids.size(); ++channel) {
      ExchangeCounts counts = receiver.CountsOf(channel);
      counts.pulls = num_reads_;
      if (const PeerTrace* const trace = TraceOf(worker); trace != nullptr) counts.touches = trace->frames.NumTouches();
      visit(Channel{.source = receiver.ids[channel], .target = no_node, .peer = worker}, counts);
    }
  }
}

UIT_DEFINE void ValuePart::SendAll(PackSlots pack, const std::byte* values, std::size_t first_slot, std::uint64_t update,
                                   bool last) {
  for (auto& [worker, sender] : senders_) sender.Send(pack, values, first_slot, puts_, Stamp(update), last);
}

UIT_DEFINE bool ValuePart::TryPullAllLast(std::byte* values, std::uint64_t update) {
  bool all = true;
  for (auto& [worker, receiver] : receivers_) {
    if (receiver.has_last && receiver.last_update == Stamp(update)) continue;
    receiver.Pull(values, update != drain_update);
    all &= receiver.has_last && receiver.last_update == Stamp(update);
  }
  return all;
}

UIT_DEFINE uit::PutTally ValuePart::PutsTo(const ValueSender& sender) const {
  uit::PutTally puts;
  for (const std::uint32_t node : sender.nodes) puts += PutsOf(node);
  return puts;
}

}  // namespace netuit
