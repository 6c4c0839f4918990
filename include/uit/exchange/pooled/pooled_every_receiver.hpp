#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/pooled/every_frame.hpp>
#include <uit/exchange/pull_reports.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/support/bytes.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

/// The outlets' half: copies frames to where messages wait, and reports steps. One thread owns it.
///
/// Messages of one count lie side by side, as they do in a frame: so the messages of a frame for which all channels
/// spoke are copied together, for neighbours that have had the same number of messages.
class PooledEveryReceiver final : public ReceivingHalf {
 public:
  /// Frames come to `box` through `fabric`, or, if that is null, from this process.
  PooledEveryReceiver(EveryFrame layout, std::size_t depth, std::shared_ptr<FrameBox> box, OutPort report_port,
                      Fabric* fabric)
      : ReceivingHalf(std::move(box), fabric),
        layout_(layout),
        depth_(depth),
        // A frame of one channel is a message: its step says more. But frames can be empty.
        reports_(layout.num_channels == 1 ? 2 * depth : depth, std::move(report_port)),
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
  /// Takes in every frame that has arrived. Returns whether there was one. Throws for what is no frame of the exchange.
  bool Pull() {
    return PullAll([this](const Frame& frame) { Scatter(frame); });
  }
  /// Moves past up to `limit` messages of a channel. Returns how many.
  UIT_INLINE std::size_t TryStep(std::size_t channel, std::size_t limit) {
    Channel& own = channels_[channel];
    const std::uint64_t num_waiting = num_rounds_ + own.num_beside - own.num_stepped;
    const std::uint64_t count = num_waiting < limit ? num_waiting : limit;
    if (count == 0) return 0;
    own.num_stepped += count;
    reports_.NoteNews();
    if (own.num_stepped >= own.report_at) [[unlikely]]
      reports_.NoteDue();
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
  /// Tells the inlets how far the outlets have come, if that has changed; with `always`, in any case, and as what ends
  /// an update.
  UIT_NOINLINE void Report(bool always = false) {
    if (!reports_.HasNews() && !always) return;
    reports_.Send(ReportFrame{layout_.num_channels}.MaxBytes(), always, [this](std::byte* to) {
      for (Channel& own : channels_) {
        std::memcpy(to, &own.num_stepped, sizeof own.num_stepped);
        to += sizeof own.num_stepped;
        own.num_reported = own.num_stepped;
        own.report_at = own.num_reported + HalfWindow();
      }
    });
    NoteFullWindows();
  }
  /// Reports if an inlet has no room or half of its room left, so far as can be known here; else waits for more to
  /// report, so that most messages cause no report of their own.
  UIT_INLINE void ReportIfDue() {
    if (reports_.IsDue()) [[unlikely]]
      Report();
  }
  /// Reports if nothing has been there to step to for a while.
  void ReportIfIdle() {
    if (reports_.IsIdle()) Report();
  }
  /// The number stamped on reports that end an update from here on.
  void SetUpdate(std::uint64_t update) { reports_.SetUpdate(update); }

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

  std::uint64_t HalfWindow() const { return (depth_ + 1) / 2; }
  UIT_INLINE std::uint64_t NumArrived(const Channel& own) const { return num_rounds_ + own.num_beside; }
  std::byte* Row(std::uint64_t count) { return slots_.data() + (count & row_mask_) * row_bytes_; }

  void Scatter(const Frame& frame) {
    layout_.Check(frame);
    if (layout_.IsRound(frame)) TakeRound(frame);
    else if (frame.Header().base != 0) TakePartial(frame);
    reports_.NotePulled();
    if (num_open_ <= 1) NoteFullWindows();
    else --num_open_;
  }
  void TakeRound(const Frame& frame) {
    for (const Block& block : blocks_) {
      const std::size_t offset = block.first * layout_.slot_bytes;
      CopyBytes(Row(num_rounds_ + block.num_beside) + offset, frame.Payload() + offset, block.num_bytes);
    }
    ++num_rounds_;
  }
  void TakePartial(const Frame& frame) {
    for (std::size_t channel = 0; channel < layout_.num_channels; ++channel) {
      if (!layout_.HasSpoken(frame, channel)) continue;
      Channel& own = channels_[channel];
      const std::size_t offset = channel * layout_.slot_bytes;
      CopyBytes(Row(NumArrived(own)) + offset, frame.Payload() + offset, layout_.slot_bytes);
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
  /// report, or else the next step is. Works out how many more frames may bring that about: each carries one message of
  /// a channel at most.
  void NoteFullWindows() {
    num_open_ = depth_;
    for (Channel& own : channels_) {
      const std::uint64_t num_arrived = NumArrived(own) - own.num_reported;
      num_open_ = std::min(num_open_, num_arrived < depth_ ? depth_ - num_arrived : 0);
      if (num_arrived < depth_) continue;
      if (own.num_stepped != own.num_reported) reports_.NoteDue();
      own.report_at = own.num_reported + 1;
    }
  }

  EveryFrame layout_;
  std::size_t depth_;
  PullReports reports_;
  std::uint64_t row_mask_;  // rows are the power of two that holds a window
  std::size_t row_bytes_;
  std::vector<std::byte> slots_;   // by count of messages, then by channel
  std::uint64_t num_rounds_ = 0;   // frames for which all channels spoke
  std::vector<Channel> channels_;
  std::vector<Block> blocks_;      // all channels
  std::uint64_t num_open_;         // see NoteFullWindows
};

}  // namespace uit
