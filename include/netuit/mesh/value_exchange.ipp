#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <netuit/mesh/value_exchange.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <uit/config.hpp>
#include <uit/link/frame.hpp>

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

}  // namespace netuit
