#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/pooled/every_frame.hpp>
#include <uit/exchange/pull_reports.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/support/bytes.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

class Fabric;

/// The outlets' half of an exchange under Retain::every. Copies frames to where messages wait, also from shared memory, and reports
/// steps. One thread owns it.
///
/// Messages with the same count lie side by side, as in a frame. So one copy moves the messages of a full round for
/// neighbouring channels that have received the same number of messages.
class PooledEveryReceiver final : public ReceivingHalf {
 public:
  /// Frames arrive in `box` through `fabric`. If `fabric` is null, they come from this process.
  PooledEveryReceiver(EveryFrame layout, std::size_t depth, std::shared_ptr<FrameBox> box, OutPort report_port,
                      Fabric* fabric)
      : ReceivingHalf(std::move(box), fabric),
        layout_(layout),
        depth_(depth),
        // A frame of one channel is one message, so the channel's step reports more. But frames can be empty.
        reports_(layout.num_channels == 1 ? 2 * depth : depth, std::move(report_port)),
        row_mask_(std::bit_ceil(depth) - 1),
        row_bytes_(layout.SlotsBytes()),
        slots_((row_mask_ + 1) * row_bytes_),
        channels_(layout.num_channels, Channel{.report_at = HalfWindow()}),
        num_open_(depth) {
    blocks_.reserve(layout.num_channels);
    FindBlocks();
    LendFrom(min_scattered_bytes, false);
  }

  /// Reports the steps of the outlets to the inlets, if any are new. Always returns true.
  bool TryFlush() override {
    Report();
    return true;
  }
  bool TryFinish() override {
    Pull();
    return true;
  }
  /// Pulls every frame that has arrived. Returns whether there was one. Throws if a frame is malformed.
  bool Pull() override {
    return PullAll([this](const Frame& frame) {
      if (Lent().empty()) [[likely]] Scatter(frame);
      else Scatter(View());
    });
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
  /// Returns the message last stepped past. Valid until the channel's next Pull.
  const std::byte* Slot(std::size_t channel) const { return Slot(channel, layout_.slot_bytes); }
  /// The same, for a caller that knows the slot size.
  UIT_INLINE const std::byte* Slot(std::size_t channel, std::size_t slot_bytes) const {
    return slots_.data() + ((channels_[channel].num_stepped - 1) & row_mask_) * row_bytes_ + channel * slot_bytes;
  }
  /// Calls `visit(encoded message)` for each message of a channel that has arrived and waits, in order.
  template <std::invocable<const std::byte*> F>
  void ForEachUnread(std::size_t channel, F&& visit) const {
    const std::uint64_t num_stepped = channels_[channel].num_stepped;
    for (std::uint64_t i = 0; i < NumUnread(channel); ++i)
      visit(slots_.data() + ((num_stepped + i) & row_mask_) * row_bytes_ + channel * layout_.slot_bytes);
  }
  /// Returns the number of messages of a channel that have arrived and wait.
  UIT_INLINE std::uint64_t NumUnread(std::size_t channel) const {
    return NumArrived(channels_[channel]) - channels_[channel].num_stepped;
  }
  /// Returns the number of messages of a channel stepped past since the exchange began.
  std::uint64_t NumStepped(std::size_t channel) const { return channels_[channel].num_stepped; }
  /// Reports the steps of the outlets to the inlets if any are new. With `always`, sends a report in any case and marks
  /// it as the end of an update.
  UIT_NOINLINE void Report(bool always = false) override {
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
  /// Reports if, as far as this side knows, an inlet has no room or only half of its room left. Otherwise waits for more
  /// to report, so that most messages cause no report of their own.
  UIT_INLINE void ReportIfDue() override {
    if (reports_.IsDue()) [[unlikely]]
      Report();
  }
  /// Reports if many tries in a row found no message to step to.
  void ReportIfIdle() {
    if (reports_.IsIdle()) Report();
  }
  /// Sets the update number for reports that end an update from now on.
  void SetUpdate(std::uint64_t update) override { reports_.SetUpdate(update); }

 private:
  struct Channel {
    std::uint64_t num_beside = 0;    // messages received in partial frames
    std::uint64_t num_stepped = 0;
    std::uint64_t num_reported = 0;  // messages stepped past and reported
    std::uint64_t report_at = 0;     // the number of messages stepped past that makes a report due
  };
  /// Neighbouring channels that have received the same number of messages.
  struct Block {
    std::size_t first = 0;         // channel
    std::size_t num_bytes = 0;     // size of their slots in a frame
    std::uint64_t num_beside = 0;  // the same for each of these channels
  };

  std::uint64_t HalfWindow() const { return (depth_ + 1) / 2; }
  UIT_INLINE std::uint64_t NumArrived(const Channel& own) const { return num_rounds_ + own.num_beside; }
  std::byte* Row(std::uint64_t count) { return slots_.data() + (count & row_mask_) * row_bytes_; }

  template <typename F>
  void Scatter(const F& frame) {
    layout_.Check(frame);
    if (layout_.IsRound(frame)) TakeRound(frame);
    else if (frame.Header().base != 0) TakePartial(frame);
    reports_.NotePulled();
    if (num_open_ <= 1) NoteFullWindows();
    else --num_open_;
  }
  template <typename F>
  void TakeRound(const F& frame) {
    for (const Block& block : blocks_) {
      const std::size_t offset = block.first * layout_.slot_bytes;
      CopyBytes(Row(num_rounds_ + block.num_beside) + offset, frame.Payload() + offset, block.num_bytes);
    }
    ++num_rounds_;
  }
  template <typename F>
  void TakePartial(const F& frame) {
    for (std::size_t channel = 0; channel < layout_.num_channels; ++channel) {
      if (!layout_.HasContributed(frame, channel)) continue;
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
  /// Finds channels for which a whole window has arrived since the last report: their inlets may be waiting. If steps of
  /// such a channel are unreported, makes a report due; otherwise its next step does. Also computes how many more frames
  /// may arrive before a window can fill, as each carries at most one message per channel.
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
  std::uint64_t row_mask_;  // number of rows - 1; rows are a power of two that holds a window
  std::size_t row_bytes_;
  std::vector<std::byte> slots_;   // by row (count of messages), then by channel
  std::uint64_t num_rounds_ = 0;   // full rounds received
  std::vector<Channel> channels_;
  std::vector<Block> blocks_;      // covers all channels
  std::uint64_t num_open_;         // see NoteFullWindows
};

}  // namespace uit
