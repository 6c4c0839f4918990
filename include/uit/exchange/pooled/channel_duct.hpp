#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <uit/codec/codec.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/exchange/coded_message.hpp>
#include <uit/exchange/exchange_duct.hpp>
#include <uit/exchange/pooled/pooled_every.hpp>
#include <uit/exchange/pooled/pooled_latest.hpp>
#include <uit/policy.hpp>
#include <uit/support/assert.hpp>

namespace uit {

/// The inlets' half of a pool.
template <Retain retain>
using PooledSender = std::conditional_t<retain == Retain::latest, PooledLatestSender, PooledEverySender>;
/// The outlets' half of a pool.
template <Retain retain>
using PooledReceiver = std::conditional_t<retain == Retain::latest, PooledLatestReceiver, PooledEveryReceiver>;

/// The inlet's end of a channel of an exchange. Encodes each message directly into the pool. The exchange's worker only.
/// A put fails if the pool or the window is full, or if the fabric has closed.
template <FixedSizeEncodable T, Retain retain>
class ChannelInletDuct final : public ExchangeInletDuct<PooledSender<retain>> {
  using Base = ExchangeInletDuct<PooledSender<retain>>;

 public:
  /// Throws if the channel already has an inlet.
  ChannelInletDuct(std::shared_ptr<PooledSender<retain>> sender, std::size_t channel)
      : Base(std::move(sender), channel) {}

  /// Encodes the message, which departs with its pool. Returns false if the message was not accepted.
  UIT_INLINE bool TryPut(const T& message) {
    constexpr std::size_t num_bytes = CodecFor<T>::fixed_size;
    const auto encode = [&](std::byte* slot) {
      if constexpr (retain == Retain::every) codec_for<T>.Encode(message, {slot, num_bytes});
      else EncodeWhole(message, slot);
    };
    if constexpr (retain == Retain::every) {
      if (sender_->TryPutNext(channel_, num_bytes, encode)) [[likely]]
        return true;
      return PutFar(message);
    } else {
      return sender_->TryPut(channel_, num_bytes, encode);
    }
  }
  /// The same; encoding does not move from the message.
  UIT_INLINE bool TryPut(T&& message) { return TryPut(std::as_const(message)); }

  /// Sends the pool as it is, unless the inlet is held. Returns false if a message put earlier has not left this
  /// process yet; then call again.
  bool TryFlush() {
    if constexpr (retain == Retain::every) {
      if (is_held_) return true;  // a pool that left would admit another put
    }
    return Base::TryFlush();
  }
  /// Returns the number of messages accepted by the channel since the exchange began.
  std::uint64_t NumAccepted() const { return sender_->NumAccepted(channel_); }

 private:
  using Base::channel_;
  using Base::is_held_;
  using Base::sender_;

  /// The slow path of a put, for when there may be no room.
  UIT_NOINLINE bool PutFar(const T& message) {
    if (!sender_->IsOpen() || !(sender_->HasRoom(channel_) || FindRoom())) return false;
    codec_for<T>.Encode(message, {sender_->Slot(channel_), CodecFor<T>::fixed_size});
    sender_->Commit(channel_);
    return true;
  }
  bool FindRoom() {
    if (!is_held_) {
      sender_->Poll();
      if (sender_->HasRoom(channel_)) return true;
    }
    sender_->Refuse(channel_);
    return false;
  }
};

/// The outlet's end of a channel of an exchange. A step decodes into a message of the duct's own. The exchange's worker
/// only.
template <FixedSizeEncodable T, Retain retain>
class ChannelOutletDuct final : public ExchangeOutletDuct<PooledReceiver<retain>, T> {
  using Base = ExchangeOutletDuct<PooledReceiver<retain>, T>;

 public:
  /// Throws if the channel already has an outlet.
  ChannelOutletDuct(std::shared_ptr<PooledReceiver<retain>> receiver, std::size_t channel, T initial)
      : Base(std::move(receiver), channel, std::move(initial)) {}

  /// Moves past up to `limit` (at least 1) messages and decodes the last. Returns how many; at most 1 under
  /// Retain::latest. Polls if nothing has arrived. Never waits.
  UIT_INLINE std::size_t TryStep(std::size_t limit) {
    UIT_ASSERT(limit > 0, "a step needs a limit");
    if constexpr (keeps_every) {
      if (limit == 1 && receiver_->TryStep(channel_, 1) != 0) [[likely]] {
        Decode();
        if (!is_held_) receiver_->ReportIfDue();
        return 1;
      }
    }
    return StepFar(limit);
  }

  /// Returns the number of messages stepped to or skipped so far. Under Retain::every this includes those of earlier
  /// outlets of the channel.
  std::uint64_t NumPassed() const {
    if constexpr (keeps_every) return receiver_->NumStepped(channel_);
    else return num_passed_;
  }
  /// Returns the number of messages that a newer one replaced before a step saw them.
  std::uint64_t NumPreempted() const { return num_preempted_; }
  /// Returns the number of messages that have arrived and wait.
  std::uint64_t NumUnread() const { return receiver_->NumUnread(channel_); }
  /// Calls `visit(message)` for each message that has arrived and waits, in order.
  template <std::invocable<const T&> F>
  void ForEachUnread(F&& visit) const {
    receiver_->ForEachUnread(channel_, [&visit](const std::byte* encoded) {
      T message{};
      DecodeOrRefuse({encoded, CodecFor<T>::fixed_size}, message);
      visit(message);
    });
  }

 private:
  using Base::channel_;
  using Base::current_;
  using Base::is_held_;
  using Base::receiver_;
  static constexpr bool keeps_every = retain == Retain::every;

  /// The slow path of a step: pulls frames if needed, and skips messages.
  UIT_NOINLINE std::size_t StepFar(std::size_t limit) {
    // Another poll may have brought more.
    if (!is_held_ && (!keeps_every || receiver_->NumUnread(channel_) < limit)) receiver_->Pull();
    std::size_t count = Take(limit);
    if (count == 0 && !is_held_) {
      receiver_->Poll();
      if (receiver_->Pull()) count = Take(limit);
    }
    if (count != 0) Decode();
    if constexpr (keeps_every) {
      if (!is_held_) {
        receiver_->ReportIfDue();
        if (count == 0) receiver_->ReportIfIdle();
      }
    }
    return count;
  }
  std::size_t Take(std::size_t limit) {
    if constexpr (keeps_every) {
      return receiver_->TryStep(channel_, limit);
    } else {
      const std::uint64_t num_new = receiver_->Take(channel_);
      if (num_new == 0) return 0;
      num_preempted_ += num_new - 1;
      ++num_passed_;
      return 1;
    }
  }
  UIT_INLINE void Decode() {
    constexpr std::size_t slot_bytes = CodecFor<T>::fixed_size;
    DecodeOrRefuse({receiver_->Slot(channel_, slot_bytes), slot_bytes}, current_);
  }

  std::uint64_t num_passed_ = 0;     // under Retain::latest
  std::uint64_t num_preempted_ = 0;  // under Retain::latest
};

}  // namespace uit
