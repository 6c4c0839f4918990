#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <uit/codec/codec.hpp>
#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/exchange/aggregated/aggregated_every.hpp>
#include <uit/exchange/aggregated/aggregated_latest.hpp>
#include <uit/exchange/exchange_duct.hpp>
#include <uit/policy.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/error.hpp>

namespace uit {

/// Encoded size of every `T`; 0 if each has its own.
template <Encodable T>
inline constexpr std::size_t encoded_bytes = [] {
  if constexpr (FixedSizeEncodable<T>) return static_cast<std::size_t>(CodecFor<T>::fixed_size);
  return std::size_t{0};
}();

/// The inlets' half of an aggregated exchange.
template <Retain retain>
using AggregatedSender = std::conditional_t<retain == Retain::latest, AggregatedLatestSender, AggregatedEverySender>;
/// The outlets' half of an aggregated exchange.
template <Retain retain>
using AggregatedReceiver =
    std::conditional_t<retain == Retain::latest, AggregatedLatestReceiver, AggregatedEveryReceiver>;

/// The inlet's side of a channel of an aggregated exchange. The exchange's worker only.
///
/// Under Retain::every a message is encoded straight into the frame that leaves; under Retain::latest into a slot, from
/// which it is copied once when a frame departs. Unless frames are shared, every put is flushed.
template <Encodable T, Policy policy>
  requires(policy.retain == Retain::every || policy.retain == Retain::latest)
class AggregatedInletDuct final : public ExchangeInletDuct<AggregatedSender<policy.retain>> {
  using Base = ExchangeInletDuct<AggregatedSender<policy.retain>>;

 public:
  /// The half of the exchange that the inlets share.
  using Sender = AggregatedSender<policy.retain>;
  /// A put may throw MessageTooLarge.
  static constexpr bool refuses_large = encoded_bytes<T> == 0;

  /// Throws if the channel has an inlet.
  AggregatedInletDuct(std::shared_ptr<Sender> sender, std::size_t channel) : Base(std::move(sender), channel) {}

  /// Encodes the message. False if it was not taken: its window is full, or the peer has no room for a full frame, or
  /// the fabric has closed. Throws MessageTooLarge, and whatever the codec throws: then nothing has changed.
  UIT_INLINE bool TryPut(const T& message) {
    if constexpr (keeps_every) {
      const std::size_t num_bytes = encoded_bytes<T> != 0 ? encoded_bytes<T> : SizeOf(message) + sizeof(MessageLength);
      Sender& sender = *sender_;
      std::byte* to = sender.Next();
      if (!sender.template HasRoom<encoded_bytes<T>>(channel_, num_bytes)) {
        to = sender.template TryReserve<encoded_bytes<T>>(channel_, num_bytes);
        if (to == nullptr) [[unlikely]] {
          to = FindRoom(num_bytes);
          if (to == nullptr) return false;
        }
      }
      EncodeEvery(message, to, num_bytes);
      sender.template Commit<encoded_bytes<T>>(to + num_bytes);
    } else {
      if (!sender_->IsOpen()) [[unlikely]]
        return false;
      EncodeLatest(message);
    }
    if constexpr (departs_at_once) sender_->TryFlush();
    return true;
  }
  /// The same: encoding moves nothing out.
  UIT_INLINE bool TryPut(T&& message) { return TryPut(std::as_const(message)); }

  /// Sends what has been put through the exchange. False if some of it has yet to leave this process; call again.
  bool TryFlush() {
    if (sender_->TryFlush()) return sender_->TryEmpty();
    sender_->Poll();  // there may be word of room
    return sender_->TryFlush() && sender_->TryEmpty();
  }
  /// Messages accepted by the channel since the exchange began.
  std::uint64_t NumAccepted() const { return sender_->NumAccepted(channel_); }

 private:
  using Base::channel_;
  using Base::is_held_;
  using Base::sender_;
  static constexpr bool keeps_every = policy.retain == Retain::every;
  static constexpr bool departs_at_once = policy.consolidate == Consolidate::none;

  UIT_INLINE static void EncodeEvery(const T& message, std::byte* to, std::size_t num_bytes) {
    if constexpr (encoded_bytes<T> != 0) {
      codec_for<T>.Encode(message, {to, encoded_bytes<T>});
    } else {
      const auto length = static_cast<MessageLength>(num_bytes - sizeof(MessageLength));
      std::memcpy(to, &length, sizeof length);
      codec_for<T>.Encode(message, {to + sizeof length, length});
    }
  }
  UIT_INLINE void EncodeLatest(const T& message) {
    if constexpr (encoded_bytes<T> != 0) {
      codec_for<T>.Encode(message, {sender_->Slot(channel_), encoded_bytes<T>});
      sender_->Commit(channel_);
    } else {  // beside the message that waits, since encoding may throw
      const std::size_t num_bytes = SizeOf(message);
      codec_for<T>.Encode(message, {sender_->SpareSlot(num_bytes), num_bytes});
      sender_->CommitSpare(channel_);
    }
  }
  std::size_t SizeOf(const T& message) const {
    const std::size_t num_bytes = codec_for<T>.Size(message);
    if (num_bytes > sender_->MaxMessageBytes()) [[unlikely]]
      throw MessageTooLarge(num_bytes, sender_->MaxMessageBytes());
    return num_bytes;
  }
  UIT_NOINLINE std::byte* FindRoom(std::size_t num_bytes) {
    if (is_held_) return nullptr;
    sender_->Poll();
    return sender_->template TryReserve<encoded_bytes<T>>(channel_, num_bytes);
  }
};

/// The outlet's side of a channel of an aggregated exchange: decodes on a step, into a message of its own. The
/// exchange's worker only.
///
/// Under Retain::every straight from the frame, where that is one channel's and nothing else waited on it; else, and
/// under Retain::latest, from bytes of the channel's own, to which the frame's were copied once.
template <Encodable T, Policy policy>
  requires(policy.retain == Retain::every || policy.retain == Retain::latest)
class AggregatedOutletDuct final : public ExchangeOutletDuct<AggregatedReceiver<policy.retain>, T> {
  using Base = ExchangeOutletDuct<AggregatedReceiver<policy.retain>, T>;

