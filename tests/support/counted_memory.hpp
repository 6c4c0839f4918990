#pragma once

#include <atomic>
#include <cstddef>

/// Counts what operator new gives out, in a program that links counted_memory.cpp, which replaces that operator. Under
/// a sanitizer, which wants the operator for itself, nothing is counted.
namespace uit::testing {

extern std::atomic<std::size_t> num_allocations;
extern std::atomic<std::size_t> num_allocated_bytes;  // by every allocation, also where it was freed again
extern std::atomic<std::size_t> largest_allocation;

/// The largest allocation since it was made.
struct LargestAllocation {
  LargestAllocation() { largest_allocation.store(0); }
  std::size_t NumBytes() const { return largest_allocation.load(); }
};

}  // namespace uit::testing
