#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include <uit/codec/codec.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace uit {

/// Encodes a message of fixed size into a slot that may hold an earlier one. If the codec throws, that one stays intact.
template <FixedSizeEncodable T>
UIT_INLINE void EncodeWhole(const T& message, std::byte* slot) {
  constexpr std::size_t num_bytes = CodecFor<T>::fixed_size;
  if constexpr (is_copied_as_is<T>) {
    codec_for<T>.Encode(message, {slot, num_bytes});
  } else {
    std::array<std::byte, num_bytes> encoded;
    codec_for<T>.Encode(message, encoded);
    std::memcpy(slot, encoded.data(), num_bytes);
  }
}

/// Throws the error for a message that its codec does not take.
[[noreturn]] UIT_NOINLINE inline void RefuseMessage(std::size_t num_bytes) {
  throw Error("a peer has sent " + std::to_string(num_bytes) + " bytes that its codec cannot decode");
}

/// Decodes a message. Throws Error if the bytes are none.
template <Encodable T>
UIT_INLINE void DecodeOrRefuse(ByteView bytes, T& into) {
  if (!codec_for<T>.TryDecode(bytes, into)) [[unlikely]] RefuseMessage(bytes.size());
}

}  // namespace uit
