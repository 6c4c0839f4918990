#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
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
#include <uit/exchange/aggregated/aggregated_inlet_duct.hpp>
#include <uit/exchange/aggregated/aggregated_latest.hpp>
#include <uit/exchange/coded_message.hpp>
#include <uit/exchange/exchange_duct.hpp>
#include <uit/policy.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace uit {

/// The outlets' half of an aggregated exchange.
template <Retain retain>
using AggregatedReceiver =
    std::conditional_t<retain == Retain::latest, AggregatedLatestReceiver, AggregatedEveryReceiver>;

/// The outlet's end of a channel of an aggregated exchange. A step decodes into a message of the duct's own. The
/// exchange's worker only.
///
/// Under Retain::every, a step decodes directly from the frame if the frame contains a single channel and nothing else
/// waits in that channel. In all other cases, the bytes of the frame are copied once to the channel's own bytes, and
/// decoded from there.
template <Encodable T, Policy policy>
  requires(policy.retain == Retain::every || policy.retain == Retain::latest)
class AggregatedOutletDuct final : public ExchangeOutletDuct<AggregatedReceiver<policy.retain>, T> {
  using Base = ExchangeOutletDuct<AggregatedReceiver<policy.retain>, T>;

 public:
  /// Throws if the channel already has an outlet.
  AggregatedOutletDuct(std::shared_ptr<AggregatedReceiver<policy.retain>> receiver, std::size_t channel, T initial)
      : Base(std::move(receiver), channel, std::move(initial)) {
    if constexpr (keeps_every) inbox_ = &receiver_->Inbox(channel_);
  }

  /// Moves past up to `limit` (at least 1) messages and decodes the last. Returns how many; at most 1 under
  /// Retain::latest. Polls if nothing has arrived. Never waits. Throws if the codec rejects the bytes; the step has then
  /// moved past them.
  UIT_INLINE std::size_t TryStep(std::size_t limit) {
    UIT_ASSERT(limit > 0, "a step needs a limit");
    if constexpr (keeps_every) {
      if (limit == 1 && inbox_->template IsFast<encoded_bytes<T>>()) [[likely]] {
        DecodeOrRefuse(inbox_->template Take<encoded_bytes<T>>(), current_);
        return 1;
      }
    }
    ByteView message;
    const std::size_t count = StepFar(limit, message);
    if (count != 0) DecodeOrRefuse(message, current_);
    return count;
  }
  /// Makes steps of one message each, and copies the messages, until `messages` is full or no other has arrived. Returns how many.
  std::size_t TryTakeSome(std::span<T> messages)
    requires(policy.retain == Retain::every && is_copied_as_is<T>)
  {
    std::size_t count = 0;
    while (count < messages.size()) {
      const std::size_t num_fast = std::min(messages.size() - count, inbox_->template NumFast<sizeof(T)>());
      if (num_fast == 0) {
        if (TryStep(1) == 0) break;
        messages[count++] = current_;
      } else {
        std::memcpy(messages.data() + count, inbox_->bytes.Head(), num_fast * sizeof(T));
        inbox_->bytes.Drop(num_fast * sizeof(T));
        count += num_fast;
      }
    }
    if (count != 0) current_ = messages[count - 1];
    return count;
  }
  /// Moves past the next message, if one has arrived, and passes its elements to `use`, where they lie. Returns whether one had.
  /// Throws if the message has another size.
  template <std::invocable<std::span<const detail::LoanElement<T>>> F>
    requires LoanableUnder<T, policy>
  bool TryRead(F&& use) {
    using Element = detail::LoanElement<T>;
    ByteView message;
    if (inbox_->template IsFast<0>()) message = inbox_->template Take<0>();
    else if (StepFar(1, message) == 0) return false;
    // Behind a message of another size, the elements may not be aligned.
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(message.data()) % alignof(Element) == 0;
    if (message.size() % sizeof(Element) != 0 || !is_aligned) [[unlikely]]
      RefuseMessage(message.size());
    use(std::span{reinterpret_cast<const Element*>(message.data()), message.size() / sizeof(Element)});
    return true;
  }

