#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <uit/codec/codec.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/duct/duct.hpp>
#include <uit/duct/fold.hpp>
#include <uit/exchange/exchange_duct.hpp>
#include <uit/exchange/pooled/pooled_accumulate.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

/// Adds encoded messages of type `T`: what an exchange, which knows bytes alone, is given. See FoldFunction.
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

/// The inlet's side of a channel of an exchange under Retain::accumulate. The exchange's worker only; a put fails only
/// if the sum of what waits to leave would overflow, or after the fabric has closed.
template <typename T>
  requires Foldable<T> && FixedSizeEncodable<T>
class AccumulateInletDuct final : public ExchangeInletDuct<PooledAccumulateSender> {
 public:
  /// Throws if the channel has an inlet.
  AccumulateInletDuct(std::shared_ptr<PooledAccumulateSender> sender, std::size_t channel)
      : ExchangeInletDuct(std::move(sender), channel) {}

  /// Adds the message to what departs with its pool. False if the message was not taken.
  bool TryPut(const T& message) { return TryCarry(message, 1); }
  /// The same: encoding moves nothing out.
  bool TryPut(T&& message) { return TryCarry(message, 1); }
  /// Adds a sum that stands for `num_messages`. False if it was not taken.
  bool TryCarry(const T& sum, std::uint64_t num_messages) {
    if (!sender_->IsOpen()) [[unlikely]]
      return false;
    std::array<std::byte, CodecFor<T>::fixed_size> encoded;
    codec_for<T>.Encode(sum, encoded);
    if (sender_->TryFold(channel_, encoded.data(), num_messages)) return true;
    if (is_held_) return false;
    sender_->Poll();  // there may be room for a frame, and then for the sum
    sender_->TryFlush();
    return sender_->TryFold(channel_, encoded.data(), num_messages);
  }

  /// Sends what the pool has. False if some of what was put has yet to leave this process; call again.
  bool TryFlush() { return sender_->TryFlush() && sender_->TryEmpty(); }
};

/// The outlet's side of a channel of an exchange under Retain::accumulate. The exchange's worker only.
template <typename T>
  requires Foldable<T> && FixedSizeEncodable<T>
class AccumulateOutletDuct final : public ExchangeOutletDuct<PooledAccumulateReceiver, T> {
  using Base = ExchangeOutletDuct<PooledAccumulateReceiver, T>;

 public:
  /// Throws if the channel has an outlet.
  AccumulateOutletDuct(std::shared_ptr<PooledAccumulateReceiver> receiver, std::size_t channel, T initial)
      : Base(std::move(receiver), channel, std::move(initial)) {}

  /// Takes the sum of all that has arrived: 1; or 0, and Get is `T{}`. Polls if nothing has arrived. Never waits. What
  /// would have made the sum overflow is for the next step.
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

  /// Messages beyond one of each step.
  std::uint64_t NumFolded() const { return num_folded_; }
  /// Messages that have arrived and wait.
  std::uint64_t NumUnread() const { return receiver_->NumUnread(channel_); }

 private:
  using Base::channel_;
  using Base::current_;
  using Base::is_held_;
  using Base::receiver_;

  std::uint64_t Take() {
    std::array<std::byte, CodecFor<T>::fixed_size> encoded;
    const std::uint64_t count = receiver_->Take(channel_, encoded.data());
    if (count != 0) codec_for<T>.TryDecode(encoded, current_);
    return count;
  }

  std::uint64_t num_folded_ = 0;
};

static_assert(InletDuct<AccumulateInletDuct<int>, int> && OutletDuct<AccumulateOutletDuct<int>, int>);

}  // namespace uit
