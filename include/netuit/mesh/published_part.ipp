#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>

#include <netuit/mesh/delayed_exchange.hpp>
#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/frame_note.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/published_part.hpp>
#include <netuit/mesh/value_exchange.hpp>
#include <netuit/quality/effective_updates.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/replay/delta.hpp>
#include <netuit/replay/record_format.hpp>
#include <uit/config.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/tally.hpp>

namespace netuit {

UIT_DEFINE PublishedPart::PublishedPart(const FieldMemory& memory, const Partition& partition, const NetworkPart& network,
                                        bool is_first)
    : LayerPart(network.period),
      memory_(memory),
      partition_(partition),
      network_(network),
      is_first_(is_first),
      ends_(memory, network) {
  const auto own = std::ranges::find(network.ghosts, network.graph.worker, &NetworkPart::Ghosts::worker);
  if (own != network.ghosts.end()) own_ghosts_ = &*own;
  if (!network.delayed) return;
  delayed_ = std::make_unique<DelayedExchange>(memory, *network.delayed, [this](std::uint32_t worker) -> ValueReceiver& {
    const auto found = std::ranges::lower_bound(receivers_, worker, {}, &ValueReceiver::worker);
    UIT_ASSERT(found != receivers_.end() && found->worker == worker, "a value with a delay comes from a worker that sends none");
    return *found;
  });
}

UIT_DEFINE void PublishedPart::Prepare(const Delivery& delivery, const replay::WorkerRecord& record) {
  is_muted_ = delivery.is_muted;
  is_awaited_ = delivery.is_awaited;
  num_by_level_ = 0;
  if (is_awaited_ && delayed_ != nullptr) delayed_->Begin(Stamp(0), delivery.keeps_older);
  if (!record.IsOn() || delivery.is_by_update || is_muted_) return;
  for (ValueReceiver& receiver : receivers_) receiver.recorded.assign(replay::NumWords(receiver.layout.SlotsBytes()), 0);
}

UIT_DEFINE void PublishedPart::Pull() {
  for (ValueReceiver& receiver : receivers_) PullFrom(receiver);
}

UIT_DEFINE void PublishedPart::Read(uit::TimePoint now) {
  ++num_reads_;
  for (auto& [worker, trace] : traces_) trace.Read(now);
}

UIT_DEFINE void PublishedPart::NoteReads(std::uint64_t update, EffectiveUpdates& effective) const {
  if (!IsDue(update)) return;
  if (IsByLevel(update)) return delayed_->NoteReads(update, partition_.max_delay, effective);
  for (const ValueReceiver& receiver : receivers_) effective.Read(update, NumMade(receiver.last_update), receiver.num_effective);
}

UIT_DEFINE void PublishedPart::VisitSources(std::uint64_t update, uit::FunctionRef<void(std::uint32_t, std::uint64_t)> visit) {
  if (!IsDue(update)) return;
  for (ValueReceiver& receiver : receivers_) visit(receiver.worker, NumMade(receiver.NewestArrived()));
}

UIT_DEFINE void PublishedPart::RaiseToNewest(CutCounts& counts) {
  for (ValueReceiver& receiver : receivers_) receiver.RaiseToNewest(counts);
}

UIT_DEFINE std::size_t PublishedPart::MaxRecordBytes() const {
  std::size_t num_bytes = 0;
  for (const ValueReceiver& receiver : receivers_)
    num_bytes += 1 + 2 * replay::max_number_bytes + replay::MaxDeltaBytes(receiver.layout.SlotsBytes());
  return num_bytes;
}

UIT_DEFINE std::byte* PublishedPart::PullRecorded(std::byte* to) {
  for (ValueReceiver& receiver : receivers_) {
    const bool has_arrived = PullFrom(receiver);
    *to++ = static_cast<std::byte>(has_arrived ? 1 : 0);
    if (!has_arrived) continue;
    to = replay::WriteNumber(replay::WriteNumber(to, NumMade(receiver.last_update)), receiver.num_effective);
    to = replay::EncodeDelta(receiver.Ghosts(memory_.shown), receiver.layout.SlotsBytes(), receiver.recorded, to);
  }
  return to;
}

UIT_DEFINE bool PublishedPart::TryReplay(uit::ByteReader& from) {
  constexpr std::uint64_t max_updates = std::uint64_t{1} << 60U;  // of a run; more are a damaged record
  for (ValueReceiver& receiver : receivers_) {
    std::uint8_t has_arrived = 0;
    if (!from.TryRead(has_arrived) || has_arrived > 1) return false;
    if (has_arrived == 0) continue;
    std::uint64_t num_made = 0;
    if (!replay::TryReadNumber(from, num_made) || !replay::TryReadNumber(from, receiver.num_effective)) return false;
    if (num_made > max_updates) return false;
    receiver.last_update = Stamp(num_made - 1);
    receiver.has_last = false;
    if (!replay::TryDecodeDelta(from, receiver.recorded)) return false;
    std::memcpy(receiver.Ghosts(memory_.shown), receiver.recorded.data(), receiver.layout.SlotsBytes());
  }
  return true;
}

UIT_DEFINE void PublishedPart::Send(std::uint64_t update) {
  if (IsDueNext(update)) SendShown(update, false);
}

UIT_DEFINE void PublishedPart::FinishUpdate(std::uint64_t update) {
  if (is_first_ && memory_.IsByUpdate()) ShowOwnValues(partition_.notes.silent);
  if (!IsDueNext(update) || IsByLevel(update)) return;
  ShowOwnGhosts();
  Counting().AddOneEach();
  CountSilent(partition_.notes.silent);
}

UIT_DEFINE void PublishedPart::CountSilent(std::span<const std::uint32_t> silent) {
  for (const std::uint32_t node : silent) Counting().Deviate(node, -1, partition_.NumNodes());
}

UIT_DEFINE bool PublishedPart::IsCrossed(std::size_t level) const {
  return delayed_ != nullptr && delayed_->IsCrossed(level, partition_.levels[level].number);
}

UIT_DEFINE void PublishedPart::BeginLevels() {
  if (delayed_ == nullptr) return;
  Counting().AddOneEach();  // now, because frames leave before the update ends
  ++num_by_level_;
}

UIT_DEFINE bool PublishedPart::TryBeginLevel(std::size_t level, std::uint64_t update) {
  return delayed_ == nullptr || delayed_->TryTakeFor(level, update);
}

UIT_DEFINE void PublishedPart::ShowLevel(std::size_t level, std::span<const std::uint32_t> silent) {
  if (delayed_ == nullptr) return;
  CountSilent(silent);
  delayed_->Show(level, silent);
}

UIT_DEFINE bool PublishedPart::TrySendLevel(std::size_t level, std::uint64_t update) {
  return delayed_ == nullptr || delayed_->TrySend(partition_.levels[level].number, update, puts_);
}

UIT_DEFINE void PublishedPart::TakeIn(std::uint64_t update) {
  if (delayed_ != nullptr) delayed_->TakeIn(update);
}

UIT_DEFINE void PublishedPart::AgeValues(std::uint64_t update) {
  if (delayed_ != nullptr) delayed_->Age(update);
}

UIT_DEFINE bool PublishedPart::TryEmpty() {
  return std::ranges::all_of(senders_, [](ValueSender& sender) { return sender.port.TryEmpty(); });
}

UIT_DEFINE void PublishedPart::BeginEnd(Phase phase) {
  if (phase.IsDrain()) {
    if (is_first_ && memory_.IsByUpdate()) ShowOwnValues({});
    ShowOwnGhosts();
  }
  num_sent_ = 0;
  if (IsDueNext(phase) && !IsAwaited(phase)) SendShown(phase, true);
}

UIT_DEFINE bool PublishedPart::TryEnd(Phase phase) {
  if (!IsDueNext(phase) || !IsAwaited(phase) || IsByLevel(phase)) return true;
  for (; num_sent_ < senders_.size(); ++num_sent_) {
    if (!senders_[num_sent_].TrySendAwaited(Shown(), Stamp(phase))) return false;
  }
  return true;
}

UIT_DEFINE void PublishedPart::SendShown(Phase phase, bool last) {
  for (ValueSender& sender : senders_) sender.Send(Shown(), Stamp(phase), last);
}

UIT_DEFINE bool PublishedPart::TryPullLast(Phase phase) {
  if (!IsDueNext(phase) || IsByLevel(phase)) return true;
  if (is_awaited_ && delayed_ != nullptr && !delayed_->TryFinish(num_by_level_)) return false;  // before the values that follow
  bool all = true;
  for (ValueReceiver& receiver : receivers_) {
    if (receiver.has_last && receiver.last_update == Stamp(phase)) continue;
    if (IsAwaited(phase)) receiver.PullAwaited(memory_.shown);
    else receiver.Pull(memory_.shown, !phase.IsDrain());
    all &= receiver.has_last && receiver.last_update == Stamp(phase);
  }
  return all;
}

UIT_DEFINE void PublishedPart::AddTallies(uit::Tally& crossing, uit::Tally&) const {
  for (const ValueSender& sender : senders_) crossing.put += PutsTo(sender);
  for (const ValueReceiver& receiver : receivers_) {
    crossing.get += receiver.gets;
    crossing.put.preempted += receiver.num_preempted;
  }
}

UIT_DEFINE void PublishedPart::ForEachPeer(const VisitPeer& visit) {
  std::map<std::uint32_t, ExchangeCounts> peers;
  for (const ValueSender& sender : senders_) {
    ExchangeCounts& counts = peers[sender.worker];
    counts.channels_out = sender.nodes.size();
    counts += PutsTo(sender);
  }
  for (const ValueReceiver& receiver : receivers_) {
    ExchangeCounts& counts = peers[receiver.worker];
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

UIT_DEFINE void PublishedPart::ForEachChannel(const WorkerGraph& graph, const VisitChannel& visit) {
  for (const ValueSender& sender : senders_) {
    for (const std::uint32_t node : sender.nodes) {
      ExchangeCounts counts{.channels_out = 1};
      counts += PutsOf(node);
      visit(Channel{.source = graph.nodes[node], .target = no_node, .peer = sender.worker}, counts);
    }
  }
  for (const ValueReceiver& receiver : receivers_) {
    for (std::size_t channel = 0; channel < receiver.ids.size(); ++channel) {
      ExchangeCounts counts = receiver.CountsOf(channel);
      counts.pulls = num_reads_;
      if (const PeerTrace* const trace = TraceOf(receiver.worker); trace != nullptr) counts.touches = trace->frames.NumTouches();
      visit(Channel{.source = receiver.ids[channel], .target = no_node, .peer = receiver.worker}, counts);
    }
  }
}

UIT_DEFINE uit::PutTally PublishedPart::PutsTo(const ValueSender& sender) const {
  uit::PutTally puts;
  for (const std::uint32_t node : sender.nodes) puts += PutsOf(node);
  return puts;
}

UIT_DEFINE void PublishedPart::ShowOwnValues(std::span<const std::uint32_t> silent) {
  std::size_t next = 0;  // the first node not yet shown
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
  const auto own = std::ranges::find(network_.recipients, network_.graph.worker, &NetworkPart::Recipients::worker);
  memory_.pack(memory_.shown, network_.first_slot, own->nodes, memory_.Shown(own_ghosts_->first));
}

}  // namespace netuit
