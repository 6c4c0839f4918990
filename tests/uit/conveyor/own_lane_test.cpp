// The queue of a conveyor's member for itself: items leave in order, and stay where they are while others are added.
#include <uit/conveyor/own_lane.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "tests/support/catch.hpp"

using uit::detail::OwnLane;

TEST_CASE("Items of a member for itself leave in order, and are not overwritten while they are handled") {
  for (const std::size_t capacity : {1U, 2U, 7U, 256U, 300U, 1000U}) {
    CAPTURE(capacity);
    OwnLane<std::uint64_t> lane(capacity);
    std::uint64_t num_added = 0;
    std::uint64_t num_taken = 0;
    for (std::size_t step = 0; step < 3000; ++step) {
      const std::span<const std::uint64_t> some = lane.TakeSome(step % 5 == 0 ? capacity : 1 + step % 300);
      const std::vector<std::uint64_t> taken(some.begin(), some.end());
      std::vector<std::uint64_t> more(1 + step * 7 % (capacity + 3));
      std::iota(more.begin(), more.end(), num_added);
      const std::uint64_t num_before = num_added - num_taken - taken.size();
      const std::size_t count = lane.Add(more);
      CHECK(count == std::min<std::size_t>(more.size(), capacity - num_before));
      num_added += count;
      CHECK(std::ranges::equal(some, taken));
      for (const std::uint64_t item : taken) CHECK(item == num_taken++);
    }
    CHECK(num_taken > 1000);
    while (!lane.TakeSome(capacity).empty()) {
    }
    CHECK(lane.Add(std::vector<std::uint64_t>(capacity + 1)) == capacity);
    CHECK(lane.TakeSome(0).empty());
  }
}
