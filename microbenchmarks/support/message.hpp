#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <type_traits>
#include <vector>

namespace bench {

/// A message of `size` bytes. The first and last words are written and read; all bytes are copied.
template <std::size_t size>
struct Block {
  using Word = std::conditional_t<size % sizeof(std::uint64_t) == 0, std::uint64_t, std::uint32_t>;
  std::array<Word, size / sizeof(Word)> words{};
  /// Writes all words. If some were left as they are, a copy would read them together with new ones, and so wait for all earlier stores.
  void Mark(std::uint32_t number) { words.fill(number); }
  [[nodiscard]] std::uint64_t Check() const { return std::uint64_t{words.front()} + words.back(); }
};

/// A message of any size. All words are written and read, as a program that computes them does.
using Numbers = std::vector<std::uint64_t>;

/// A message of `num_bytes`, which is the size of T or a number of words.
template <typename T>
[[nodiscard]] T MakeMessage(std::size_t num_bytes) {
  if constexpr (std::ranges::range<T>) return T(num_bytes / sizeof(std::uint64_t));
  else return T{};
}

template <typename T>
void Mark(T&& message, std::uint32_t number) {
  if constexpr (requires { message.Mark(number); })
    message.Mark(number);
  else if constexpr (std::ranges::range<T>)
    std::ranges::fill(message, number);
  else
    message = number;
}

template <typename T>
[[nodiscard]] std::uint64_t Check(const T& message) {
  if constexpr (requires { message.Check(); }) {
    return message.Check();
  } else if constexpr (std::ranges::range<T>) {
    std::uint64_t all = 0;
    for (const std::uint64_t word : message) all |= word;
    return message.front() + all;
  } else {
    return std::uint64_t{2} * message;
  }
}

/// Makes the compiler believe that `value` is used.
template <typename T>
void Keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

}  // namespace bench
