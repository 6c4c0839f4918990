#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <uit/exchange/fabric.hpp>
#include <uit/exchange/pooled/accumulate_frame.hpp>
#include <uit/exchange/pull_reports.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

/// The outlets' half: adds what arrives to a sum per channel, and reports pulls. What would make a sum overflow waits
/// beside it until the sum has been taken. One thread owns it.
class PooledAccumulateReceiver final : public ReceivingHalf {
 public:
  /// Frames come to `box` through `fabric`, or, if that is null, from this process.
  PooledAccumulateReceiver(AccumulateFrame layout, std::size_t depth, FoldFunction fold, std::shared_ptr<FrameBox> box,
                           OutPort report_port, Fabric* fabric)
      : ReceivingHalf(std::move(box), fabric),
        layout_(layout),
        report_layout_{layout.num_channels, layout.slot_bytes},
        fold_(fold),
        reports_(depth, std::move(report_port)),
        sums_(layout.SlotsBytes()),
        counts_(layout.num_channels) {}

  /// Tells the inlets how far frames have been pulled.
  bool TryFlush() override {
    Report();
    return true;
  }
  bool TryFinish() override {
    Pull();
    return true;
  }
  /// Adds up every frame that has arrived. Returns whether there was one.
  /// Throws for what is no frame of the exchange.
  bool Pull() {
    return PullAll([this](const Frame& frame) { AddUp(frame); });
  }
  /// Takes a channel's sum to `sum`, of an encoded message's size. Returns how many messages it stands for; 0: there is
  /// none, and `sum` is as before.
  std::uint64_t Take(std::size_t channel, std::byte* sum) {
    const std::uint64_t count = std::exchange(counts_[channel], 0);
    if (count == 0) return 0;
    std::memcpy(sum, Sum(channel), layout_.slot_bytes);
    if (!aside_.empty()) AddAside(channel);
    return count;
  }
  /// Messages of a channel that have arrived and wait.
  std::uint64_t NumUnread(std::size_t channel) const {
    std::uint64_t count = counts_[channel];
    for (const Aside& aside : aside_) count += aside.channel == channel ? aside.count : 0;
    return count;
  }

  /// Tells the inlets how far frames have been pulled, if that has changed; with `always`, in any case, what waits at
  /// each outlet, and as what ends an update.
  void Report(bool always = false) {
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
  /// Reports if half of the sender's window is used up, so far as can be known here; else waits for more to report.
  void ReportIfDue() {
    if (reports_.IsDue()) Report();
  }
  /// Reports if nothing has been there to step to for a while.
  void ReportIfIdle() {
    if (reports_.IsIdle()) Report();
  }
  /// The number stamped on reports that end an update from here on.
  void SetUpdate(std::uint64_t update) { reports_.SetUpdate(update); }

 private:
  /// What a channel's sum had no room for. The sender holds such a channel back once it knows, so these are few.
  struct Aside {
    std::size_t channel;
    std::uint64_t count;
    std::vector<std::byte> sum;
  };

  std::byte* Sum(std::size_t channel) { return sums_.data() + channel * layout_.slot_bytes; }

  void AddUp(const Frame& frame) {
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
  bool TryAdd(std::size_t channel, const std::byte* sum, std::uint64_t count) {
    if (counts_[channel] == 0) std::memcpy(Sum(channel), sum, layout_.slot_bytes);
    else if (!fold_(Sum(channel), sum)) return false;
    counts_[channel] += count;
    return true;
  }
  void PutAside(std::size_t channel, const std::byte* sum, std::uint64_t count) {
    for (Aside& aside : aside_) {
      if (aside.channel != channel || !fold_(aside.sum.data(), sum)) continue;
      aside.count += count;
      return;
    }
    aside_.push_back({channel, count, {sum, sum + layout_.slot_bytes}});
    reports_.NoteDue();
  }
  /// A channel's sum has been taken, so what was put aside may find room.
  void AddAside(std::size_t channel) {
    const std::size_t num_before = aside_.size();
    std::erase_if(aside_, [&](const Aside& aside) {
      return aside.channel == channel && TryAdd(channel, aside.sum.data(), aside.count);
    });
    if (aside_.size() != num_before) reports_.NoteDue();
  }

  AccumulateFrame layout_;
  AccumulateReport report_layout_;
  FoldFunction fold_;
  PullReports reports_;
  std::vector<std::byte> sums_;
  std::vector<std::uint64_t> counts_;  // messages in sums_
  std::vector<Aside> aside_;
};

}  // namespace uit
