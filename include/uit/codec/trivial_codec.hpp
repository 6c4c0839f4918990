#pragma once

#include <cstddef>

#include <uit/codec/codec.hpp>
#include <uit/config.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

/// Copies the object's own bytes: between programs built alike, on machines of one kind.
template <Message T>
  requires TriviallyCopyable<T>
struct TrivialCodec {
  /// That of the object.
  static constexpr std::size_t fixed_size = sizeof(T);

  /// The fixed size.
  UIT_INLINE constexpr std::size_t Size(const T&) const { return fixed_size; }
  /// Copies the object's bytes.
  UIT_INLINE void Encode(const T& message, MutableByteView to) const { StoreBytes(message, to); }
  /// Copies them back; false for any other number of bytes.
  UIT_INLINE bool TryDecode(ByteView from, T& into) const {
    if (from.size() != fixed_size) return false;
    LoadBytes(into, from);
    return true;
  }
};

/// Whatever equals its bytes travels as them.
template <Message T>
  requires TriviallyCopyable<T>
inline constexpr TrivialCodec<T> codec_for<T>{};

static_assert(FixedSizeEncodable<int>);

}  // namespace uit
