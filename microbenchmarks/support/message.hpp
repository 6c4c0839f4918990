#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace bench {

/// A message of `size` bytes. The first and last words are written and read; all bytes are copied.
template <std::size_t size>
struct Block {
  using Word = std::conditional_t<size % sizeof(std::uint64_t) == 0, std::uint64_t, std::uint32_t>;
  std::array<Word, size / sizeof(Word)> words{};
  void Mark(std::uint32_t number) { words.front() = words.back() = number; }
  [[nodiscard]] std::uint64_t Check() const { return std::uint64_t{words.front()} + words.back(); }
};

template <typename T>
void Mark(T& message, std::uint32_t number) {
  if constexpr (requires { message.Mark(number); })
    message.Mark(number);
  else
    message = number;
}

template <typename T>
[[nodiscard]] std::uint64_t Check(const T& message) {
  if constexpr (requires { message.Check(); })
    return message.Check();
  else
    return std::uint64_t{2} * message;
}

/// Makes the compiler believe that `value` is used.
template <typename T>
void Keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

}  // namespace bench
