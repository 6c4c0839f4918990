#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include <uit/config.hpp>
#include <uit/support/assert.hpp>

namespace uit {

/// Bytes to read.
using ByteView = std::span<const std::byte>;

/// Bytes to write.
using MutableByteView = std::span<std::byte>;

/// Equal to its bytes: may be copied by memcpy, within one kind of machine.
template <typename V>
concept TriviallyCopyable = std::is_trivially_copyable_v<V> && !std::is_pointer_v<V>;

/// Copies bytes; those of a word, or of half a word, without a call.
UIT_INLINE void CopyBytes(std::byte* to, const std::byte* from, std::size_t num_bytes) {
  if (num_bytes == 8) std::memcpy(to, from, 8);
  else if (num_bytes == 4) std::memcpy(to, from, 4);
  else if (num_bytes != 0) std::memcpy(to, from, num_bytes);
}

/// The bytes of `value` in place.
template <TriviallyCopyable V>
[[nodiscard]] ByteView BytesOf(const V& value) {
  return std::as_bytes(std::span{std::addressof(value), 1});
}

/// Writes `value` at the head of `to`, at any alignment.
template <TriviallyCopyable V>
void StoreBytes(const V& value, MutableByteView to) {
  UIT_ASSERT(to.size() >= sizeof(V), "a value needs as many bytes as its size");
  std::memcpy(to.data(), std::addressof(value), sizeof(V));
}

/// Reads the value at the head of `from`, at any alignment.
template <TriviallyCopyable V>
void LoadBytes(V& value, ByteView from) {
  UIT_ASSERT(from.size() >= sizeof(V), "a value needs as many bytes as its size");
  std::memcpy(static_cast<void*>(std::addressof(value)), from.data(), sizeof(V));
}

/// The value at the head of `from`, at any alignment.
template <TriviallyCopyable V>
  requires std::is_default_constructible_v<V>
[[nodiscard]] V LoadBytes(ByteView from) {
  V value{};
  LoadBytes(value, from);
  return value;
}

/// Reads one value after another, never beyond the end: for bytes that cannot be trusted.
class ByteReader {
 public:
  /// Reads from the head of `bytes`.
  explicit ByteReader(ByteView bytes) : rest_{bytes} {}

  /// Reads the next value; false, with nothing read, if too few bytes remain.
  template <TriviallyCopyable V>
  [[nodiscard]] bool TryRead(V& value) {
    if (rest_.size() < sizeof(V)) return false;
    LoadBytes(value, rest_);
    rest_ = rest_.subspan(sizeof(V));
    return true;
  }

  /// Takes the next `num_bytes` in place; false, with nothing taken, if too few remain.
  [[nodiscard]] bool TryTake(std::size_t num_bytes, ByteView& taken) {
    if (rest_.size() < num_bytes) return false;
    taken = rest_.first(num_bytes);
    rest_ = rest_.subspan(num_bytes);
    return true;
  }

  /// What has not been read.
  [[nodiscard]] ByteView Rest() const { return rest_; }

 private:
  ByteView rest_;
};

}  // namespace uit
