#pragma once

#include <concepts>
#include <cstddef>

#include <uit/codec/codec.hpp>
#include <uit/config.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

/// Copies the bytes of the object. Both programs must be built alike and run on the same kind of machine.
template <Message T>
  requires TriviallyCopyable<T>
struct TrivialCodec {
  /// The size of the object, in bytes.
  static constexpr std::size_t fixed_size = sizeof(T);

  /// Returns fixed_size.
  UIT_INLINE constexpr std::size_t Size(const T&) const { return fixed_size; }
  /// Copies the object's bytes.
  UIT_INLINE void Encode(const T& message, MutableByteView to) const { StoreBytes(message, to); }
  /// Copies the bytes back. False if `from` has another number of bytes.
  UIT_INLINE bool TryDecode(ByteView from, T& into) const {
    if (from.size() != fixed_size) return false;
    LoadBytes(into, from);
    return true;
  }
};

/// The default codec of types that equal their bytes.
template <Message T>
  requires TriviallyCopyable<T>
inline constexpr TrivialCodec<T> codec_for<T>{};

static_assert(FixedSizeEncodable<int>);

/// Whether a message is encoded as a copy of its bytes, so that several in a row can be copied at once.
template <Encodable T>
inline constexpr bool is_copied_as_is = [] {
  if constexpr (TriviallyCopyable<T>) return std::same_as<CodecFor<T>, TrivialCodec<T>>;
  return false;
}();

}  // namespace uit
