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

/// What the inlet's side of a channel is in every exchange: a place in the half that inlets share. The exchange's
/// worker only.
template <std::derived_from<ExchangeHalf> S>
class ExchangeInletDuct : public RefCounted {
 public:
  /// The half of the exchange that the inlets share.
  using Sender = S;
  /// Waiting may help.
  static constexpr bool in_thread = false;

  /// Lets frames move, and one departs if it is due. Never waits. Returns whether anything arrived.
  bool Poll() { return sender_->Poll(); }
  /// Whether nobody will make room any more: the fabric has closed, or the peer was found to have ended.
  bool IsClosed() const { return !sender_->IsOpen() || sender_->IsPeerGone(); }
  /// While held, a put does not poll: the exchange's owner does.
  void HoldInlet(bool hold) { is_held_ = hold; }
  /// Whether room comes only when the exchange's owner refreshes it.
  bool IsInletHeld() const {
    if constexpr (requires { sender_->IsHeld(); }) return sender_->IsHeld();
    else return false;
  }
  /// The half that this channel belongs to; for the exchange's owner.
  const std::shared_ptr<Sender>& Exchange() const { return sender_; }

 protected:
  /// Throws if the channel has an inlet.
  ExchangeInletDuct(std::shared_ptr<Sender> sender, std::size_t channel)
      : sender_(std::move(sender)), channel_(static_cast<std::uint32_t>(channel)) {
    sender_->Claim(channel);
  }
  ~ExchangeInletDuct() { sender_->Yield(channel_); }

  std::shared_ptr<Sender> sender_;  ///< shared with the other inlets
  std::uint32_t channel_;           ///< the inlet's place in it
  bool is_held_ = false;            ///< see HoldInlet
};

/// What the outlet's side of a channel is in every exchange: a place in the half that outlets share, and a message of
/// its own, which a step decodes into. The exchange's worker only.
template <std::derived_from<ReceivingHalf> R, Message T>
class ExchangeOutletDuct : public RefCounted {
 public:
  /// The half of the exchange that the outlets share.
  using Receiver = R;
  /// Waiting may help.
  static constexpr bool in_thread = false;

  /// The message last stepped to, or the initial one. Stays put until the next step that succeeds.
  UIT_INLINE const T& Get() const { return current_; }
  /// The same, to be moved out of.
  UIT_INLINE T& Get() { return current_; }
  /// While held, only what the exchange's owner has pulled is stepped to.
  void HoldOutlet(bool hold) { is_held_ = hold; }
  /// Lets frames move, if the peer is another process. Never waits. Returns whether anything arrived.
  bool Poll() { return receiver_->Poll(); }
  /// Whether no more will come: the fabric has closed, or the peer was found to have ended. What has arrived can still be
  /// stepped to.
  bool IsClosed() const { return !receiver_->IsOpen() || receiver_->IsPeerGone(); }
  /// The half that this channel belongs to; for the exchange's owner.
  const std::shared_ptr<Receiver>& Exchange() const { return receiver_; }

 protected:
  /// Throws if the channel has an outlet.
  ExchangeOutletDuct(std::shared_ptr<Receiver> receiver, std::size_t channel, T initial)
      : receiver_(std::move(receiver)), channel_(channel), current_(std::move(initial)) {
    receiver_->Claim(channel_);
  }
  ~ExchangeOutletDuct() { receiver_->Yield(channel_); }

  std::shared_ptr<Receiver> receiver_;  ///< shared with the other outlets
  std::size_t channel_;                 ///< the outlet's place in it
  T current_;                           ///< see Get
  bool is_held_ = false;                ///< see HoldOutlet
};

}  // namespace uit
