#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <tuple>

#include <uit/duct/queue_duct.hpp>

#include "tests/support/catch.hpp"

using uit::QueueDuct;
using uit::Spsc;
using uit::Unsynchronized;

using Syncs = std::tuple<Unsynchronized, Spsc>;

namespace {

/// Counts its living instances, and all that were ever created.
struct Counted {
  Counted() { Born(); }
  Counted(int v) : value{v} { Born(); }  // NOLINT: a number is a message
  Counted(const Counted& other) : value{other.value} { Born(); }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --num_alive; }

  static void Born() {
    ++num_alive;
    ++num_ever;
    if (num_alive > max_alive) max_alive = num_alive;
  }

  int value = 0;
  static inline std::size_t num_alive = 0, num_ever = 0, max_alive = 0;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("A queue grows to exactly its cap", "", Syncs) {
  for (const std::size_t cap : {1U, 2U, 3U, 7U, 8U, 100U, 1000U}) {
    for (const std::size_t depth : {std::size_t{1}, cap}) {
      QueueDuct<int, TestType> queue{depth, cap * sizeof(int)};
      REQUIRE(queue.Depth() == cap);
      int last = 0;
      while (queue.TryPut(last + 1)) ++last;
      REQUIRE(last == static_cast<int>(cap));
      int current = 0;
      for (int round = 0; round < 40; ++round) {
        current += static_cast<int>(queue.TryStep(1 + static_cast<std::size_t>(round) % 5));
        REQUIRE(queue.Get() == current);
        while (queue.TryPut(last + 1)) ++last;
        REQUIRE(last - current == static_cast<int>(cap));
      }
      REQUIRE(queue.TryStep(uit::no_limit) == cap);
      REQUIRE(queue.Get() == last);
      REQUIRE(queue.TryStep(1) == 0);
    }
  }
}

TEST_CASE("A depth beyond the cap is the cap") {
  QueueDuct<int, Unsynchronized> queue{10, 1};
  for (int i = 0; i < 10; ++i) CHECK(queue.TryPut(i));
  CHECK_FALSE(queue.TryPut(10));
}

TEMPLATE_LIST_TEST_CASE("Message numbers between threads may wrap at any time", "", Syncs) {
  for (std::uint64_t before = 0; before < 12; ++before) {
    for (const std::size_t cap : {5U, 64U}) {
      const std::uint64_t start = std::numeric_limits<std::uint64_t>::max() - before;
      QueueDuct<int, TestType> queue{1, cap * sizeof(int), 0, start};
      int last = 0;
      int current = 0;
      for (int round = 0; round < 30; ++round) {
        for (int i = 0; i < 1 + round % 4; ++i) last += queue.TryPut(last + 1);
        REQUIRE(last - current <= static_cast<int>(cap));
        current += static_cast<int>(queue.TryStep(1 + static_cast<std::size_t>(round) % 3));
        REQUIRE(queue.Get() == current);
      }
      current += static_cast<int>(queue.TryStep(uit::no_limit));
      REQUIRE(current == last);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("The memory of a queue is bounded and freed", "", Syncs) {
  Counted::num_alive = Counted::max_alive = 0;
  constexpr std::size_t cap = 1000;
  {
    QueueDuct<Counted, TestType> queue{1, cap * sizeof(Counted)};
    for (int round = 0; round < 200; ++round) {
      for (int i = 0; i < 37 * (round % 60); ++i) queue.TryPut(Counted{i});
      queue.TryStep(1 + static_cast<std::size_t>(round * 29) % 1200);
    }
    CHECK(Counted::max_alive <= 4 * cap);
    queue.TryStep(uit::no_limit);
    queue.TryPut(Counted{1});
    queue.TryStep(1);
    CHECK(Counted::num_alive <= 2 * cap);
  }
  CHECK(Counted::num_alive == 0);
}

TEMPLATE_LIST_TEST_CASE("A queue that stays at its cap allocates no more", "", Syncs) {
  for (const std::size_t cap : {1U, 2U, 7U, 8U, 100U}) {
    CAPTURE(cap);
    QueueDuct<Counted, TestType> queue{1, cap * sizeof(Counted)};
    const Counted message{1};
    while (queue.TryPut(message)) continue;
    for (std::size_t round = 0; round < 4 * cap; ++round) {  // until the outlet has freed the additional rings
      REQUIRE(queue.TryStep(1) == 1);
      REQUIRE(queue.TryPut(message));
    }
    const std::size_t num_before = Counted::num_ever;
    for (std::size_t round = 0; round < 4 * cap; ++round) {
      REQUIRE(queue.TryStep(1) == 1);
      REQUIRE(queue.TryPut(message));
      REQUIRE_FALSE(queue.TryPut(message));
    }
    CHECK(Counted::num_ever == num_before);
  }
}

TEMPLATE_LIST_TEST_CASE("A queue that has grown allocates no more", "", Syncs) {
  QueueDuct<Counted, TestType> queue{1, 1000 * sizeof(Counted)};
  const Counted message{1};
  for (int i = 0; i < 500; ++i) REQUIRE(queue.TryPut(message));
  REQUIRE(queue.TryStep(uit::no_limit) == 500);
  const std::size_t num_before = Counted::num_ever;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 200; ++i) REQUIRE(queue.TryPut(message));
    REQUIRE(queue.TryStep(uit::no_limit) == 200);
  }
  CHECK(Counted::num_ever == num_before);
}

TEST_CASE("A queue refuses a depth that it cannot have") {
  using Queue = QueueDuct<int, Spsc>;
  CHECK_THROWS_AS(Queue(0), std::invalid_argument);
  CHECK_THROWS_AS(Queue(~std::size_t{0}), std::invalid_argument);
}
