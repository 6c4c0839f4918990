#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <uit/codec/codec.hpp>
#include <uit/codec/trivial_codec.hpp>
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
  bool TryPut(const T& message) {
    if (!sender_->IsOpen()) [[unlikely]]
      return false;
    if constexpr (retain == Retain::every) {
      if (!sender_->HasRoom(channel_) && !FindRoom()) return false;
    }
    codec_for<T>.Encode(message, {sender_->Slot(channel_), CodecFor<T>::fixed_size});
    sender_->Commit(channel_);
    return true;
  }
  /// The same: encoding moves nothing out.
  bool TryPut(T&& message) { return TryPut(std::as_const(message)); }

  /// Sends the pool as it is. False if some of what was put has yet to leave this process; call again.
  bool TryFlush() { return sender_->TryFlush() && sender_->TryEmpty(); }
  /// Lets frames move, if the peer is another process. Never waits. Returns whether anything arrived.
  bool Poll() { return sender_->Poll(); }
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
  UIT_NOINLINE bool FindRoom() {
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
  std::size_t TryStep(std::size_t limit) {
    UIT_ASSERT(limit > 0, "a step needs a limit");
    // More may have come by somebody else's poll.
    if (!is_held_ && (retain == Retain::latest || receiver_->NumUnread(channel_) < limit)) receiver_->Pull();
    std::size_t count = Take(limit);
    if (count == 0 && !is_held_) {
      receiver_->Poll();
      if (receiver_->Pull()) count = Take(limit);
    }
    if (count != 0) codec_for<T>.TryDecode({receiver_->Slot(channel_), CodecFor<T>::fixed_size}, current_);
    if constexpr (retain == Retain::every) {
      if (!is_held_) {
        receiver_->ReportIfDue();
        if (count == 0) receiver_->ReportIfIdle();
      }
    }
    return count;
  }
  /// The message last stepped to, or the initial one. Stays put until the next step that succeeds.
  const T& Get() const { return current_; }
  /// The same, to be moved out of.
  T& Get() { return current_; }

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
  std::size_t Take(std::size_t limit) {
    if constexpr (retain == Retain::every) {
      return receiver_->TryStep(channel_, limit);
    } else {
      const std::uint64_t num_new = receiver_->Take(channel_);
      if (num_new == 0) return 0;
      num_preempted_ += num_new - 1;
      return 1;
    }
  }

  std::shared_ptr<Receiver> receiver_;
  std::size_t channel_;
  T current_;
  std::uint64_t num_preempted_ = 0;
  bool is_held_ = false;
};

}  // namespace uit
