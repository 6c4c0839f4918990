#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/exchange/pooled/pool_roll.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

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
  /// Whether the peer was found to have ended.
  bool IsPeerGone() const { return port_.IsPeerGone(); }

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

}  // namespace uit
