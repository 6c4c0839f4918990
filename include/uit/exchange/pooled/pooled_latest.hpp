#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/pooled/pool_roll.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/wire/frame_box.hpp>
#include <uit/wire/out_port.hpp>

namespace uit {

/// How the frames of an exchange under Retain::latest are laid out: a slot per channel with its newest message,
/// and how many messages the channel had accepted by then.
///
/// Each frame holds every channel, whether it has spoken since or not, so a frame may replace any older one
/// without a channel's newest message being lost; and what was replaced follows from the counts. While all
/// channels have the same count, it stands once, in the header.
struct LatestFrame {
  std::size_t num_channels = 1;  ///< ends that share the frame
  std::size_t slot_bytes = 0;    ///< encoded size of a message

  /// Payload of the smallest frame: the slots, and no counts.
  std::size_t SlotsBytes() const { return num_channels * slot_bytes; }
  /// Payload of the largest frame.
  std::size_t MaxBytes() const { return SlotsBytes() + num_channels * sizeof(std::uint64_t); }

  /// Where a channel's encoded message stands; it means something once Count is not 0.
  const std::byte* Slot(const Frame& frame, std::size_t channel) const {
    return frame.Payload() + channel * slot_bytes;
  }
  /// Whether all channels have the count in the header.
  bool IsUniform(const Frame& frame) const { return frame.Header().num_bytes == SlotsBytes(); }
  /// Messages that the channel had accepted, from the beginning, when the frame departed.
  std::uint64_t Count(const Frame& frame, std::size_t channel) const {
    if (IsUniform(frame)) return frame.Header().base;
    std::uint64_t count = 0;
    std::memcpy(&count, frame.Payload() + SlotsBytes() + channel * sizeof count, sizeof count);
    return count;
  }
  /// Ends a frame whose slots are written: counts[channel], or `uniform` if counts is null.
  void Seal(Frame& frame, const std::uint64_t* counts, std::uint64_t uniform) const {
    frame.Header().base = uniform;
    frame.Header().num_bytes = static_cast<std::uint32_t>(SlotsBytes());
    if (counts == nullptr) return;
    std::memcpy(frame.Payload() + SlotsBytes(), counts, num_channels * sizeof(std::uint64_t));
    frame.Header().num_bytes = static_cast<std::uint32_t>(MaxBytes());
  }
};

/// The inlets' half of an exchange under Retain::latest; a pool of one channel serves Consolidate::none.
///
/// A frame departs when each member has put since the last one, or on a flush. A put never fails: a second one before
/// departure replaces the first, and shows that the members that have not put meanwhile skip this round: the frame
/// departs without them, and none is waited for until the member has put again. One thread owns it.
class PooledLatestSender final : public ExchangeHalf {
 public:
  /// Frames leave by `port`, laid out as the receiver expects them.
  PooledLatestSender(LatestFrame layout, OutPort port)
      : layout_(layout),
        port_(std::move(port)),
        values_(layout.SlotsBytes()),
        counts_(layout.num_channels),
        roll_(layout.num_channels) {}

  /// Accepts a message, which `encode(slot)` writes. False, with nothing done, after TryFinish.
  template <std::invocable<std::byte*> F>
  UIT_INLINE bool TryPut(std::size_t channel, std::size_t slot_bytes, F&& encode) {
    if (is_finished_) [[unlikely]]
      return false;
    encode(values_.data() + channel * slot_bytes);
    Commit(channel);
    return true;
  }
  /// Where a channel's message goes; call Commit once it is written.
  std::byte* Slot(std::size_t channel) { return values_.data() + channel * layout_.slot_bytes; }
  /// Accepts what was written to the slot; departs if that completes the pool.
  UIT_INLINE void Commit(std::size_t channel) {
    ++counts_[channel];
    if (!roll_.IsNext(channel)) [[unlikely]]
      NoteFar(channel);
    else if (roll_.NoteNext(channel))
      Depart(false);
  }
  /// Messages of a channel accepted since the exchange began.
  std::uint64_t NumAccepted(std::size_t channel) const { return counts_[channel]; }
  /// The channel's inlet is gone; it is not waited for.
  void Yield(std::size_t channel) {
    ExchangeHalf::Yield(channel);
    roll_.Excuse(channel);
  }
  /// Sends what has been put since the last departure. Always true: if it cannot leave yet, a newer frame may replace
  /// it.
  bool TryFlush() override {
    if (roll_.NumSpoken() != 0) Depart(false);
    return true;
  }
  bool TryFinish() override {
    is_finished_ = true;
    return TryFlush();
  }
  /// Sends in any case, marked as the update's end.
  void EndUpdate() { Depart(true); }
  /// The number stamped on frames from here on.
  void SetUpdate(std::uint64_t update) { update_ = update; }
  /// Lets frames move. Returns whether anything arrived.
  bool Poll() { return port_.Poll(); }
  /// Lets frames move, and tells whether all that departed has left.
  bool TryEmpty() { return port_.TryEmpty(); }
  /// False once the fabric has closed: nothing should be put any more.
  bool IsOpen() const { return port_.IsOpen(); }

