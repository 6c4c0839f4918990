#include "tests/support/counted_copies.hpp"

#include <cstdlib>

namespace uit::testing {

std::array<Copy, max_copies> copies;
std::atomic<std::size_t> num_copies{0};

}  // namespace uit::testing

namespace {

void Note(void* to, const void* from, std::size_t num_bytes) {
  if (num_bytes < uit::testing::min_noted_bytes) return;
  const std::size_t number = uit::testing::num_copies.fetch_add(1);
  if (number >= uit::testing::max_copies) std::abort();
  uit::testing::copies[number] = {static_cast<const std::byte*>(from), static_cast<const std::byte*>(to), num_bytes};
}

}  // namespace

extern "C" {  // the names are the linker's

void* __real_memcpy(void* to, const void* from, std::size_t num_bytes);
void* __real_memmove(void* to, const void* from, std::size_t num_bytes);

void* __wrap_memcpy(void* to, const void* from, std::size_t num_bytes) {
  Note(to, from, num_bytes);
  return __real_memcpy(to, from, num_bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t num_bytes) {
  Note(to, from, num_bytes);
  return __real_memmove(to, from, num_bytes);
}
}
