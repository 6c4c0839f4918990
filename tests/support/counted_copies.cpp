#include "tests/support/counted_copies.hpp"

#include <cstdlib>

namespace uit::testing {

std::array<Copy, max_copies> copies;
std::atomic<std::size_t> num_copies{0};
void (*before_copy)(const Copy&) = nullptr;

}  // namespace uit::testing

namespace {

using namespace uit::testing;

void Note(void* to, const void* from, std::size_t num_bytes) {
  if (num_bytes < min_noted_bytes) return;
  const std::size_t number = num_copies.fetch_add(1);
  if (number >= max_copies) std::abort();
  copies[number] = {static_cast<const std::byte*>(from), static_cast<const std::byte*>(to), num_bytes};
  if (before_copy != nullptr) before_copy(copies[number]);
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
