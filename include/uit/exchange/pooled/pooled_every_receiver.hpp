#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/pooled/every_frame.hpp>
#include <uit/wire/frame_box.hpp>
#include <uit/wire/out_port.hpp>

namespace uit {

/// The outlets' half: scatters frames to a queue per channel, and reports steps. One thread owns it.
class PooledEveryReceiver final : public ExchangeHalf {
 public:
  /// Frames come to `box` through `fabric`, or, if that is null, from this process.
  PooledEveryReceiver(EveryFrame layout, std::size_t depth, std::shared_ptr<FrameBox> box, OutPort report_port,
                      Fabric* fabric)
      : layout_(layout),
        depth_(depth),
        box_(std::move(box)),
        report_port_(std::move(report_port)),
        hub_(fabric == nullptr ? nullptr : fabric->Hub()),
        slots_per_channel_(std::bit_ceil(depth)),
        slots_(layout.num_channels * slots_per_channel_ * layout.slot_bytes),
        arrived_(layout.num_channels),
        stepped_(layout.num_channels),
        reported_(layout.num_channels) {}

  /// Tells the inlets how far the outlets have come.
  bool TryFlush() override {
    Report();
    return true;
  }
  bool TryFinish() override {
    Pull();
    return true;
  }
  /// Scatters every frame that has arrived. Returns whether there was one.
  bool Pull() {
    bool any = false;
    while (box_->TryStep()) {
      any = true;
      Scatter(box_->Get());
    }
    return any;
  }
  /// Moves past up to `limit` messages of a channel. Returns how many.
  std::size_t TryStep(std::size_t channel, std::size_t limit) {
    const std::uint64_t num_waiting = NumUnread(channel);
    const std::uint64_t count = num_waiting < limit ? num_waiting : limit;
    if (count == 0) return 0;
    stepped_[channel] += count;
    has_news_ = true;
    NoteWindow(channel);
    return static_cast<std::size_t>(count);
  }
  /// The message last stepped past, until the channel's next Pull.
  const std::byte* Slot(std::size_t channel) const { return At(channel, stepped_[channel] - 1); }
  /// Messages of a channel that have arrived and wait.
  std::uint64_t NumUnread(std::size_t channel) const { return arrived_[channel] - stepped_[channel]; }
  /// Tells the inlets how far the outlets have come, if that has changed; with `always`, in any case.
  void Report(bool always = false) {
    if (!has_news_ && !always) return;
    const ReportFrame layout{layout_.num_channels};
    report_.Reserve(layout.MaxBytes());
    std::memcpy(report_.Payload(), stepped_.data(), layout.MaxBytes());
    report_.Header().num_bytes = static_cast<std::uint32_t>(layout.MaxBytes());
    report_.Header().base = num_pulled_;
    report_.Header().update = update_;
    report_port_.TryDepart(report_);
    reported_ = stepped_;
    num_pulled_reported_ = num_pulled_;
    num_idle_tries_ = 0;
    has_news_ = false;
    is_report_due_ = false;
  }
  /// Reports if an inlet has no room or half of its room left, so far as can be known here; else waits for more to
  /// report, so that most messages cause no report of their own.
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

  void Scatter(const Frame& frame) {
    const FrameHeader& header = frame.Header();
    if (header.base != 0) {
      for (std::size_t channel = 0; channel < layout_.num_channels; ++channel) {
        if (!EveryFrame::HasSpoken(frame, channel)) continue;
        std::memcpy(At(channel, arrived_[channel]), layout_.Slot(frame, channel), layout_.slot_bytes);
        ++arrived_[channel];
        NoteWindow(channel);
      }
    }
    ++num_pulled_;
    has_news_ = true;
    // A frame of one channel is a message: its step says more. But frames can be empty.
    const std::uint64_t num_unreported = num_pulled_ - num_pulled_reported_;
    if ((layout_.num_channels == 1 ? num_unreported : 2 * num_unreported) >= depth_) is_report_due_ = true;
    if (header.last != 0) {
      last_update_ = header.update;
      has_last_ = true;
    }
  }
  void NoteWindow(std::size_t channel) {
    const std::uint64_t num_unreported = stepped_[channel] - reported_[channel];
    const bool is_inlet_waiting = arrived_[channel] - reported_[channel] >= depth_;
    if (2 * num_unreported >= depth_ || (is_inlet_waiting && num_unreported != 0)) is_report_due_ = true;
  }
  std::size_t Offset(std::size_t channel, std::uint64_t count) const {
    return (channel * slots_per_channel_ + (count & (slots_per_channel_ - 1))) * layout_.slot_bytes;
  }
  std::byte* At(std::size_t channel, std::uint64_t count) { return slots_.data() + Offset(channel, count); }
  const std::byte* At(std::size_t channel, std::uint64_t count) const { return slots_.data() + Offset(channel, count); }

  EveryFrame layout_;
  std::size_t depth_;
  std::shared_ptr<FrameBox> box_;
  OutPort report_port_;
  std::shared_ptr<WireHub> hub_;
  std::size_t slots_per_channel_;  // the power of two that holds a window
  std::vector<std::byte> slots_;
  std::vector<std::uint64_t> arrived_;   // per channel
  std::vector<std::uint64_t> stepped_;   // per channel
  std::vector<std::uint64_t> reported_;  // of stepped_
  std::uint64_t num_pulled_ = 0;         // frames
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
