#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/pooled/accumulate_frame.hpp>
#include <uit/exchange/pooled/pooled_accumulate_sender.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

UIT_DEFINE bool PooledAccumulateSender::TryFold(std::size_t channel, const std::byte* message, std::uint64_t num_messages) {
  const bool is_bounded = is_held_ && waiting_[channel] != 0;
  if (is_bounded) {
    std::memcpy(scratch_.data(), At(bounds_, channel), layout_.slot_bytes);
    if (!fold_(scratch_.data(), message)) return false;
  }
  if (counts_[channel] == 0) {
    std::memcpy(At(sums_, channel), message, layout_.slot_bytes);
    ++num_contributing_;
  } else if (!fold_(At(sums_, channel), message)) {
    return false;
  }
  counts_[channel] += num_messages;
  if (is_bounded) std::memcpy(At(bounds_, channel), scratch_.data(), layout_.slot_bytes);
  if (!roll_.NoteContribution(channel)) roll_.SkipRest();
  DepartIfComplete();
  return true;
}

UIT_DEFINE void PooledAccumulateSender::Yield(std::size_t channel) {
  ExchangeHalf::Yield(channel);
  roll_.Skip(channel);
}

UIT_DEFINE bool PooledAccumulateSender::TryFlush() { return num_contributing_ == 0 || is_held_ || (TryDepart(false) && num_contributing_ == 0); }

UIT_DEFINE bool PooledAccumulateSender::TryFinish() {
  // One frame beyond the window finds room in the peer's box, and it is the last.
  return num_contributing_ == 0 || Depart(false, false);
}

UIT_DEFINE bool PooledAccumulateSender::RefreshReport(std::uint64_t update) {
  window_.TryReadReport();
  if (!window_.HasReport(update)) return false;
  if (is_held_) LearnWhatWaits();
  return true;
}

UIT_DEFINE bool PooledAccumulateSender::Poll() {
  const bool has_arrived = window_.Poll();
  DepartIfComplete();
  return has_arrived;
}

UIT_DEFINE bool PooledAccumulateSender::IsBlocked(std::size_t channel) const {
  return window_.Report() != nullptr && AccumulateReport::IsBlocked(*window_.Report(), channel);
}

UIT_DEFINE void PooledAccumulateSender::DepartIfComplete() {
  if (roll_.IsComplete() && num_contributing_ != 0 && !is_held_) TryDepart(false);
}

UIT_DEFINE bool PooledAccumulateSender::TryDepart(bool last) {
  if (is_held_) return Depart(last, false);
  window_.TryReadReport();  // it may tell which channels are blocked
  return window_.HasRoom() && Depart(last, true);
}

UIT_DEFINE bool PooledAccumulateSender::Depart(bool last, bool heeds_blocks) {
  std::size_t num_leaving = 0;
  for (std::size_t channel = 0; channel < layout_.num_channels; ++channel) {
    leaving_[channel] = heeds_blocks && IsBlocked(channel) ? 0 : counts_[channel];
    num_leaving += leaving_[channel] != 0 ? 1 : 0;
  }
  if (num_leaving == 0 && !last) return false;
  frame_.Reserve(layout_.MaxBytes());
  layout_.Write(frame_, sums_.data(), leaving_.data());
  if (!window_.TryDepart(frame_, last)) return false;
  if (is_held_) std::memcpy(sent_sums_.data(), sums_.data(), sums_.size());
  for (std::size_t channel = 0; channel < layout_.num_channels; ++channel) counts_[channel] -= leaving_[channel];
  num_contributing_ -= num_leaving;
  roll_.Renew();
  return true;
}

UIT_DEFINE void PooledAccumulateSender::LearnWhatWaits() {
  const Frame& report = *window_.Report();
  if (!report_layout_.HasSums(report)) return;
  std::memcpy(waiting_.data(), report_layout_.Counts(report.Payload()), report_layout_.CountsBytes());
  std::memcpy(bounds_.data(), report_layout_.Sums(report.Payload()), bounds_.size());
  if (report.Header().base == window_.NumDeparted()) return;
  for (std::size_t channel = 0; channel < layout_.num_channels; ++channel) {
    if (leaving_[channel] == 0) continue;
    if (waiting_[channel] == 0) std::memcpy(At(bounds_, channel), At(sent_sums_, channel), layout_.slot_bytes);
    else fold_(At(bounds_, channel), At(sent_sums_, channel));
    waiting_[channel] += leaving_[channel];
  }
}

}  // namespace uit
