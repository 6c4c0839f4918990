#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <type_traits>

/// The switch of tools/mutants, included before every source that it compiles. The environment variable UIT_MUTANT gives the
/// number of the active mutant; without it none is active. UIT_MUTANT_REACHED names a file with one byte per mutant. A
/// process sets the bytes of the mutants that it reaches.
namespace uit_mutant {

namespace detail {

struct Switch {
  int number = 0;
  std::size_t num_bytes = 0;
  volatile char* reached = nullptr;

  Switch() {
    if (const char* text = std::getenv("UIT_MUTANT")) number = std::atoi(text);
    const char* path = std::getenv("UIT_MUTANT_REACHED");
    const int file = path != nullptr ? ::open(path, O_RDWR) : -1;
    if (file < 0) return;
    struct stat about {};
    if (::fstat(file, &about) == 0 && about.st_size > 0) {
      num_bytes = static_cast<std::size_t>(about.st_size);
      void* memory = ::mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (memory != MAP_FAILED) reached = static_cast<volatile char*>(memory);
    }
    ::close(file);
  }
};

inline bool IsOn(int number) noexcept {
  static const Switch state;
  if (state.reached != nullptr && static_cast<std::size_t>(number) < state.num_bytes) state.reached[number] = 1;
  return number == state.number;
}

}  // namespace detail

/// Returns whether this mutant is active. Always false in constant evaluation.
constexpr bool On(int number) noexcept { return !std::is_constant_evaluated() && detail::IsOn(number); }

/// The same for two swapped expressions. Does not compile if their types differ.
template <typename A, typename B>
constexpr bool OnSame(int number) noexcept {
  static_assert(std::is_same_v<std::remove_cvref_t<A>, std::remove_cvref_t<B>>, "mutant: of different types");
  return On(number);
}

/// A literal to which `by` is added if the mutant is active.
template <typename T>
constexpr T Off(int number, T literal, int by) noexcept {
  return On(number) ? static_cast<T>(literal + static_cast<T>(by)) : literal;
}

}  // namespace uit_mutant
