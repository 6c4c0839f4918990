#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include <uit/config.hpp>
#include <uit/support/assert.hpp>

namespace uit {

/// A view of bytes to read.
using ByteView = std::span<const std::byte>;

/// A view of bytes to write.
using MutableByteView = std::span<std::byte>;

/// A type that equals its bytes: memcpy may copy it, between machines of the same kind.
template <typename V>
concept TriviallyCopyable = std::is_trivially_copyable_v<V> && !std::is_pointer_v<V>;

/// Copies bytes. For 8 or 4 bytes it needs no function call.
UIT_INLINE void CopyBytes(std::byte* to, const std::byte* from, std::size_t num_bytes) {
  if (num_bytes == 8) std::memcpy(to, from, 8);
  else if (num_bytes == 4) std::memcpy(to, from, 4);
  else if (num_bytes != 0) std::memcpy(to, from, num_bytes);
}

/// A view of the bytes of `value`.
template <TriviallyCopyable V>
[[nodiscard]] ByteView BytesOf(const V& value) {
  return std::as_bytes(std::span{std::addressof(value), 1});
}

/// Writes `value` at the start of `to`, at any alignment.
template <TriviallyCopyable V>
void StoreBytes(const V& value, MutableByteView to) {
  UIT_ASSERT(to.size() >= sizeof(V), "a value needs as many bytes as its size");
  std::memcpy(to.data(), std::addressof(value), sizeof(V));
}

/// Reads a value from the start of `from`, at any alignment.
template <TriviallyCopyable V>
void LoadBytes(V& value, ByteView from) {
  UIT_ASSERT(from.size() >= sizeof(V), "a value needs as many bytes as its size");
  std::memcpy(static_cast<void*>(std::addressof(value)), from.data(), sizeof(V));
}

/// Returns the value at the start of `from`, at any alignment.
template <TriviallyCopyable V>
  requires std::is_default_constructible_v<V>
[[nodiscard]] V LoadBytes(ByteView from) {
  V value{};
  LoadBytes(value, from);
  return value;
}

/// Reads one value after another and never beyond the end: for untrusted bytes.
class ByteReader {
 public:
  /// Reads from the start of `bytes`.
  explicit ByteReader(ByteView bytes) : rest_{bytes} {}

  /// Reads the next value. If too few bytes remain, reads nothing and returns false.
  template <TriviallyCopyable V>
  [[nodiscard]] bool TryRead(V& value) {
    if (rest_.size() < sizeof(V)) return false;
    LoadBytes(value, rest_);
    rest_ = rest_.subspan(sizeof(V));
    return true;
  }

  /// Takes a view of the next `num_bytes` bytes. If too few remain, takes nothing and returns false.
  [[nodiscard]] bool TryTake(std::size_t num_bytes, ByteView& taken) {
    if (rest_.size() < num_bytes) return false;
    taken = rest_.first(num_bytes);
    rest_ = rest_.subspan(num_bytes);
    return true;
  }

  /// The bytes not yet read.
  [[nodiscard]] ByteView Rest() const { return rest_; }

 private:
  ByteView rest_;
};

}  // namespace uit
