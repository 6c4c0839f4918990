#include "tests/support/counted_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UIT_TESTING_COUNTS_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UIT_TESTING_COUNTS_MEMORY 0
#endif
#endif
#ifndef UIT_TESTING_COUNTS_MEMORY
#define UIT_TESTING_COUNTS_MEMORY 1
#endif

#if UIT_TESTING_COUNTS_MEMORY
#include <malloc.h>
#endif

namespace uit::testing {

std::atomic<std::size_t> num_allocations{0};
std::atomic<std::size_t> num_allocated_bytes{0};
std::atomic<std::size_t> num_held_bytes{0};
std::atomic<std::size_t> most_held_bytes{0};
std::atomic<std::size_t> largest_allocation{0};

#if UIT_TESTING_COUNTS_MEMORY
namespace {

void* CountedAllocate(std::size_t size, std::size_t alignment) {
  num_allocations.fetch_add(1, std::memory_order_relaxed);
  num_allocated_bytes.fetch_add(size, std::memory_order_relaxed);
  largest_allocation.store(std::max(largest_allocation.load(std::memory_order_relaxed), size), std::memory_order_relaxed);
  void* const memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc{};
  const std::size_t usable = malloc_usable_size(memory);
  const std::size_t held = num_held_bytes.fetch_add(usable, std::memory_order_relaxed) + usable;
  std::size_t most = most_held_bytes.load(std::memory_order_relaxed);
  while (most < held && !most_held_bytes.compare_exchange_weak(most, held, std::memory_order_relaxed)) {
  }
  return memory;
}

void CountedFree(void* memory) {
  num_held_bytes.fetch_sub(malloc_usable_size(memory), std::memory_order_relaxed);  // 0 for a null pointer
  std::free(memory);
}

}  // namespace
#endif

}  // namespace uit::testing

#if UIT_TESTING_COUNTS_MEMORY
void* operator new(std::size_t size) { return uit::testing::CountedAllocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return uit::testing::CountedAllocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { uit::testing::CountedFree(memory); }
void operator delete(void* memory, std::size_t) noexcept { uit::testing::CountedFree(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { uit::testing::CountedFree(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { uit::testing::CountedFree(memory); }
#endif
