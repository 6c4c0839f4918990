#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <uit/config.hpp>
#include <uit/exchange/aggregated/aggregated_frame.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

/// What has arrived on a channel of an aggregated exchange and waits. The exchange's worker only.
///
/// Functions are told the size of every message, or 0 if each has its own. Where all have one size the bytes that wait
/// tell how far the outlet has come. A step is light if nobody but the outlet need know of it: it moves one pointer.
struct AggregatedInbox {
  ByteQueue bytes{};                     ///< the messages, each behind its length if that is its own
  const std::byte* light_end = nullptr;  ///< if all have one size: steps that begin before it are light
  std::uint64_t light_until = 0;         ///< if each has its own: steps are light until so many messages are taken
  std::uint64_t num_taken = 0;           ///< if each has its own: messages stepped past
  std::uint64_t num_arrived = 0;         ///< messages
  std::uint64_t num_reported = 0;        ///< of those stepped past
  std::uint64_t report_at = 0;           ///< a step to that many makes a report due

  /// Messages stepped past.
  UIT_INLINE std::uint64_t NumStepped(std::size_t message_bytes) const {
    return message_bytes == 0 ? num_taken : num_arrived - bytes.NumBytes() / message_bytes;
  }
  /// Messages that wait.
  UIT_INLINE std::uint64_t NumUnread(std::size_t message_bytes) const {
    return message_bytes == 0 ? num_arrived - num_taken : bytes.NumBytes() / message_bytes;
  }
  /// Whether the next step is light; then a message waits.
  template <std::size_t message_bytes>
  UIT_INLINE bool HasLight() const {
    return message_bytes == 0 ? num_taken < light_until : bytes.Head() < light_end;
  }
  /// So many steps from here on are light; as many messages wait.
  UIT_INLINE void SetLight(std::uint64_t count, std::size_t message_bytes) {
    light_end = bytes.Head() + count * message_bytes;
    light_until = num_taken + count;
  }
  /// The next step is not light.
  UIT_INLINE void ClearLight() { SetLight(0, 0); }
  /// Moves past the next message, which waits, and gives its bytes: `message_bytes` of them, or, if that is 0, as many
  /// as its length says. They stay put until more arrives.
  template <std::size_t message_bytes>
  UIT_INLINE ByteView Take() {
    std::size_t num_bytes = message_bytes;
    if constexpr (message_bytes == 0) {
      MessageLength length = 0;
      std::memcpy(&length, bytes.Head(), sizeof length);
      bytes.Drop(sizeof length);
      num_bytes = length;
    }
    const ByteView message{bytes.Head(), num_bytes};
    bytes.Drop(num_bytes);
    if constexpr (message_bytes == 0) ++num_taken;
    return message;
  }
  /// Moves past messages that wait.
  template <std::size_t message_bytes>
  void Skip(std::uint64_t count) {
    if constexpr (message_bytes != 0) bytes.Drop(count * message_bytes);
    else for (; count != 0; --count) Take<0>();
  }
};

}  // namespace uit
