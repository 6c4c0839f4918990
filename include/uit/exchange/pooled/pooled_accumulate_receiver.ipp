#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <uit/config.hpp>
#include <uit/exchange/pooled/accumulate_frame.hpp>
#include <uit/exchange/pooled/pooled_accumulate_receiver.hpp>
#include <uit/link/frame.hpp>

namespace uit {

UIT_DEFINE std::uint64_t PooledAccumulateReceiver::Take(std::size_t channel, std::byte* sum) {
  const std::uint64_t count = std::exchange(counts_[channel], 0);
  if (count == 0) return 0;
  std::memcpy(sum, Sum(channel), layout_.slot_bytes);
  if (!aside_.empty()) AddAside(channel);
  return count;
}

UIT_DEFINE std::uint64_t PooledAccumulateReceiver::NumUnread(std::size_t channel) const {
  std::uint64_t count = counts_[channel];
  for (const Aside& aside : aside_) count += aside.channel == channel ? aside.count : 0;
  return count;
}

UIT_DEFINE void PooledAccumulateReceiver::Report(bool always) {
  if (!reports_.HasNews() && !always) return;
  const std::size_t num_bytes = always ? report_layout_.MaxBytes() : report_layout_.BitsBytes();
  reports_.Send(num_bytes, always, [&](std::byte* to) {
    std::memset(to, 0, report_layout_.BitsBytes());
    for (const Aside& aside : aside_) AccumulateReport::SetBlocked(to, aside.channel);
    if (!always) return;
    std::memcpy(report_layout_.Counts(to), counts_.data(), report_layout_.CountsBytes());
    std::memcpy(report_layout_.Sums(to), sums_.data(), sums_.size());
  });
}

UIT_DEFINE void PooledAccumulateReceiver::AddUp(const Frame& frame) {
  layout_.Check(frame);
  if (frame.Header().num_bytes != 0) {
    for (std::size_t channel = 0; channel < layout_.num_channels; ++channel) {
      const std::uint64_t count = layout_.Count(frame, channel);
      if (count == 0) continue;
      const std::byte* const sum = layout_.Slot(frame, channel);
      if (!TryAdd(channel, sum, count)) PutAside(channel, sum, count);
    }
  }
  reports_.NotePulled();
}

UIT_DEFINE bool PooledAccumulateReceiver::TryAdd(std::size_t channel, const std::byte* sum, std::uint64_t count) {
  if (counts_[channel] == 0) std::memcpy(Sum(channel), sum, layout_.slot_bytes);
  else if (!fold_(Sum(channel), sum)) return false;
  counts_[channel] += count;
  return true;
}

UIT_DEFINE void PooledAccumulateReceiver::PutAside(std::size_t channel, const std::byte* sum, std::uint64_t count) {
  for (Aside& aside : aside_) {
    if (aside.channel != channel || !fold_(aside.sum.data(), sum)) continue;
    aside.count += count;
    return;
  }
  aside_.push_back({channel, count, {sum, sum + layout_.slot_bytes}});
  reports_.NoteDue();
}

UIT_DEFINE void PooledAccumulateReceiver::AddAside(std::size_t channel) {
  const std::size_t num_before = aside_.size();
  std::erase_if(aside_, [&](const Aside& aside) {
    return aside.channel == channel && TryAdd(channel, aside.sum.data(), aside.count);
  });
  if (aside_.size() != num_before) reports_.NoteDue();
}

UIT_DEFINE bool PooledAccumulateReceiver::Pull() {
  return PullAll([this](const Frame& frame) { AddUp(frame); });
}

}  // namespace uit
