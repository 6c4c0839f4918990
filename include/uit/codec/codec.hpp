#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <uit/duct/duct.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

/// Turns messages into bytes and back; needed only where a message leaves its process. Stateless.
///
/// - `Size(message) -> size_t`: how many bytes Encode writes.
/// - `Encode(message, to)`: writes them at the head of `to`, which has room.
/// - `TryDecode(from, into) -> bool`: reads a message from all of `from`. False: the bytes are no
///   message, and `into` is still a valid value. Never reads beyond `from`, nor allocates more than
///   in proportion to it, whatever the bytes are.
template <typename C, typename T>
concept Codec =
    Message<T> && std::is_empty_v<C> &&
    requires(const C& codec, const T& message, T& into, MutableByteView to, ByteView from) {
      { codec.Size(message) } -> std::same_as<std::size_t>;
      codec.Encode(message, to);
      { codec.TryDecode(from, into) } -> std::same_as<bool>;
    };

/// A codec of which every message takes `fixed_size` bytes, so that it fits a slot.
template <typename C, typename T>
concept FixedSizeCodec = Codec<C, T> && requires {
  { C::fixed_size } -> std::convertible_to<std::size_t>;
};

/// Stands for a codec where a type has none.
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

/// Can leave its process: has a codec.
template <typename T>
concept Encodable = Codec<CodecFor<T>, T>;

/// Can leave its process in a slot of a size known beforehand.
template <typename T>
concept FixedSizeEncodable = FixedSizeCodec<CodecFor<T>, T>;

}  // namespace uit
