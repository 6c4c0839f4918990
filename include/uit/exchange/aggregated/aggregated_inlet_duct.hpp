#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <uit/codec/codec.hpp>
#include <uit/codec/span_codec.hpp>
#include <uit/codec/span_loan.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/exchange/aggregated/aggregated_every.hpp>
#include <uit/exchange/aggregated/aggregated_latest.hpp>
#include <uit/exchange/coded_message.hpp>
#include <uit/exchange/exchange_duct.hpp>
#include <uit/policy.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace uit {

/// Encoded size of every `T`; 0 if sizes vary.
template <Encodable T>
inline constexpr std::size_t encoded_bytes = [] {
  if constexpr (FixedSizeEncodable<T>) return static_cast<std::size_t>(CodecFor<T>::fixed_size);
  return std::size_t{0};
}();

/// The inlets' half of an aggregated exchange.
template <Retain retain>
using AggregatedSender = std::conditional_t<retain == Retain::latest, AggregatedLatestSender, AggregatedEverySender>;
/// The inlet's end of a channel of an aggregated exchange. The exchange's worker only.
///
/// Under Retain::every, a message is encoded directly into the frame that departs. Under Retain::latest, it is encoded
/// into a slot, and copied once when a frame departs. If frames are not shared (Consolidate::none), every put is flushed.
template <Encodable T, Policy policy>
  requires(policy.retain == Retain::every || policy.retain == Retain::latest)
class AggregatedInletDuct final : public ExchangeInletDuct<AggregatedSender<policy.retain>> {
  using Base = ExchangeInletDuct<AggregatedSender<policy.retain>>;

 public:
  /// The half of the exchange that the inlets share.
  using Sender = AggregatedSender<policy.retain>;
  /// Whether a put may throw MessageTooLarge.
  static constexpr bool refuses_large = encoded_bytes<T> == 0;

  /// Throws if the channel already has an inlet.
  AggregatedInletDuct(std::shared_ptr<Sender> sender, std::size_t channel) : Base(std::move(sender), channel) {}

  /// Encodes the message. Returns false if it was not accepted: the window is full, the peer has no room for a full
  /// frame, or the fabric has closed. Throws MessageTooLarge, and any exception of the codec; then nothing has changed.
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
  /// The same for messages in a row, from the first on, until one is not accepted. Returns how many were.
  std::size_t TryStageSome(std::span<const T> messages)
    requires(policy.retain == Retain::every && policy.consolidate != Consolidate::none && is_copied_as_is<T>)
  {
    std::size_t count = 0;
    while (count < messages.size()) {
      const std::size_t num_fitting = std::min(messages.size() - count, sender_->template NumFitting<sizeof(T)>(channel_));
      if (num_fitting == 0) {
        if (!TryPut(messages[count])) break;
        ++count;
      } else {
        std::byte* const to = sender_->Next();
        std::memcpy(to, messages.data() + count, num_fitting * sizeof(T));
        sender_->template Commit<sizeof(T)>(to + num_fitting * sizeof(T));
        count += num_fitting;
      }
    }
    return count;
  }
  /// As the other; encoding does not move from the message.
  UIT_INLINE bool TryPut(T&& message) { return TryPut(std::as_const(message)); }

  /// Lends memory in the frame of the next message, see Inlet. Throws MessageTooLarge.
  auto TryLoan(std::size_t num_elements)
    requires LoanableUnder<T, policy>
  {
    using Element = detail::LoanElement<T>;
    const std::size_t num_bytes = CheckSize(detail::BytesOfElements<Element>(num_elements)) + sizeof(MessageLength);
    std::optional<std::span<Element>> room;
    std::byte* to = sender_->TryReserveFrame(channel_, num_bytes);
    if (to == nullptr && !is_held_) {
      sender_->Poll();
      to = sender_->TryReserveFrame(channel_, num_bytes);
    }
    if (to != nullptr) room.emplace(reinterpret_cast<Element*>(to + sizeof(MessageLength)), num_elements);
    return room;
  }
  /// Sends the elements if they are lent. Returns false if not.
  bool PutLoan(std::span<detail::LoanElement<T>> elements)
    requires LoanableUnder<T, policy>
  {
    std::byte* const to = sender_->Next();
    const std::size_t num_bytes = sizeof(MessageLength) + elements.size_bytes();
    if (to == nullptr || to + sizeof(MessageLength) != reinterpret_cast<std::byte*>(elements.data())) return false;
    if (!sender_->template HasRoom<0>(channel_, num_bytes) || !sender_->IsOpen()) return false;
    const MessageLength length = elements.size_bytes();
    std::memcpy(to, &length, sizeof length);
    sender_->template Commit<0>(to + num_bytes);
    sender_->TryFlush();
    return true;
  }

  /// Returns the number of messages accepted by the channel since the exchange began.
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
      EncodeWhole(message, sender_->Slot(channel_));
      sender_->Commit(channel_);
    } else {  // encodes beside the waiting message, because encoding may throw
      const std::size_t num_bytes = SizeOf(message);
      codec_for<T>.Encode(message, {sender_->SpareSlot(num_bytes), num_bytes});
      sender_->CommitSpare(channel_);
    }
  }
  std::size_t SizeOf(const T& message) const {
    return CheckSize(codec_for<T>.Size(message));
  }
  std::size_t CheckSize(std::size_t num_bytes) const {
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

}  // namespace uit
