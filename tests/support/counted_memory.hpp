#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

/// Counts what operator new gives out. It replaces that operator, so include it in one source of a program; under a
/// sanitizer, which wants the operator for itself, nothing is counted.
namespace uit::testing {

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

inline std::atomic<std::size_t> num_allocations{0};
inline std::atomic<std::size_t> largest_allocation{0};

/// The largest allocation since it was made.
struct LargestAllocation {
  LargestAllocation() { largest_allocation.store(0); }
  std::size_t NumBytes() const { return largest_allocation.load(); }
};

inline void* CountedAllocate(std::size_t size) {
  num_allocations.fetch_add(1, std::memory_order_relaxed);
  largest_allocation.store(std::max(largest_allocation.load(std::memory_order_relaxed), size), std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc{};
}

}  // namespace uit::testing

#if UIT_TESTING_COUNTS_MEMORY
void* operator new(std::size_t size) { return uit::testing::CountedAllocate(size); }
void* operator new[](std::size_t size) { return uit::testing::CountedAllocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
#endif