 public:
  /// Throws if the channel has an outlet.
  AggregatedOutletDuct(std::shared_ptr<AggregatedReceiver<policy.retain>> receiver, std::size_t channel, T initial)
      : Base(std::move(receiver), channel, std::move(initial)) {
    if constexpr (keeps_every) inbox_ = &receiver_->Inbox(channel_);
  }

  /// Moves past up to `limit` (at least 1) messages, decodes the last, and returns how many; under Retain::latest 1 at
  /// most. Polls if nothing has arrived. Never waits. Throws for bytes that its codec takes for no message, having
  /// moved past them.
  UIT_INLINE std::size_t TryStep(std::size_t limit) {
    UIT_ASSERT(limit > 0, "a step needs a limit");
    if constexpr (keeps_every) {
      if (limit == 1 && inbox_->template HasLight<encoded_bytes<T>>()) [[likely]] {
        Decode(inbox_->template Take<encoded_bytes<T>>());
        return 1;
      }
    }
    return StepFar(limit);
  }

  /// Messages stepped past or over so far, those of outlets before it among them.
  std::uint64_t NumPassed() const {
    if constexpr (keeps_every) return inbox_->NumStepped(encoded_bytes<T>);
    return num_passed_;
  }
  /// Messages replaced by a newer one before a step saw them.
  std::uint64_t NumPreempted() const { return num_preempted_; }
  /// Messages that have arrived and wait.
  std::uint64_t NumUnread() const {
    if constexpr (keeps_every) return inbox_->NumUnread(encoded_bytes<T>);
    else return receiver_->NumUnread(channel_);
  }
  /// While held, only what the exchange's owner has pulled is stepped to.
  void HoldOutlet(bool hold) {
    Base::HoldOutlet(hold);
    if constexpr (keeps_every) inbox_->ClearLight();  // a report may have waited
  }

 private:
  using Base::channel_;
  using Base::current_;
  using Base::is_held_;
  using Base::receiver_;
  static constexpr bool keeps_every = policy.retain == Retain::every;
  static constexpr std::size_t poll_bytes = 8192;  // so many that a poll costs little beside them

  /// The step that may have to look for messages, or to pass over some.
  UIT_NOINLINE std::size_t StepFar(std::size_t limit) {
    // More may have come by somebody else's poll.
    if (!is_held_ && (!keeps_every || NumUnread() < limit)) Pull(limit);
    std::size_t count = Take(limit);
    if (count == 0 && !is_held_) {
      receiver_->Poll();
      Pull(limit);
      count = Take(limit);
    }
    if (!is_held_) {
      receiver_->ReportIfDue();
      if (count == 0) receiver_->ReportIfIdle();
    }
    if constexpr (keeps_every) receiver_->Lighten(*inbox_, encoded_bytes<T>, is_held_);
    return count;
  }
  /// For a step of one, a frame at a time: it stays in the cache, and others arrive while it is read.
  void Pull(std::size_t limit) {
    if constexpr (keeps_every) {
      if (limit == 1) {
        receiver_->PullFor(*inbox_);
        if (inbox_->bytes.NumBytes() >= poll_bytes) receiver_->Poll();
        return;
      }
    }
    receiver_->Pull();
  }
  std::size_t Take(std::size_t limit) {
    if constexpr (keeps_every) {
      const std::uint64_t num_waiting = NumUnread();
      const std::uint64_t count = num_waiting < limit ? num_waiting : limit;
      if (count == 0) return 0;
      inbox_->template Skip<encoded_bytes<T>>(count - 1);
      const ByteView message = inbox_->template Take<encoded_bytes<T>>();
      receiver_->NoteStep(*inbox_, encoded_bytes<T>);
      Decode(message);
      return static_cast<std::size_t>(count);
    } else {
      const std::uint64_t num_new = receiver_->Take(channel_);
      if (num_new == 0) return 0;
      num_preempted_ += num_new - 1;
      ++num_passed_;
      Decode(receiver_->Newest(channel_));
      return 1;
    }
  }
  UIT_INLINE void Decode(ByteView message) {
    if (!codec_for<T>.TryDecode(message, current_)) [[unlikely]]
      Refuse(message.size());
  }
  [[noreturn]] UIT_NOINLINE static void Refuse(std::size_t num_bytes) {
    throw Error("a peer has sent " + std::to_string(num_bytes) + " bytes that are no message");
  }

  AggregatedInbox* inbox_ = nullptr;  // under Retain::every
  std::uint64_t num_passed_ = 0;      // under Retain::latest
  std::uint64_t num_preempted_ = 0;
};

}  // namespace uit
