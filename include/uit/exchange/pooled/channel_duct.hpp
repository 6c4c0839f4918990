#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <uit/codec/codec.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/exchange/pooled/pooled_every.hpp>
#include <uit/exchange/pooled/pooled_latest.hpp>
#include <uit/policy.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/ref.hpp>

namespace uit {

/// The inlet's side of a channel of an exchange: encodes each message straight into the pool. The exchange's worker
/// only; a put into a full pool or window fails, and so does one after the fabric has closed.
template <FixedSizeEncodable T, Retain retain>
class ChannelInletDuct final : public RefCounted {
 public:
  /// The half of the exchange that the inlets of a pool share.
  using Sender = std::conditional_t<retain == Retain::latest, PooledLatestSender, PooledEverySender>;
  /// Waiting may help.
  static constexpr bool in_thread = false;

  /// Throws if the channel has an inlet.
  ChannelInletDuct(std::shared_ptr<Sender> sender, std::size_t channel)
      : sender_(std::move(sender)), channel_(channel) {
    sender_->Claim(channel_);
  }
  ~ChannelInletDuct() { sender_->Yield(channel_); }

  /// Encodes the message, which departs with its pool. False if the message was not taken.
  UIT_INLINE bool TryPut(const T& message) {
    const auto encode = [&](std::byte* slot) { codec_for<T>.Encode(message, {slot, CodecFor<T>::fixed_size}); };
    if constexpr (retain == Retain::every) {
      if (sender_->TryPutNext(channel_, CodecFor<T>::fixed_size, encode)) [[likely]]
        return true;
      return PutFar(message);
    } else {
      return sender_->TryPut(channel_, CodecFor<T>::fixed_size, encode);
    }
  }
  /// The same: encoding moves nothing out.
  UIT_INLINE bool TryPut(T&& message) { return TryPut(std::as_const(message)); }

  /// Sends the pool as it is. False if some of what was put has yet to leave this process; call again.
  bool TryFlush() { return sender_->TryFlush() && sender_->TryEmpty(); }
  /// Lets frames move, if the peer is another process. Never waits. Returns whether anything arrived.
  bool Poll() { return sender_->Poll(); }
  /// Messages accepted by the channel since the exchange began.
  std::uint64_t NumAccepted() const { return sender_->NumAccepted(channel_); }
  /// Whether the fabric has closed, so that no put will succeed.
  bool IsClosed() const { return !sender_->IsOpen(); }
  /// While held, a put does not poll: the exchange's owner does.
  void HoldInlet(bool hold) { is_held_ = hold; }
  /// Room comes only when the exchange's owner refreshes it.
  bool IsInletHeld() const {
    if constexpr (retain == Retain::every) return sender_->IsHeld();
    return false;
  }
  /// The half that this channel belongs to; for the exchange's owner.
  const std::shared_ptr<Sender>& Exchange() const { return sender_; }

 private:
  /// The put for which there may be no room.
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

  std::shared_ptr<Sender> sender_;
  std::size_t channel_;
  bool is_held_ = false;
};

/// The outlet's side of a channel of an exchange: decodes on a step, into a message of its own. The exchange's worker
/// only.
template <FixedSizeEncodable T, Retain retain>
class ChannelOutletDuct final : public RefCounted {
 public:
  /// The half of the exchange that the outlets of a pool share.
  using Receiver = std::conditional_t<retain == Retain::latest, PooledLatestReceiver, PooledEveryReceiver>;
  /// Waiting may help.
  static constexpr bool in_thread = false;

  /// Throws if the channel has an outlet.
  ChannelOutletDuct(std::shared_ptr<Receiver> receiver, std::size_t channel, T initial)
      : receiver_(std::move(receiver)), channel_(channel), current_(std::move(initial)) {
    receiver_->Claim(channel_);
  }
  ~ChannelOutletDuct() { receiver_->Yield(channel_); }

  /// Moves past up to `limit` (at least 1) messages, decodes the last, and returns how many; under Retain::latest 1 at
  /// most. Polls if nothing has arrived. Never waits.
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
  /// The message last stepped to, or the initial one. Stays put until the next step that succeeds.
  UIT_INLINE const T& Get() const { return current_; }
  /// The same, to be moved out of.
  UIT_INLINE T& Get() { return current_; }

  /// Messages stepped past or over so far, those of outlets before it among them.
  std::uint64_t NumPassed() const {
    if constexpr (keeps_every) return receiver_->NumStepped(channel_);
    else return num_passed_;
  }
  /// Messages replaced by a newer one before a step saw them.
  std::uint64_t NumPreempted() const { return num_preempted_; }
  /// Messages that have arrived and wait.
  std::uint64_t NumUnread() const { return receiver_->NumUnread(channel_); }
  /// While held, only what the exchange's owner has pulled is stepped to.
  void HoldOutlet(bool hold) { is_held_ = hold; }
  /// Lets frames move, if the peer is another process. Never waits. Returns whether anything arrived.
  bool Poll() { return receiver_->Poll(); }
  /// Whether the fabric has closed: what has arrived can still be stepped to, and no more will come.
  bool IsClosed() const { return !receiver_->IsOpen(); }
  /// The half that this channel belongs to; for the exchange's owner.
  const std::shared_ptr<Receiver>& Exchange() const { return receiver_; }

 private:
  static constexpr bool keeps_every = retain == Retain::every;

  /// The step that may have to look for messages, or to pass over some.
  UIT_NOINLINE std::size_t StepFar(std::size_t limit) {
    // More may have come by somebody else's poll.
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
    codec_for<T>.TryDecode({receiver_->Slot(channel_, slot_bytes), slot_bytes}, current_);
  }

  std::shared_ptr<Receiver> receiver_;
  std::size_t channel_;
  T current_;
  std::uint64_t num_passed_ = 0;     // under Retain::latest
  std::uint64_t num_preempted_ = 0;  // likewise
  bool is_held_ = false;
};

}  // namespace uit
