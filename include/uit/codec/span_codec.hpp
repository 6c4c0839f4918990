#pragma once

#include <cstddef>
#include <cstring>
#include <ranges>

#include <uit/codec/codec.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/duct/duct.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

/// A resizable contiguous range whose elements equal their bytes: std::vector<E>, std::basic_string<E> and similar types.
template <typename T>
concept ResizableSpan = std::ranges::contiguous_range<T> && std::ranges::sized_range<T> && !TriviallyCopyable<T> &&
                        TriviallyCopyable<std::ranges::range_value_t<T>> &&
                        requires(T& range, std::size_t count) { range.resize(count); };

/// Copies the bytes of the elements. Both programs must be built alike and run on the same kind of machine.
template <Message T>
  requires ResizableSpan<T>
struct SpanCodec {
  /// Bytes per element.
  static constexpr std::size_t element_bytes = sizeof(std::ranges::range_value_t<T>);

  /// Bytes of all elements together.
  std::size_t Size(const T& message) const { return std::ranges::size(message) * element_bytes; }
  /// Copies the elements.
  void Encode(const T& message, MutableByteView to) const {
    if (const std::size_t num_bytes = Size(message); num_bytes != 0)
      std::memcpy(to.data(), std::ranges::data(message), num_bytes);
  }
  /// Copies the elements back; the number of bytes gives their number. If bytes are left over, changes nothing and returns
  /// false. Allocates only if `into` has never been as large.
  bool TryDecode(ByteView from, T& into) const {
    if (from.size() % element_bytes != 0) return false;
    into.resize(from.size() / element_bytes);
    if (!from.empty()) std::memcpy(static_cast<void*>(std::ranges::data(into)), from.data(), from.size());
    return true;
  }
};

/// The default codec of such ranges.
template <Message T>
  requires ResizableSpan<T>
inline constexpr SpanCodec<T> codec_for<T>{};

}  // namespace uit
