#pragma once

#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

#include <uit/codec/codec.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/duct/duct.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

namespace detail {

template <typename T>
using ElementOf = std::iter_value_t<decltype(std::begin(std::declval<T&>()))>;

}  // namespace detail

/// A resizable contiguous range whose elements equal their bytes: std::vector<E>, std::basic_string<E> and similar types.
/// Without `<ranges>`, which would be a twentieth of all that a user compiles.
template <typename T>
concept ResizableSpan = !TriviallyCopyable<T> && requires(T& range, std::size_t count) {
  { std::begin(range) } -> std::contiguous_iterator;
  { std::end(range) } -> std::sized_sentinel_for<decltype(std::begin(range))>;
  range.resize(count);
} && TriviallyCopyable<detail::ElementOf<T>>;

/// Copies the bytes of the elements. Both programs must be built alike and run on the same kind of machine.
template <Message T>
  requires ResizableSpan<T>
struct SpanCodec {
  /// Bytes per element.
  static constexpr std::size_t element_bytes = sizeof(detail::ElementOf<T>);

  /// Bytes of all elements together.
  std::size_t Size(const T& message) const {
    return static_cast<std::size_t>(std::end(message) - std::begin(message)) * element_bytes;
  }
  /// Copies the elements.
  void Encode(const T& message, MutableByteView to) const {
    if (const std::size_t num_bytes = Size(message); num_bytes != 0)
      std::memcpy(to.data(), std::to_address(std::begin(message)), num_bytes);
  }
  /// Copies the elements back; the number of bytes gives their number. If bytes are left over, changes nothing and returns
  /// false. Allocates only if `into` has never been as large.
  bool TryDecode(ByteView from, T& into) const {
    if (from.size() % element_bytes != 0) return false;
    into.resize(from.size() / element_bytes);
    if (!from.empty()) std::memcpy(static_cast<void*>(std::to_address(std::begin(into))), from.data(), from.size());
    return true;
  }
};

/// The default codec of such ranges.
template <Message T>
  requires ResizableSpan<T>
inline constexpr SpanCodec<T> codec_for<T>{};

}  // namespace uit
