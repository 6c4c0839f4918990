#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/exchange/pooled/pool_roll.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/out_port.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

/// The inlets' half of an exchange under Retain::latest. A pool of one channel serves Consolidate::none.
///
/// A frame departs when each member has put since the last frame, or on a flush. A put never fails. A second put of a
/// member before the departure replaces the first. It also shows that the members that have not put skip this round. Then
/// the frame departs without them, and the pool waits for each of them again only after its next put. One thread owns it.
class PooledLatestSender final : public SendingHalf {
 public:
  /// Frames leave through `port`, in the layout that the receiver expects.
  PooledLatestSender(LatestFrame layout, OutPort port)
      : layout_(layout),
        port_(std::move(port)),
        values_(layout.SlotsBytes()),
        counts_(layout.num_channels),
        roll_(layout.num_channels) {}

  /// Accepts a message, which `encode(slot)` writes. Returns false, with nothing changed, after TryFinish.
  template <std::invocable<std::byte*> F>
  UIT_INLINE bool TryPut(std::size_t channel, std::size_t slot_bytes, F&& encode) {
    if (is_finished_) [[unlikely]]
      return false;
    encode(values_.data() + channel * slot_bytes);
    Commit(channel);
    return true;
  }
  /// Returns where to write a channel's message; then call Commit.
  std::byte* Slot(std::size_t channel) { return values_.data() + channel * layout_.slot_bytes; }
  /// Accepts the message in the slot. Sends the frame if the pool waits for no other channel.
  UIT_INLINE void Commit(std::size_t channel) {
    ++counts_[channel];
    if (!roll_.IsNext(channel)) [[unlikely]]
      NoteFar(channel);
    else if (roll_.NoteNext(channel))
      Depart(false);
  }
  /// Returns the number of messages of a channel accepted since the exchange began.
  std::uint64_t NumAccepted(std::size_t channel) const { return counts_[channel]; }
  /// Called when the channel's inlet is destroyed. The pool does not wait for this channel any more.
  void Yield(std::size_t channel) {
    ExchangeHalf::Yield(channel);
    roll_.Skip(channel);
  }
  /// Sends the messages put since the last departure. Always returns true: if the frame cannot leave yet, a newer one may
  /// replace it.
  bool TryFlush() override {
    if (roll_.NumContributors() != 0) Depart(false);
    return true;
  }
  bool TryFinish() override {
    is_finished_ = true;
    return TryFlush();
  }
  /// Sends a frame in any case and marks it as the update's end. Always returns true.
  bool TryEndUpdate() override {
    Depart(true);
    return true;
  }
  /// Sets the update number that is stamped on frames from now on.
  void SetUpdate(std::uint64_t update) override { update_ = update; }
  /// Moves frames. Returns whether anything arrived.
  bool Poll() { return port_.Poll(); }
  /// Returns whether all departed frames have left this process. Moves frames if some may not have.
  bool TryEmpty() { return port_.TryEmpty(); }
  /// False once the fabric has closed; then do not put any more.
  bool IsOpen() const { return port_.IsOpen(); }
  /// Whether the peer process is known to have ended.
  bool IsPeerGone() const { return port_.IsPeerGone(); }

 private:
  /// A channel has put out of turn: again, or for the first time since it was skipped.
  UIT_NOINLINE void NoteFar(std::size_t channel) {
    if (roll_.HasContributed(channel)) is_level_ = false;
    if (!roll_.NoteContribution(channel)) roll_.SkipRest();
    if (roll_.IsComplete()) Depart(false);
  }
  UIT_NOINLINE void Depart(bool last) {
    const std::size_t num_contributors = roll_.NumContributors();
    const bool is_uniform = is_level_ && (num_contributors == 0 || num_contributors == layout_.num_channels);
    port_.TryDepartFilled(layout_.MaxBytes(), frame_, [&](auto& to) {
      CopyBytes(to.Payload(), values_.data(), values_.size());
      layout_.Seal(to, is_uniform ? nullptr : counts_.data(), counts_[0]);
      to.Header().update = update_;
      to.Header().last = last ? 1 : 0;
    });
    is_level_ = is_uniform || std::ranges::adjacent_find(counts_, std::ranges::not_equal_to{}) == counts_.end();
    roll_.Renew();
  }

  LatestFrame layout_;
  OutPort port_;
  std::vector<std::byte> values_;
  std::vector<std::uint64_t> counts_;  // messages accepted, by channel
  PoolRoll roll_;
  bool is_level_ = true;  // at the last departure all channels had equal counts, and have put at most once since
  bool is_finished_ = false;
  std::uint64_t update_ = 0;
  Frame frame_;
};

}  // namespace uit
