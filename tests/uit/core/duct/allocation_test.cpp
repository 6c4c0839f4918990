// Nothing is allocated once a conduit is in use.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <tuple>

#include <uit/uit.hpp>

#include "tests/support/catch.hpp"
#include "tests/uit/core/support/subjects.hpp"

namespace {
std::atomic<std::size_t> num_allocations{0};

// Out of line, so that the compiler does not look for a pair of new and free.
[[gnu::noinline]] void* Allocate(std::size_t bytes, std::size_t alignment) {
  ++num_allocations;
  if (void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment))
    return memory;
  throw std::bad_alloc{};
}
}  // namespace

void* operator new(std::size_t bytes) { return Allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

TEMPLATE_LIST_TEST_CASE("A conduit in use allocates nothing", "", uit::testing::InProcessSubjects) {
  typename TestType::template Pair<int> pair{8};
  const auto use = [&] {
    int sum = 0;
    for (int i = 0; i < 1000; ++i) {
      for (int j = 0; j < i % 12; ++j) pair.TryPut(j);
      pair.TryStep(1);
      if (i % 5 == 0) pair.TryStep(uit::no_limit);
      sum += pair.Get();
    }
    return sum;
  };
  use();  // a buffer that grows has grown after this
  const std::size_t num_before = num_allocations;
  const int sum = use();
  CHECK(num_allocations == num_before);
  CHECK(sum > 0);
}
