#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/support/ref.hpp>

namespace uit {

/// The inlet's end of a channel, common to all exchanges: refers to the sending half that several inlets share. The
/// exchange's worker only.
template <std::derived_from<ExchangeHalf> S>
class ExchangeInletDuct : public RefCounted {
 public:
  /// The half of the exchange that the inlets share.
  using Sender = S;
  /// Waiting for the other end may help.
  static constexpr bool in_thread = false;

  /// Moves frames, and sends the pool's frame if it is due. Never waits. Returns whether anything arrived.
  bool Poll() { return sender_->Poll(); }
  /// Sends what the exchange's inlets have put. Returns false if some of it has not left this process yet; then call again.
  bool TryFlush() {
    if (sender_->TryFlush()) return sender_->TryEmpty();
    sender_->Poll();  // a report of room may arrive
    return sender_->TryFlush() && sender_->TryEmpty();
  }
  /// Whether no room can appear any more, because the fabric has closed or the peer process is known to have ended.
  bool IsClosed() const { return !sender_->IsOpen() || sender_->IsPeerGone(); }
  /// While held, a put does not poll, and room appears only when the owner of the exchange reads the peer's report.
  void HoldInlet(bool hold) { is_held_ = hold; }
  /// Whether waiting for room is of no use.
  bool IsInletHeld() const { return is_held_; }
  /// Returns the half that this channel belongs to; for the owner of the exchange.
  const std::shared_ptr<Sender>& Exchange() const { return sender_; }

 protected:
  /// Throws if the channel already has an inlet.
  ExchangeInletDuct(std::shared_ptr<Sender> sender, std::size_t channel)
      : sender_(std::move(sender)), channel_(static_cast<std::uint32_t>(channel)) {
    sender_->Claim(channel);
  }
  ~ExchangeInletDuct() { sender_->Yield(channel_); }

  std::shared_ptr<Sender> sender_;  ///< shared with the other inlets
  std::uint32_t channel_;           ///< the inlet's number in it
  bool is_held_ = false;            ///< see HoldInlet
};

/// The outlet's end of a channel, common to all exchanges: refers to the receiving half that several outlets share, and
/// keeps one decoded message of its own. The exchange's worker only.
template <std::derived_from<ReceivingHalf> R, Message T>
class ExchangeOutletDuct : public RefCounted {
 public:
  /// The half of the exchange that the outlets share.
  using Receiver = R;
  /// Waiting for the other end may help.
  static constexpr bool in_thread = false;

  /// Returns the message last stepped to, or the initial one. The reference is valid until the next step that succeeds.
  UIT_INLINE const T& Get() const { return current_; }
  /// The same; the caller may move from it.
  UIT_INLINE T& Get() { return current_; }
  /// While held, a step only sees the messages that the owner of the exchange has pulled.
  void HoldOutlet(bool hold) { is_held_ = hold; }
  /// Moves frames if the peer is another process. Never waits. Returns whether anything arrived.
  bool Poll() { return receiver_->Poll(); }
  /// Whether no more messages can arrive, because the fabric has closed or the peer process is known to have ended.
  /// Messages that have arrived can still be stepped to.
  bool IsClosed() const { return !receiver_->IsOpen() || receiver_->IsPeerGone(); }
  /// Returns the half that this channel belongs to; for the owner of the exchange.
  const std::shared_ptr<Receiver>& Exchange() const { return receiver_; }

 protected:
  /// Throws if the channel already has an outlet.
  ExchangeOutletDuct(std::shared_ptr<Receiver> receiver, std::size_t channel, T initial)
      : receiver_(std::move(receiver)), channel_(channel), current_(std::move(initial)) {
    receiver_->Claim(channel_);
  }
  ~ExchangeOutletDuct() { receiver_->Yield(channel_); }

  std::shared_ptr<Receiver> receiver_;  ///< shared with the other outlets
  std::size_t channel_;                 ///< the outlet's number in it
  T current_;                           ///< see Get
  bool is_held_ = false;                ///< see HoldOutlet
};

}  // namespace uit