  /// Returns the number of messages stepped to or skipped so far. Under Retain::every this includes those of earlier
  /// outlets of the channel.
  std::uint64_t NumPassed() const {
    if constexpr (keeps_every) return inbox_->NumStepped(encoded_bytes<T>);
    return num_passed_;
  }
  /// Returns the number of messages that a newer one replaced before a step saw them.
  std::uint64_t NumPreempted() const { return num_preempted_; }
  /// Returns the number of messages that have arrived and wait.
  std::uint64_t NumUnread() const {
    if constexpr (keeps_every) return inbox_->NumUnread(encoded_bytes<T>);
    else return receiver_->NumUnread(channel_);
  }
  /// Calls `visit(message)` for each message that has arrived and waits, in order. Throws if the codec rejects one.
  template <std::invocable<const T&> F>
  void ForEachUnread(F&& visit) const {
    const auto visit_encoded = [&visit](ByteView encoded) {
      T message{};
      DecodeOrRefuse(encoded, message);
      visit(message);
    };
    if constexpr (keeps_every) {
      ByteReader reader{{inbox_->bytes.Head(), inbox_->bytes.NumBytes()}};
      for (std::uint64_t count = NumUnread(); count != 0; --count) {
        MessageLength length = encoded_bytes<T>;
        ByteView encoded;
        if ((encoded_bytes<T> == 0 && !reader.TryRead(length)) || !reader.TryTake(length, encoded)) return;
        visit_encoded(encoded);
      }
    } else if (NumUnread() != 0) {
      visit_encoded(receiver_->Newest(channel_));
    }
  }
  /// While held, a step only sees the messages that the owner of the exchange has pulled.
  void HoldOutlet(bool hold) {
    Base::HoldOutlet(hold);
    if constexpr (keeps_every) inbox_->ClearFast();  // a report may be waiting
  }

 private:
  using Base::channel_;
  using Base::current_;
  using Base::is_held_;
  using Base::receiver_;
  static constexpr bool keeps_every = policy.retain == Retain::every;
  static constexpr std::size_t poll_bytes = 8192;  // between two polls: enough for a poll to cost little beside them

  /// The slow path of a step: pulls frames if needed, skips messages, and reports. `message` becomes the last one passed.
  UIT_NOINLINE std::size_t StepFar(std::size_t limit, ByteView& message) {
    // Another poll may have brought more.
    if (!is_held_ && (!keeps_every || NumUnread() < limit)) Pull(limit);
    std::size_t count = Take(limit, message);
    if (count == 0 && !is_held_) {
      receiver_->Poll();
      Pull(limit);
      count = Take(limit, message);
    }
    if (!is_held_) {
      receiver_->ReportIfDue();
      if (count == 0) receiver_->ReportIfIdle();
    }
    if constexpr (keeps_every) receiver_->OpenFastPath(*inbox_, encoded_bytes<T>, is_held_);
    return count;
  }
  /// A step with a limit of 1 pulls one frame at a time: the frame stays in the cache, and others arrive while it is
  /// read.
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
  std::size_t Take(std::size_t limit, ByteView& message) {
    if constexpr (keeps_every) {
      const std::uint64_t num_waiting = NumUnread();
      const std::uint64_t count = num_waiting < limit ? num_waiting : limit;
      if (count == 0) return 0;
      inbox_->template Skip<encoded_bytes<T>>(count - 1);
      message = inbox_->template Take<encoded_bytes<T>>();
      receiver_->NoteStep(*inbox_, encoded_bytes<T>);
      return static_cast<std::size_t>(count);
    } else {
      const std::uint64_t num_new = receiver_->Take(channel_);
      if (num_new == 0) return 0;
      num_preempted_ += num_new - 1;
      ++num_passed_;
      message = receiver_->Newest(channel_);
      return 1;
    }
  }
  AggregatedInbox* inbox_ = nullptr;  // null under Retain::latest
  std::uint64_t num_passed_ = 0;      // only under Retain::latest
  std::uint64_t num_preempted_ = 0;
};

}  // namespace uit
