#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/pooled/accumulate_frame.hpp>
#include <uit/wire/frame_box.hpp>
#include <uit/wire/out_port.hpp>

namespace uit {

/// The outlets' half: adds what arrives to a sum per channel, and reports pulls. What would make a sum overflow waits
/// beside it until the sum has been taken. One thread owns it.
class PooledAccumulateReceiver final : public ExchangeHalf {
 public:
  /// Frames come to `box` through `fabric`, or, if that is null, from this process.
  PooledAccumulateReceiver(AccumulateFrame layout, std::size_t depth, FoldFunction fold, std::shared_ptr<FrameBox> box,
                           OutPort report_port, Fabric* fabric)
      : layout_(layout),
        report_layout_{layout.num_channels, layout.slot_bytes},
        depth_(depth),
        fold_(fold),
        box_(std::move(box)),
        report_port_(std::move(report_port)),
        hub_(fabric == nullptr ? nullptr : fabric->Hub()),
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
  bool Pull() {
    bool any = false;
    while (box_->TryStep()) {
      any = true;
      AddUp(box_->Get());
    }
    return any;
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

  /// Tells the inlets how far frames have been pulled, if that has changed; with `always`, in any case, and what waits at
  /// each outlet.
  void Report(bool always = false) {
    if (!has_news_ && !always) return;
    report_.Reserve(report_layout_.MaxBytes());
    std::memset(AccumulateReport::Bits(report_), 0, report_layout_.BitsBytes());
    for (const Aside& aside : aside_) AccumulateReport::SetBlocked(report_, aside.channel);
    if (always) {
      std::memcpy(report_layout_.Counts(report_), counts_.data(), report_layout_.CountsBytes());
      std::memcpy(report_layout_.Sums(report_), sums_.data(), sums_.size());
    }
    const std::size_t num_bytes = always ? report_layout_.MaxBytes() : report_layout_.BitsBytes();
    report_.Header().num_bytes = static_cast<std::uint32_t>(num_bytes);
    report_.Header().base = num_pulled_;
    report_.Header().update = update_;
    report_port_.TryDepart(report_);
    num_pulled_reported_ = num_pulled_;
    num_idle_tries_ = 0;
    has_news_ = false;
    is_report_due_ = false;
  }
  /// Reports if half of the sender's window is used up, so far as can be known here; else waits for more to report.
  void ReportIfDue() {
    if (is_report_due_) Report();
  }
  /// Reports if nothing has been there to step to for a while.
  void ReportIfIdle() {
    if (has_news_ && ++num_idle_tries_ >= max_idle_tries) Report();
  }
  /// The number stamped on reports from here on.
  void SetUpdate(std::uint64_t update) { update_ = update; }
  /// Whether the frame that ends `update` was the newest of its kind to be pulled.
  bool HasLast(std::uint64_t update) const { return has_last_ && last_update_ == update; }
  /// Lets frames move, if they come from another process. Returns whether anything arrived.
  bool Poll() { return hub_ != nullptr && hub_->Poll(); }
  /// False once the fabric has closed: nothing will arrive any more.
  bool IsOpen() const { return hub_ == nullptr || !hub_->IsShut(); }

 private:
  static constexpr int max_idle_tries = 64;

  /// What a channel's sum had no room for. The sender holds such a channel back once it knows, so these are few.
  struct Aside {
    std::size_t channel;
    std::uint64_t count;
    std::vector<std::byte> sum;
  };

  std::byte* Sum(std::size_t channel) { return sums_.data() + channel * layout_.slot_bytes; }

  void AddUp(const Frame& frame) {
    const FrameHeader& header = frame.Header();
    if (header.num_bytes != 0) {
      for (std::size_t channel = 0; channel < layout_.num_channels; ++channel) {
        const std::uint64_t count = layout_.Count(frame, channel);
        if (count == 0) continue;
        const std::byte* const sum = layout_.Slot(frame, channel);
        if (!TryAdd(channel, sum, count)) PutAside(channel, sum, count);
      }
    }
    ++num_pulled_;
    has_news_ = true;
    if (2 * (num_pulled_ - num_pulled_reported_) >= depth_) is_report_due_ = true;
    if (header.last != 0) {
      last_update_ = header.update;
      has_last_ = true;
    }
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
    is_report_due_ = true;
  }
  /// A channel's sum has been taken, so what was put aside may find room.
  void AddAside(std::size_t channel) {
    const std::size_t num_before = aside_.size();
    std::erase_if(aside_, [&](const Aside& aside) {
      return aside.channel == channel && TryAdd(channel, aside.sum.data(), aside.count);
    });
    if (aside_.size() == num_before) return;
    has_news_ = true;
    is_report_due_ = true;
  }

  AccumulateFrame layout_;
  AccumulateReport report_layout_;
  std::size_t depth_;
  FoldFunction fold_;
  std::shared_ptr<FrameBox> box_;
  OutPort report_port_;
  std::shared_ptr<WireHub> hub_;
  std::vector<std::byte> sums_;
  std::vector<std::uint64_t> counts_;  // messages in sums_
  std::vector<Aside> aside_;
  std::uint64_t num_pulled_ = 0;  // frames
  std::uint64_t num_pulled_reported_ = 0;
  int num_idle_tries_ = 0;
  bool has_news_ = false;  // something to report
  bool is_report_due_ = false;
  std::uint64_t update_ = 0;
  std::uint64_t last_update_ = 0;
  bool has_last_ = false;
  Frame report_;
};

}  // namespace uit
