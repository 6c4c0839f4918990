#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <span>

/// Notes the calls of memcpy and memmove, in a test that links counted_copies.cpp with --wrap=memcpy and --wrap=memmove. The linker
/// passes it those of the program and of the library, also those that a compiler makes for an assignment, but not those inside MPI.
namespace uit::testing {

/// The smallest copy that is noted. Compilers copy smaller objects without a call.
inline constexpr std::size_t min_noted_bytes = 16'384;

/// A call.
struct Copy {
  const std::byte* from;
  const std::byte* to;
  std::size_t num_bytes;
};

inline constexpr std::size_t max_copies = 32'768;
extern std::array<Copy, max_copies> copies;
extern std::atomic<std::size_t> num_copies;
/// Unless null, called before each copy that is noted.
extern void (*before_copy)(const Copy&);

/// The copies that were made since construction.
class NotedCopies {
 public:
  NotedCopies() : first_(num_copies.load()) {}
  std::span<const Copy> All() const { return std::span{copies}.subspan(first_, num_copies.load() - first_); }
  std::size_t NumBytes() const {
    std::size_t sum = 0;
    for (const Copy& copy : All()) sum += copy.num_bytes;
    return sum;
  }

 private:
  std::size_t first_;
};

}  // namespace uit::testing
