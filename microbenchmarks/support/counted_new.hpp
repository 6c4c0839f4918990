#pragma once

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

/// Counts heap allocations of the program. Include it in one source only: it replaces the global operators.
namespace bench {

struct HeapUse {
  std::uint64_t num_allocations;  ///< so far
  std::int64_t num_bytes;         ///< held now, as rounded up by the allocator
};

inline std::atomic<std::uint64_t> num_heap_allocations{0};
inline std::atomic<std::int64_t> num_heap_bytes{0};

[[nodiscard]] inline HeapUse Heap() {
  return {num_heap_allocations.load(std::memory_order_relaxed), num_heap_bytes.load(std::memory_order_relaxed)};
}

inline void* CountedAllocate(std::size_t size, std::size_t alignment) {
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(size)
                     : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc{};
  num_heap_allocations.fetch_add(1, std::memory_order_relaxed);
  num_heap_bytes.fetch_add(static_cast<std::int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  return memory;
}

inline void CountedFree(void* memory) {
  if (memory == nullptr) return;
  num_heap_bytes.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace bench

void* operator new(std::size_t size) { return bench::CountedAllocate(size, 1); }
void* operator new[](std::size_t size) { return bench::CountedAllocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return bench::CountedAllocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return bench::CountedAllocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { bench::CountedFree(memory); }
void operator delete[](void* memory) noexcept { bench::CountedFree(memory); }
void operator delete(void* memory, std::size_t) noexcept { bench::CountedFree(memory); }
void operator delete[](void* memory, std::size_t) noexcept { bench::CountedFree(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { bench::CountedFree(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { bench::CountedFree(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { bench::CountedFree(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { bench::CountedFree(memory); }
