#pragma once

#include <atomic>
#include <cstddef>

/// Counts the memory that operator new allocates, in a test or benchmark that links counted_memory.cpp, which replaces that operator.
/// Under a sanitizer, which replaces the operator itself, the counts stay 0.
namespace uit::testing {

extern std::atomic<std::size_t> num_allocations;
extern std::atomic<std::size_t> num_allocated_bytes;  // by all allocations, including those that were freed
extern std::atomic<std::size_t> num_held_bytes;       // now, as the allocator rounds them up
extern std::atomic<std::size_t> most_held_bytes;      // at any time
extern std::atomic<std::size_t> largest_allocation;

/// The largest allocation since construction.
struct LargestAllocation {
  LargestAllocation() { largest_allocation.store(0); }
  std::size_t NumBytes() const { return largest_allocation.load(); }
};

}  // namespace uit::testing
