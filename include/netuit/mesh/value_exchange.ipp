#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include <netuit/mesh/frame_note.hpp>
#include <netuit/mesh/value_exchange.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <uit/config.hpp>
#include <uit/link/frame.hpp>

namespace netuit {

template <typename F>
void ValueSender::Fill(const ShownValues& shown, F& to) {
  shown.pack(shown.values, shown.first_slot, nodes, to.Payload());
  const FrameNote note{.num_effective = shown.num_effective,
                       .cuts = static_cast<std::uint32_t>(shown.cuts.cuts),
                       .rounds = static_cast<std::uint32_t>(shown.cuts.rounds)};
  std::memcpy(layout.Note(to), &note, sizeof note);
  SealWithCounts(layout, to, nodes, shown.puts, counts);
}

UIT_DEFINE void ValueSender::Send(const ShownValues& shown, std::uint64_t stamp, bool last) {
  port.TryDepartFilled(layout.MaxBytes(), frame, [&](auto& to) {
    Fill(shown, to);
    to.Header().update = stamp;
    to.Header().last = last ? 1 : 0;
  });
}

UIT_DEFINE bool ValueSender::TrySendAwaited(const ShownValues& shown, std::uint64_t stamp) {
  if (!awaited->FindRoom()) return false;
  awaited->SetUpdate(stamp);
  return awaited->TryDepartFilled(layout.MaxBytes(), frame, true, [&](auto& to) { Fill(shown, to); });
}

UIT_DEFINE std::uint64_t ValueReceiver::NewestArrived() {
  has_arrived_ |= box->TryStep();
  return has_arrived_ ? box->Get().Header().update : last_update;
}

UIT_DEFINE void ValueReceiver::RaiseToNewest(CutCounts& counts) {
  has_arrived_ |= box->TryStep();
  if (!has_arrived_ || layout.MinBytes() > box->Get().Header().num_bytes) return;
  const uit::FrameView frame = box->View();
  const FrameNote note = FrameNote::At(layout.Note(frame));
  counts.cuts = std::max(counts.cuts, NearestWithLowerHalf(note.cuts, counts.cuts));
  counts.rounds = std::max(counts.rounds, NearestWithLowerHalf(note.rounds, counts.rounds));
}

UIT_DEFINE bool ValueReceiver::Pull(std::byte* values, bool will_be_read) {
  has_arrived_ |= box->TryStep();
  return PullSeen(values, will_be_read);
}

UIT_DEFINE bool ValueReceiver::PullSeen(std::byte* values, bool will_be_read) {
  if (!has_arrived_) return false;
  has_arrived_ = false;
  Take(*box, values, will_be_read);
  return true;
}

UIT_DEFINE bool ValueReceiver::PullAwaited(std::byte* values) {
  if (!awaited->TryStep()) return false;
  Take(*awaited, values, true);
  awaited_reports->NotePulled();
  if (awaited_reports->IsDue()) awaited_reports->Send(0, false, [](std::byte*) {});
  return true;
}

UIT_DEFINE void ValueReceiver::Take(uit::FrameBox& from, std::byte* values, bool will_be_read) {
  if (trace != nullptr) [[unlikely]] trace->frames.Take(from.Get());
  const uit::FrameView frame = from.View();
  layout.Check(frame);
  std::memcpy(Ghosts(values), frame.Payload(), layout.SlotsBytes());
  Count(frame, will_be_read);
  num_effective = FrameNote::At(layout.Note(frame)).num_effective;
  has_last = frame.Header().last != 0;
  last_update = frame.Header().update;
}

UIT_DEFINE ExchangeCounts ValueReceiver::CountsOf(std::size_t channel) const {
  const std::uint64_t num_fresh = fresh.empty() ? fresh_base : fresh[channel];
  const std::uint64_t num_seen = seen_.empty() ? seen_base_ : seen_[channel];
  return {.channels_in = 1, .stepped = num_fresh, .skipped = num_seen - num_fresh, .laden = num_fresh};
}

UIT_DEFINE void ValueReceiver::Count(const uit::FrameView& frame, bool will_be_read) {
  std::uint64_t num_fresh = 0;
  if (layout.IsUniform(frame) && seen_.empty()) {
    const std::uint64_t num_new = frame.Header().base - seen_base_;  // of each channel
    const std::uint64_t num_read = num_new != 0 ? 1 : 0;
    seen_base_ = frame.Header().base;
    fresh_base += num_read;
    num_fresh = num_read * layout.num_channels;
    num_preempted += (num_new - num_read) * layout.num_channels;
  } else {
    CountByChannel();
    for (std::size_t channel = 0; channel < layout.num_channels; ++channel)
      num_fresh += CountValue(channel, layout.Count(frame, channel)) ? 1 : 0;
  }
  (will_be_read ? gets.stepped : gets.unread) += num_fresh;
}

UIT_DEFINE void ValueReceiver::Count(const uit::LatestFrame& some, const uit::FrameView& frame, std::span<const std::uint32_t> channels,
                                     bool will_be_read) {
  std::uint64_t num_fresh = 0;
  for (std::size_t i = 0; i < channels.size(); ++i) num_fresh += CountValue(channels[i], some.Count(frame, i)) ? 1 : 0;
  (will_be_read ? gets.stepped : gets.unread) += num_fresh;
}

UIT_DEFINE bool ValueReceiver::CountValue(std::size_t channel, std::uint64_t num_published) {
  const std::uint64_t num_new = num_published - std::exchange(seen_[channel], num_published);
  if (num_new == 0) return false;
  ++fresh[channel];
  num_preempted += num_new - 1;
  return true;
}

UIT_DEFINE void ValueReceiver::CountByChannel() {
  if (!seen_.empty()) return;
  seen_.assign(layout.num_channels, seen_base_);
  fresh.assign(layout.num_channels, fresh_base);
}

}  // namespace netuit
