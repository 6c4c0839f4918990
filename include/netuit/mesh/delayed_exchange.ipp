#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <netuit/mesh/delayed_exchange.hpp>
#include <netuit/mesh/delayed_slots.hpp>
#include <netuit/mesh/node_counts.hpp>
#include <netuit/mesh/value_exchange.hpp>
#include <netuit/quality/effective_updates.hpp>
#include <uit/config.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/exchange/refuse_frame.hpp>
#include <uit/link/frame.hpp>

namespace netuit {

UIT_DEFINE void DelayedExchange::Begin(std::uint64_t first_stamp, bool keeps_older) {
  first_stamp_ = first_stamp;
  for (std::size_t i = 0; i < slots_.origins.size(); ++i) {
    if (keeps_older && slots_.delays[i] > 1) continue;
    std::memcpy(memory_.Shown(slots_.first + i), memory_.Shown(slots_.origins[i]), memory_.slot_bytes);
  }
  for (Sender& sender : senders_) sender.update = sender.batch = 0;
  for (Receiver& receiver : receivers_) {
    receiver.num_taken = 0;
    receiver.is_young.assign(receiver.peer.batches.size(), false);
    receiver.account.CountByChannel();
  }
}

UIT_DEFINE bool DelayedExchange::IsCrossed(std::size_t level, std::uint32_t number) const {
  return !slots_.needs[level].empty() || std::ranges::any_of(slots_.destinations, [number](const DelayedSlots::Peer& peer) {
    return std::ranges::binary_search(peer.batches, number, {}, &DelayedSlots::Batch::level);
  });
}

UIT_DEFINE bool DelayedExchange::TryTakeFor(std::size_t level, std::uint64_t update) {
  bool has_all = true;
  for (const DelayedSlots::Need& need : slots_.needs[level]) {
    if (update < need.back) continue;
    Receiver& receiver = receivers_[need.source];
    const std::uint64_t num_needed = (update - need.back) * receiver.peer.batches.size() + need.batch + 1;
    has_all &= TryTakeAll(receiver, num_needed, update, true);
  }
  return has_all;
}

UIT_DEFINE bool DelayedExchange::TryTakeAll(Receiver& receiver, std::uint64_t num_batches, std::uint64_t update,
                                            bool will_be_read) {
  while (receiver.num_taken < num_batches && TryTake(receiver, update, will_be_read)) continue;
  return receiver.num_taken >= num_batches;
}

UIT_DEFINE void DelayedExchange::TakeIn(std::uint64_t update) {
  for (Receiver& receiver : receivers_) {
    if (update < receiver.peer.lag) continue;
    TryTakeAll(receiver, (update - receiver.peer.lag + 1) * receiver.peer.batches.size(), update, true);
  }
}

UIT_DEFINE void DelayedExchange::Show(std::size_t level, std::span<const std::uint32_t> silent) {
  const DelayedSlots::Present& present = slots_.present[level];
  for (std::size_t i = 0; i < present.nodes.size(); ++i) {
    const std::size_t slot = present.first + i;
    if (!silent.empty() && std::ranges::binary_search(silent, present.nodes[i])) continue;
    std::memcpy(memory_.Shown(slot), memory_.Own(slots_.origins[slot - slots_.first]), memory_.slot_bytes);
  }
}

UIT_DEFINE bool DelayedExchange::TrySend(std::uint32_t level, std::uint64_t update, const NodeCounts& puts) {
  bool has_sent_all = true;
  for (Sender& sender : senders_) {
    if (sender.IsDue(level, update)) has_sent_all &= TrySendNext(sender, first_stamp_ + update, puts);
  }
  return has_sent_all;
}

UIT_DEFINE bool DelayedExchange::TrySendNext(Sender& sender, std::uint64_t stamp, const NodeCounts& puts) {
  if (!sender.window->FindRoom()) return false;
  const DelayedSlots::Batch& batch = sender.Next();
  const uit::LatestFrame layout = LayoutOf(batch.channels.size());
  sender.window->SetUpdate(stamp);
  const bool has_departed = sender.window->TryDepartFilled(layout.MaxBytes(), sender.frame, true, [&](auto& to) {
    memory_.pack(memory_.shown, 0, batch.slots, to.Payload());
    SealWithCounts(layout, to, batch.nodes, puts, counts_);
  });
  if (has_departed) sender.Advance();
  return has_departed;
}

UIT_DEFINE bool DelayedExchange::TryTake(Receiver& receiver, std::uint64_t update, bool will_be_read) {
  if (!receiver.awaited->TryStep()) return false;
  const std::size_t num_batches = receiver.peer.batches.size();
  const std::uint64_t written = receiver.num_taken / num_batches;  // in this update
  const std::size_t number = receiver.num_taken % num_batches;
  const DelayedSlots::Batch& batch = receiver.peer.batches[number];
  if (receiver.account.trace != nullptr) [[unlikely]] receiver.account.trace->frames.Take(receiver.awaited->Get());
  const uit::FrameView frame = receiver.awaited->View();
  const uit::LatestFrame layout = LayoutOf(batch.channels.size());
  layout.Check(frame);
  if (frame.Header().update != first_stamp_ + written) uit::RefuseFrame(frame.Header());
  receiver.is_young[number] = Store(receiver.peer, batch, frame.Payload(), written, update);
  receiver.account.Count(layout, frame, batch.channels, will_be_read);
  ++receiver.num_taken;
  receiver.awaited_reports->NotePulled();
  if (receiver.awaited_reports->IsDue()) receiver.awaited_reports->Send(0, false, [](std::byte*) {});
  return true;
}

UIT_DEFINE bool DelayedExchange::Store(const DelayedSlots::Peer& peer, const DelayedSlots::Batch& batch, const std::byte* values,
                                       std::uint64_t written, std::uint64_t update) {
  const std::size_t num_bytes = batch.channels.size() * memory_.slot_bytes;
  if (update < written + peer.lag && peer.lag > 1) {  // at the end of a run
    std::memcpy(memory_.Shown(batch.first_waiting) + (update - written - 1) * num_bytes, values, num_bytes);
    return false;
  }
  const bool arrives_at_lag = peer.lag != 0;
  if (arrives_at_lag) Do(batch.aging);
  std::memcpy(memory_.Shown(batch.first), values, num_bytes);
  if (!arrives_at_lag && written < update) Do(batch.aging);
  return !arrives_at_lag && written == update;
}

UIT_DEFINE void DelayedExchange::Age(std::uint64_t update) {
  for (Receiver& receiver : receivers_) {
    for (std::size_t number = 0; number < receiver.is_young.size(); ++number) {
      if (receiver.is_young[number]) Do(receiver.peer.batches[number].aging);
      receiver.is_young[number] = false;
    }
    if (update + 1 >= receiver.peer.lag) continue;
    for (const DelayedSlots::Batch& batch : receiver.peer.batches) {  // nothing of this run is due yet
      Do(batch.aging);
      const std::size_t num_bytes = batch.channels.size() * memory_.slot_bytes;
      std::byte* const waiting = memory_.Shown(batch.first_waiting);
      std::memmove(waiting + num_bytes, waiting, (receiver.peer.lag - 1) * num_bytes);
    }
  }
  Do(slots_.aging);
}

UIT_DEFINE bool DelayedExchange::TryFinish(std::uint64_t num_updates) {
  bool has_all = true;
  for (Receiver& receiver : receivers_)
    has_all &= TryTakeAll(receiver, num_updates * receiver.peer.batches.size(), num_updates, false);
  return has_all;
}

UIT_DEFINE void DelayedExchange::NoteReads(std::uint64_t update, std::uint32_t max_delay, EffectiveUpdates& effective) const {
  // After n updates, a value has passed through ceil(n / max_delay) along every path: each update reads values at most so old.
  const std::uint64_t num_effective = update / max_delay;
  for (const Receiver& receiver : receivers_) {
    const std::uint64_t longest = std::min<std::uint64_t>(receiver.peer.longest, update + 1);
    effective.Read(update, update + 1 - longest, num_effective);
  }
  if (slots_.longest_within > 1) effective.ReadOwn(num_effective);
}

UIT_DEFINE void DelayedExchange::Do(const std::vector<DelayedSlots::Move>& moves) {
  for (const DelayedSlots::Move& move : moves) memory_.pack(memory_.shown, 0, move.from, memory_.Shown(move.to));
}

}  // namespace netuit
