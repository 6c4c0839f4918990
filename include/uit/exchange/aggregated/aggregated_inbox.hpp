#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <uit/config.hpp>
#include <uit/exchange/aggregated/aggregated_frame.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

/// The messages that have arrived on a channel of an aggregated exchange and wait. The exchange's worker only.
///
/// `message_bytes` is the size of every message, or 0 if sizes vary. If all messages have one size, the number of waiting
/// bytes tells how far the outlet has stepped. A step takes the fast path if it triggers no report: it then only moves
/// one pointer.
struct AggregatedInbox {
  ByteQueue bytes{};                     ///< the messages; if sizes vary, each behind its length
  const std::byte* fast_end = nullptr;  ///< if all have one size: steps that begin before it take the fast path
  std::uint64_t fast_until = 0;         ///< if sizes vary: steps take the fast path until num_taken reaches it
  std::uint64_t num_taken = 0;           ///< if sizes vary: messages stepped past
  std::uint64_t num_arrived = 0;         ///< messages arrived since the exchange began
  std::uint64_t num_reported = 0;        ///< messages stepped past and reported
  std::uint64_t report_at = 0;           ///< the number of messages stepped past that makes a report due

  /// Returns the number of messages stepped past.
  UIT_INLINE std::uint64_t NumStepped(std::size_t message_bytes) const {
    return message_bytes == 0 ? num_taken : num_arrived - bytes.NumBytes() / message_bytes;
  }
  /// Returns the number of messages that wait.
  UIT_INLINE std::uint64_t NumUnread(std::size_t message_bytes) const {
    return message_bytes == 0 ? num_arrived - num_taken : bytes.NumBytes() / message_bytes;
  }
  /// Whether the next step takes the fast path. If so, a message waits.
  template <std::size_t message_bytes>
  UIT_INLINE bool IsFast() const {
    return message_bytes == 0 ? num_taken < fast_until : bytes.Head() < fast_end;
  }
  /// Returns how many steps in a row take the fast path, if all messages have the same size.
  template <std::size_t message_bytes>
  UIT_INLINE std::size_t NumFast() const {
    return IsFast<message_bytes>() ? static_cast<std::size_t>(fast_end - bytes.Head()) / message_bytes : 0;
  }
  /// Lets the next `count` steps take the fast path. At least as many messages must wait.
  UIT_INLINE void SetFast(std::uint64_t count, std::size_t message_bytes) {
    fast_end = bytes.Head() + count * message_bytes;
    fast_until = num_taken + count;
  }
  /// Makes the next step take the slow path.
  UIT_INLINE void ClearFast() { SetFast(0, 0); }
  /// Moves past the next message and returns its bytes; a message must wait. The size is `message_bytes`, or, if that is
  /// 0, the length stored before the message. The bytes stay valid until more messages arrive.
  template <std::size_t message_bytes>
  UIT_INLINE ByteView Take() {
    std::size_t num_bytes = message_bytes;
    if constexpr (message_bytes == 0) {
      // Lengths were right when the message arrived, but a peer may change lent bytes since.
      MessageLength length = 0;
      if (bytes.NumBytes() >= sizeof length) [[likely]] {
        std::memcpy(&length, bytes.Head(), sizeof length);
        bytes.Drop(sizeof length);
      }
      num_bytes = length < bytes.NumBytes() ? static_cast<std::size_t>(length) : bytes.NumBytes();
    }
    const ByteView message{bytes.Head(), num_bytes};
    bytes.Drop(num_bytes);
    if constexpr (message_bytes == 0) {
      if (++num_taken == num_arrived) bytes.Drop(bytes.NumBytes());
    }
    return message;
  }
  /// Moves past `count` messages, which must wait.
  template <std::size_t message_bytes>
  void Skip(std::uint64_t count) {
    if constexpr (message_bytes != 0) bytes.Drop(count * message_bytes);
    else for (; count != 0; --count) Take<0>();
  }
};

}  // namespace uit