 private:
  /// A channel has put that is out of turn: again, or for the first time in a while.
  UIT_NOINLINE void NoteFar(std::size_t channel) {
    if (roll_.HasSpoken(channel)) is_level_ = false;
    if (!roll_.Note(channel)) roll_.ExcuseRest();
    if (roll_.IsComplete()) Depart(false);
  }
  UIT_NOINLINE void Depart(bool last) {
    const std::size_t num_spoken = roll_.NumSpoken();
    frame_.Reserve(layout_.MaxBytes());
    std::memcpy(frame_.Payload(), values_.data(), values_.size());
    const bool is_uniform = is_level_ && (num_spoken == 0 || num_spoken == layout_.num_channels);
    layout_.Seal(frame_, is_uniform ? nullptr : counts_.data(), counts_[0]);
    frame_.Header().update = update_;
    frame_.Header().last = last ? 1 : 0;
    port_.TryDepart(frame_);
    is_level_ = is_uniform || std::ranges::adjacent_find(counts_, std::ranges::not_equal_to{}) == counts_.end();
    roll_.Renew();
  }

  LatestFrame layout_;
  OutPort port_;
  std::vector<std::byte> values_;
  std::vector<std::uint64_t> counts_;  // messages accepted
  PoolRoll roll_;
  bool is_level_ = true;  // channels had equal counts at the last departure, and have put at most once since
  bool is_finished_ = false;
  std::uint64_t update_ = 0;
  Frame frame_;
};

/// The outlets' half: reads the newest frame in place. One thread owns it.
class PooledLatestReceiver final : public ReceivingHalf {
 public:
  /// Frames come to `box` through `fabric`, or, if that is null, from this process.
  PooledLatestReceiver(LatestFrame layout, std::shared_ptr<FrameBox> box, Fabric* fabric)
      : ReceivingHalf(std::move(box), fabric), layout_(layout), seen_(layout.num_channels) {}

  /// Nothing to send.
  bool TryFlush() override { return true; }
  bool TryFinish() override {
    Pull();
    return true;
  }
  /// Goes on to the newest frame that has arrived. Returns whether there was one.
  bool Pull() {
    return TryPullOne([this](const Frame& frame) { frame_ = &frame; });
  }
  /// Takes the channel's newest message: how many messages that moves past, 0 if there is none newer. All but
  /// the newest of them were replaced on the way.
  UIT_INLINE std::uint64_t Take(std::size_t channel) {
    const std::uint64_t num_new = NumUnread(channel);
    seen_[channel] += num_new;
    return num_new;
  }
  /// The channel's slot in the newest frame. After a Take that returned more than 0.
  const std::byte* Slot(std::size_t channel) const { return layout_.Slot(*frame_, channel); }
  /// The same, for who knows how large a slot is.
  UIT_INLINE const std::byte* Slot(std::size_t channel, std::size_t slot_bytes) const {
    return frame_->Payload() + channel * slot_bytes;
  }
  /// Messages of a channel accepted by the time of the newest frame, and not taken yet.
  std::uint64_t NumUnread(std::size_t channel) const {
    return frame_ != nullptr ? layout_.Count(*frame_, channel) - seen_[channel] : 0;
  }

 private:
  LatestFrame layout_;
  std::vector<std::uint64_t> seen_;  // messages taken
  const Frame* frame_ = nullptr;     // the newest; in the box
};

}  // namespace uit
