#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/pooled/every_frame.hpp>
#include <uit/wire/frame_box.hpp>
#include <uit/wire/out_port.hpp>

namespace uit {

/// The outlets' half: copies frames to where messages wait, and reports steps. One thread owns it.
///
/// Messages of one count lie side by side, as they do in a frame: so the messages of a frame for which all channels spoke
/// are copied together, for neighbours that have had the same number of messages.
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
        row_mask_(std::bit_ceil(depth) - 1),
        row_bytes_(layout.SlotsBytes()),
        slots_((row_mask_ + 1) * row_bytes_),
        channels_(layout.num_channels, Channel{.report_at = HalfWindow()}),
        num_open_(depth) {
    blocks_.reserve(layout.num_channels);
    FindBlocks();
  }

  /// Tells the inlets how far the outlets have come.
  bool TryFlush() override {
    Report();
    return true;
  }
  bool TryFinish() override {
    Pull();
    return true;
  }
  /// Takes in every frame that has arrived. Returns whether there was one.
  bool Pull() {
    bool any = false;
    while (box_->TryStep()) {
      any = true;
      Scatter(box_->Get());
    }
    return any;
  }
  /// Moves past up to `limit` messages of a channel. Returns how many.
  UIT_INLINE std::size_t TryStep(std::size_t channel, std::size_t limit) {
    Channel& own = channels_[channel];
    const std::uint64_t num_waiting = num_rounds_ + own.num_beside - own.num_stepped;
    const std::uint64_t count = num_waiting < limit ? num_waiting : limit;
    if (count == 0) return 0;
    own.num_stepped += count;
    has_news_ = true;
    if (own.num_stepped >= own.report_at) [[unlikely]]
      is_report_due_ = true;
    return static_cast<std::size_t>(count);
  }
  /// The message last stepped past, until the channel's next Pull.
  const std::byte* Slot(std::size_t channel) const { return Slot(channel, layout_.slot_bytes); }
  /// The same, for who knows how large a slot is.
  UIT_INLINE const std::byte* Slot(std::size_t channel, std::size_t slot_bytes) const {
    return slots_.data() + ((channels_[channel].num_stepped - 1) & row_mask_) * row_bytes_ + channel * slot_bytes;
  }
  /// Messages of a channel that have arrived and wait.
  UIT_INLINE std::uint64_t NumUnread(std::size_t channel) const {
    return NumArrived(channels_[channel]) - channels_[channel].num_stepped;
  }
  /// Messages of a channel stepped past since the exchange began.
  std::uint64_t NumStepped(std::size_t channel) const { return channels_[channel].num_stepped; }
  /// Tells the inlets how far the outlets have come, if that has changed; with `always`, in any case.
  UIT_NOINLINE void Report(bool always = false) {
    if (!has_news_ && !always) return;
    const ReportFrame layout{layout_.num_channels};
    report_.Reserve(layout.MaxBytes());
    std::byte* to = report_.Payload();
    for (Channel& own : channels_) {
      std::memcpy(to, &own.num_stepped, sizeof own.num_stepped);
      to += sizeof own.num_stepped;
      own.num_reported = own.num_stepped;
      own.report_at = own.num_reported + HalfWindow();
    }
    report_.Header().num_bytes = static_cast<std::uint32_t>(layout.MaxBytes());
    report_.Header().base = num_pulled_;
    report_.Header().update = update_;
    report_port_.TryDepart(report_);
    num_pulled_reported_ = num_pulled_;
    num_idle_tries_ = 0;
    has_news_ = false;
    is_report_due_ = false;
    NoteFullWindows();
  }
  /// Reports if an inlet has no room or half of its room left, so far as can be known here; else waits for more to
  /// report, so that most messages cause no report of their own.
  UIT_INLINE void ReportIfDue() {
    if (is_report_due_) [[unlikely]]
      Report();
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
  struct Channel {
    std::uint64_t num_beside = 0;    // messages in frames that were no rounds
    std::uint64_t num_stepped = 0;
    std::uint64_t num_reported = 0;  // of those stepped past
    std::uint64_t report_at = 0;     // a step to that many makes a report due
  };
  /// Neighbours that have had the same number of messages.
  struct Block {
    std::size_t first = 0;         // channel
    std::size_t num_bytes = 0;     // of their slots in a frame
    std::uint64_t num_beside = 0;  // of each of the channels
  };
  static constexpr int max_idle_tries = 64;

  std::uint64_t HalfWindow() const { return (depth_ + 1) / 2; }
  UIT_INLINE std::uint64_t NumArrived(const Channel& own) const { return num_rounds_ + own.num_beside; }
  std::byte* Row(std::uint64_t count) { return slots_.data() + (count & row_mask_) * row_bytes_; }

  void Scatter(const Frame& frame) {
    const FrameHeader& header = frame.Header();
    if (layout_.IsRound(frame)) TakeRound(frame);
    else if (header.base != 0) TakePartial(frame);
    ++num_pulled_;
    has_news_ = true;
    // A frame of one channel is a message: its step says more. But frames can be empty.
    const std::uint64_t num_unreported = num_pulled_ - num_pulled_reported_;
    if ((layout_.num_channels == 1 ? num_unreported : 2 * num_unreported) >= depth_) is_report_due_ = true;
    if (num_unreported >= num_open_) NoteFullWindows();
    if (header.last != 0) {
      last_update_ = header.update;
      has_last_ = true;
    }
  }
  void TakeRound(const Frame& frame) {
    for (const Block& block : blocks_) {
      const std::size_t offset = block.first * layout_.slot_bytes;
      CopySlot(Row(num_rounds_ + block.num_beside) + offset, frame.Payload() + offset, block.num_bytes);
    }
    ++num_rounds_;
  }
  void TakePartial(const Frame& frame) {
    for (std::size_t channel = 0; channel < layout_.num_channels; ++channel) {
      if (!layout_.HasSpoken(frame, channel)) continue;
      Channel& own = channels_[channel];
      const std::size_t offset = channel * layout_.slot_bytes;
      CopySlot(Row(NumArrived(own)) + offset, frame.Payload() + offset, layout_.slot_bytes);
      ++own.num_beside;
    }
    FindBlocks();
  }
  void FindBlocks() {
    blocks_.clear();
    for (std::size_t channel = 0; channel < layout_.num_channels; ++channel) {
      const std::uint64_t num_beside = channels_[channel].num_beside;
      if (blocks_.empty() || blocks_.back().num_beside != num_beside) blocks_.push_back({channel, 0, num_beside});
      blocks_.back().num_bytes += layout_.slot_bytes;
    }
  }
  /// Where a window has arrived since the last report, the inlet may be waiting: what has been stepped past is worth a
  /// report, or else the next step is. Works out how many frames after the last report bring that about: each carries
  /// one message of a channel at most.
  void NoteFullWindows() {
    std::uint64_t num_open = std::numeric_limits<std::uint64_t>::max();
    for (Channel& own : channels_) {
      const std::uint64_t num_arrived = NumArrived(own) - own.num_reported;
      num_open = std::min(num_open, num_arrived < depth_ ? depth_ - num_arrived : 0);
      if (num_arrived < depth_) continue;
      if (own.num_stepped != own.num_reported) is_report_due_ = true;
      own.report_at = own.num_reported + 1;
    }
    num_open_ = num_pulled_ - num_pulled_reported_ + num_open;
  }

  EveryFrame layout_;
  std::size_t depth_;
  std::shared_ptr<FrameBox> box_;
  OutPort report_port_;
  std::shared_ptr<WireHub> hub_;
  std::uint64_t row_mask_;  // rows are the power of two that holds a window
  std::size_t row_bytes_;
  std::vector<std::byte> slots_;   // by count of messages, then by channel
  std::uint64_t num_rounds_ = 0;   // frames for which all channels spoke
  std::vector<Channel> channels_;
  std::vector<Block> blocks_;      // all channels
  std::uint64_t num_open_;         // see NoteFullWindows
  std::uint64_t num_pulled_ = 0;   // frames
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
