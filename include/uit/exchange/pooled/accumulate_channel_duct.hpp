#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <uit/codec/codec.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/duct/duct.hpp>
#include <uit/duct/fold.hpp>
#include <uit/exchange/coded_message.hpp>
#include <uit/exchange/exchange_duct.hpp>
#include <uit/exchange/pooled/pooled_accumulate.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

/// Adds two encoded messages of type `T`. This is the FoldFunction of an exchange, which handles only bytes.
template <typename T>
  requires Foldable<T> && FixedSizeEncodable<T>
bool FoldEncoded(std::byte* into, const std::byte* from) {
  constexpr std::size_t num_bytes = CodecFor<T>::fixed_size;
  T sum{};
  T message{};
  const bool are_messages =
      codec_for<T>.TryDecode({into, num_bytes}, sum) && codec_for<T>.TryDecode({from, num_bytes}, message);
  if (!are_messages || !TryFold(sum, message)) return false;
  codec_for<T>.Encode(sum, {into, num_bytes});
  return true;
}

/// The inlet's end of a channel of an exchange under Retain::accumulate. The exchange's worker only. A put fails only if
/// the sum of the messages waiting to depart would overflow, or if the fabric has closed.
template <typename T>
  requires Foldable<T> && FixedSizeEncodable<T>
class AccumulateInletDuct final : public ExchangeInletDuct<PooledAccumulateSender> {
 public:
  /// Throws if the channel already has an inlet.
  AccumulateInletDuct(std::shared_ptr<PooledAccumulateSender> sender, std::size_t channel)
      : ExchangeInletDuct(std::move(sender), channel) {}

  /// Adds the message to the channel's sum, which departs with the pool. Returns false if the message was not accepted.
  bool TryPut(const T& message) { return TryCarry(message, 1); }
  /// The same; encoding does not move from the message.
  bool TryPut(T&& message) { return TryCarry(message, 1); }
  /// Adds a sum of `num_messages` messages. Returns false if it was not accepted.
  bool TryCarry(const T& sum, std::uint64_t num_messages) {
    if (!sender_->IsOpen()) [[unlikely]]
      return false;
    std::array<std::byte, CodecFor<T>::fixed_size> encoded;
    codec_for<T>.Encode(sum, encoded);
    if (sender_->TryFold(channel_, encoded.data(), num_messages)) return true;
    if (is_held_) return false;
    sender_->Poll();  // room for a frame may have appeared, and then room for the sum
    sender_->TryFlush();
    return sender_->TryFold(channel_, encoded.data(), num_messages);
  }
};

/// The outlet's end of a channel of an exchange under Retain::accumulate. The exchange's worker only.
template <typename T>
  requires Foldable<T> && FixedSizeEncodable<T>
class AccumulateOutletDuct final : public ExchangeOutletDuct<PooledAccumulateReceiver, T> {
  using Base = ExchangeOutletDuct<PooledAccumulateReceiver, T>;

 public:
  /// Throws if the channel already has an outlet.
  AccumulateOutletDuct(std::shared_ptr<PooledAccumulateReceiver> receiver, std::size_t channel, T initial)
      : Base(std::move(receiver), channel, std::move(initial)) {}

  /// Takes the sum of all messages that have arrived and returns 1. If none have arrived, sets the current message to
  /// `T{}` and returns 0. Polls if nothing has arrived. Never waits. Messages that would make the sum overflow stay for
  /// the next step.
  std::size_t TryStep([[maybe_unused]] std::size_t limit) {
    UIT_ASSERT(limit > 0, "a step needs a limit");
    if (!is_held_) receiver_->Pull();
    std::uint64_t count = Take();
    if (count == 0 && !is_held_) {
      receiver_->Poll();
      if (receiver_->Pull()) count = Take();
    }
    if (!is_held_) {
      receiver_->ReportIfDue();
      if (count == 0) receiver_->ReportIfIdle();
    }
    if (count == 0) {
      current_ = T{};
      return 0;
    }
    num_folded_ += count - 1;
    return 1;
  }

  /// Returns the number of messages merged into another: per step, all except one.
  std::uint64_t NumFolded() const { return num_folded_; }
  /// Returns the number of messages that have arrived and wait.
  std::uint64_t NumUnread() const { return receiver_->NumUnread(channel_); }
  /// Calls `visit(sum)` for each sum that has arrived and waits, in order; more than one only where they would overflow together.
  template <std::invocable<const T&> F>
  void ForEachUnread(F&& visit) const {
    receiver_->ForEachUnread(channel_, [&visit](const std::byte* encoded) {
      T sum{};
      DecodeOrRefuse({encoded, CodecFor<T>::fixed_size}, sum);
      visit(sum);
    });
  }

 private:
  using Base::channel_;
  using Base::current_;
  using Base::is_held_;
  using Base::receiver_;

  std::uint64_t Take() {
    std::array<std::byte, CodecFor<T>::fixed_size> encoded;
    const std::uint64_t count = receiver_->Take(channel_, encoded.data());
    if (count != 0) DecodeOrRefuse(encoded, current_);
    return count;
  }

  std::uint64_t num_folded_ = 0;
};

static_assert(InletDuct<AccumulateInletDuct<int>, int> && OutletDuct<AccumulateOutletDuct<int>, int>);

}  // namespace uit
