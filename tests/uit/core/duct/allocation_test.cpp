// A conduit in use allocates nothing.

#include <cstddef>

#include <uit/uit.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/counted_memory.hpp"
#include "tests/uit/core/support/subjects.hpp"

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
  use();  // a growing buffer reaches its final size here
  const std::size_t num_before = uit::testing::num_allocations;
  const int sum = use();
  CHECK(uit::testing::num_allocations == num_before);
  CHECK(sum > 0);
}
