#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <uit/duct/duct.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

/// Turns messages into bytes and back. Needed only if a message leaves its process. Stateless.
///
/// - `Size(message) -> size_t`: the number of bytes that Encode writes.
/// - `Encode(message, to)`: writes them at the start of `to`, which has room.
/// - `TryDecode(from, into) -> bool`: reads one message from all of `from`. False: the bytes do not encode a message, and
///   `into` is still a valid value. Whatever the bytes are, it never reads beyond `from` and allocates at most in
///   proportion to its size.
template <typename C, typename T>
concept Codec =
    Message<T> && std::is_empty_v<C> &&
    requires(const C& codec, const T& message, T& into, MutableByteView to, ByteView from) {
      { codec.Size(message) } -> std::same_as<std::size_t>;
      codec.Encode(message, to);
      { codec.TryDecode(from, into) } -> std::same_as<bool>;
    };

/// A codec whose messages all take `fixed_size` bytes, so that each fits a slot.
template <typename C, typename T>
concept FixedSizeCodec = Codec<C, T> && requires {
  { C::fixed_size } -> std::convertible_to<std::size_t>;
};

/// The codec of a type that has none.
struct NoCodec {};

/// The codec of `T`. Specialize it for a type of your own:
///
///     template <>
///     inline constexpr GenomeCodec uit::codec_for<Genome>{};
template <typename T>
inline constexpr NoCodec codec_for{};

/// The type of `codec_for<T>`.
template <typename T>
using CodecFor = std::remove_const_t<decltype(codec_for<T>)>;

/// A type that can leave its process, because it has a codec.
template <typename T>
concept Encodable = Codec<CodecFor<T>, T>;

/// A type that can leave its process in a slot of a size fixed in advance.
template <typename T>
concept FixedSizeEncodable = FixedSizeCodec<CodecFor<T>, T>;

}  // namespace uit
