#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <uit/duct/ring_duct.hpp>

#include "tests/support/catch.hpp"

using uit::RingDuct;
using uit::Spsc;
using uit::Unsynchronized;

using Syncs = std::tuple<Unsynchronized, Spsc>;

namespace {

/// A ring within a thread that begins with few slots.
template <typename T>
using Growing = RingDuct<T, Unsynchronized, true>;

template <typename Sync, typename T = int>
auto Make(std::size_t depth, T initial = T{}, std::uint32_t start = 0) {
  return uit::MakeRef<RingDuct<T, Sync>>(depth, std::move(initial), start);
}
/// A number of slots that a ring has at most.
template <typename Ring>
std::uint32_t MostSlots(std::size_t depth) {
  if constexpr (requires { Ring::NumSlots(depth); }) return Ring::NumSlots(depth);
  else return static_cast<std::uint32_t>(2 * depth + 2);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("A ring may begin at any of its slots", "", Syncs) {
  for (std::size_t depth = 1; depth < 6; ++depth) {
    const std::uint32_t num_slots = MostSlots<RingDuct<int, TestType>>(depth);
    for (std::uint32_t start = 0; start < num_slots; ++start) {
      const auto ref = Make<TestType>(depth, 100, start);
      auto& ring = *ref;
      REQUIRE(ring.Depth() == depth);
      REQUIRE(ring.Get() == 100);
      int last = 0;
      int current = 0;
      for (std::size_t lap = 0; lap < 3 * num_slots; ++lap) {
        while (ring.TryPut(last + 1)) ++last;
        REQUIRE(last - current == static_cast<int>(depth));
        const std::size_t limit = 1 + lap % (depth + 1);
        current += static_cast<int>(ring.TryStep(limit));
        REQUIRE(ring.Get() == current);
      }
      current += static_cast<int>(ring.TryStep(uit::no_limit));
      REQUIRE(current == last);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("A ring of one message takes turns", "", Syncs) {
  const auto ref = Make<TestType>(1);
  auto& ring = *ref;
  for (int i = 1; i < 100; ++i) {
    REQUIRE(ring.TryPut(i));
    REQUIRE_FALSE(ring.TryPut(-1));
    REQUIRE(ring.TryStep(1) == 1);
    REQUIRE(ring.TryStep(1) == 0);
    REQUIRE(ring.Get() == i);
  }
}

TEST_CASE("Rings within a thread can lie side by side in an arena") {
  using Ring = RingDuct<std::string, Unsynchronized>;
  const std::size_t stride = Ring::NumBytes(2);
  REQUIRE(stride % Ring::Alignment() == 0);
  std::vector<std::max_align_t> memory(4 * stride / sizeof(std::max_align_t) + 1);
  std::vector<uit::Ref<Ring>> rings;
  std::vector<Ring*> places;
  for (std::size_t i = 0; i < 4; ++i) {
    void* const place = reinterpret_cast<std::byte*>(memory.data()) + i * stride;
    rings.push_back(Ring::OpenAt(place, 2, "a string too long to be kept in place"));
    places.push_back(rings.back().get());
  }
  for (const auto& ring : rings) {
    CHECK(ring->Depth() == 2);
    CHECK(ring->TryPut("one that is also too long to be kept in place"));
    CHECK(ring->TryPut("two"));
    CHECK_FALSE(ring->TryPut("three"));
  }
  for (const auto& ring : rings) {
    CHECK(ring->Get() == "a string too long to be kept in place");
    CHECK(ring->TryStep(uit::no_limit) == 2);
    CHECK(ring->Get() == "two");
  }
  rings.clear();
  for (Ring* const ring : places) std::destroy_at(ring);
}

TEST_CASE("A ring within a thread keeps messages of any alignment") {
  struct alignas(64) Wide {
    int value = 0;
  };
  const auto ring = Growing<Wide>::Open(9);
  for (int i = 1; i <= 9; ++i) CHECK(ring->TryPut(Wide{i}));
  for (int i = 1; i <= 9; ++i) {
    CHECK(ring->TryStep(1) == 1);
    CHECK(ring->Get().value == i);
    CHECK(reinterpret_cast<std::uintptr_t>(&ring->Get()) % 64 == 0);
  }
}

TEST_CASE("Message numbers within a thread may wrap at any time") {
  for (std::uint64_t before = 0; before < 6; ++before) {
    for (const std::uint64_t last : {std::uint64_t{1} << 32, std::uint64_t{0}}) {
      const auto ring = RingDuct<int, Unsynchronized>::Open(3, 0, last - before);
      for (int i = 1; i < 20; ++i) {
        REQUIRE(ring->TryPut(2 * i - 1));
        REQUIRE(ring->TryPut(2 * i));
        REQUIRE(ring->TryStep(1) == 1);
        REQUIRE(ring->Get() == 2 * i - 1);
        REQUIRE(ring->TryPut(-1));
        REQUIRE(ring->TryPut(-2));
        REQUIRE_FALSE(ring->TryPut(-3));
        REQUIRE(ring->TryStep(uit::no_limit) == 3);
        REQUIRE(ring->Get() == -2);
      }
    }
  }
}

TEMPLATE_TEST_CASE("A ring that grows keeps messages, their order and what Get has returned, as one does that has all slots", "",
                   (Growing<std::string>), (RingDuct<std::string, Unsynchronized>)) {
  const auto text = [](std::uint64_t number) { return "message number " + std::to_string(number); };  // on the heap
  for (const std::size_t depth : {3U, 4U, 7U, 8U, 100U}) {
    for (const std::uint64_t start : {std::uint64_t{0}, std::uint64_t{2}, (std::uint64_t{1} << 32) - 9, ~std::uint64_t{0} - 5}) {
      const auto ring = TestType::Open(depth, text(start), start);
      REQUIRE(ring->Depth() == depth);
      std::uint64_t last = start;
      std::uint64_t current = start;
      for (const std::size_t num_steps : {std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{0}, std::size_t{9}, depth}) {
        const std::string& shown = ring->Get();
        while (ring->TryPut(text(last + 1))) ++last;
        REQUIRE(last - current == depth);
        REQUIRE(shown == text(current));
        REQUIRE(ring->Get() == text(current));
        std::uint64_t visited = current;
        ring->ForEachUnread([&](const std::string& message) { REQUIRE(message == text(++visited)); });
        REQUIRE(visited == last);
        for (std::size_t i = 0; i < std::min(num_steps, depth); ++i) {
          REQUIRE(ring->TryStep(1) == 1);
          REQUIRE(ring->Get() == text(++current));
        }
      }
      REQUIRE(ring->NumAccepted() == last);
      REQUIRE(ring->NumPassed() == current);
    }
  }
}

TEST_CASE("A ring within a thread grows by no more than what waits") {
  using Ring = Growing<std::uint64_t>;
  CHECK(Ring::NumBytes(1'000'000) <= RingDuct<std::uint64_t, Unsynchronized>::NumBytes(3) + 16);
  CHECK(Ring::NumBytes(2) == RingDuct<std::uint64_t, Unsynchronized>::NumBytes(2));
  const auto ring = Ring::Open(1'000'000);
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    REQUIRE(ring->TryPut(2 * i - 1));
    REQUIRE(ring->TryPut(2 * i));
    const std::uint64_t* const before = &ring->Get();
    REQUIRE(ring->TryStep(uit::no_limit) == 2);
    REQUIRE(ring->Get() == 2 * i);
    REQUIRE(&ring->Get() - before < 4);  // in the same four slots
    REQUIRE(before - &ring->Get() < 4);
  }
}

TEST_CASE("A message may be put again while a ring grows, and a slot that is lent grows with it") {
  const auto ring = Growing<std::string>::Open(8, "the first of all messages");
  for (int i = 0; i < 8; ++i) REQUIRE(ring->TryPut(ring->Get()));
  CHECK_FALSE(ring->TryPut(ring->Get()));
  while (ring->TryStep(1) > 0) CHECK(ring->Get() == "the first of all messages");
  for (int i = 0; i < 8; ++i) {
    std::string* const lent = ring->TryLend();
    REQUIRE(lent != nullptr);
    *lent = "lent as number " + std::to_string(i);
    ring->PutLent();
  }
  CHECK(ring->TryLend() == nullptr);
  for (int i = 0; i < 8; ++i) {
    REQUIRE(ring->TryStep(1) == 1);
    CHECK(ring->Get() == "lent as number " + std::to_string(i));
  }
}

TEST_CASE("A ring that grows has all slots while it is held, so that one thread may put while another steps") {
  const auto ring = Growing<int>::Open(20);
  for (int i = -3; i <= 0; ++i) CHECK(ring->TryPut(i));
  CHECK(ring->TryStep(uit::no_limit) == 4);
  CHECK(ring->Get() == 0);
  ring->HoldInlet(true);
  const int* const first = &ring->Get();
  ring->HoldOutlet(true);
  for (int i = 1; i <= 20; ++i) REQUIRE(ring->TryPut(i));
  CHECK_FALSE(ring->TryPut(21));
  CHECK(&ring->Get() == first);  // nothing has moved
  CHECK(ring->TryStep(uit::no_limit) == 0);
  ring->RefreshOutlet();
  CHECK(ring->TryStep(15) == 15);
  CHECK(ring->Get() == 15);
  CHECK_FALSE(ring->TryPut(21));
  ring->RefreshInlet(3);
  for (int i = 21; i <= 23; ++i) CHECK(ring->TryPut(i));
  CHECK_FALSE(ring->TryPut(24));
  ring->HoldInlet(false);
  for (int i = 24; i <= 35; ++i) CHECK(ring->TryPut(i));
  CHECK_FALSE(ring->TryPut(36));
  ring->HoldOutlet(false);
  for (int i = 16; i <= 35; ++i) {
    CHECK(ring->TryStep(1) == 1);
    CHECK(ring->Get() == i);
  }
}

TEST_CASE("A ring whose messages cannot be copied, or throw when moved, has all its slots from the start") {
  struct Brittle {
    Brittle() = default;
    Brittle(const Brittle&) = default;
    Brittle(Brittle&&) noexcept(false) {}
    Brittle& operator=(const Brittle&) = default;
    Brittle& operator=(Brittle&&) noexcept(false) { return *this; }
  };
  using Ring = Growing<std::unique_ptr<int>>;
  CHECK(Ring::NumBytes(63) == RingDuct<std::unique_ptr<int>, Unsynchronized>::NumBytes(63));
  CHECK(Growing<Brittle>::NumBytes(63) == RingDuct<Brittle, Unsynchronized>::NumBytes(63));
  const auto ring = Ring::Open(63);
  for (int i = 0; i < 63; ++i) REQUIRE(ring->TryPut(std::make_unique<int>(i)));
  CHECK_FALSE(ring->TryPut(std::make_unique<int>(63)));
  for (int i = 0; i < 63; ++i) {
    REQUIRE(ring->TryStep(1) == 1);
    CHECK(*ring->Get() == i);
  }
}

TEST_CASE("A ring that cannot grow, because a copy throws, stays as it was") {
  struct Message {
    Message() = default;
    explicit Message(int of) : value(of) {}
    Message(const Message&) = default;
    Message(Message&&) noexcept = default;
    Message& operator=(const Message& other) {
      if (other.breaks) throw std::runtime_error{"brittle"};
      value = other.value;
      return *this;
    }
    Message& operator=(Message&&) noexcept = default;
    int value = 0;
    bool breaks = false;
  };
  const auto ring = Growing<Message>::Open(10);
  for (int i = 1; i <= 3; ++i) REQUIRE(ring->TryPut(Message{i}));
  ring->Get().breaks = true;
  CHECK_THROWS_AS(ring->TryPut(Message{4}), std::runtime_error);
  CHECK(ring->NumAccepted() == 3);
  ring->Get().breaks = false;
  CHECK(ring->TryPut(Message{4}));
  for (int i = 1; i <= 4; ++i) {
    CHECK(ring->TryStep(1) == 1);
    CHECK(ring->Get().value == i);
  }
}

TEST_CASE("A copy that throws uses no room of a held inlet") {
  struct Message {
    Message() = default;
    Message(const Message&) = default;
    Message& operator=(const Message& other) {
      if (other.breaks) throw std::runtime_error{"brittle"};
      return *this;
    }
    bool breaks = false;
  };
  const auto ring = Make<Unsynchronized, Message>(2);
  ring->HoldInlet(true);
  Message bad;
  bad.breaks = true;
  for (int i = 0; i < 5; ++i) CHECK_THROWS_AS(ring->TryPut(bad), std::runtime_error);
  CHECK(ring->TryPut(Message{}));
  CHECK(ring->TryPut(Message{}));
  CHECK_FALSE(ring->TryPut(Message{}));
  CHECK(ring->TryStep(uit::no_limit) == 2);
}

TEST_CASE("A held budget never exceeds the budget") {
  const auto ring = RingDuct<std::uint8_t, Unsynchronized>::Open(100'000);
  ring->HoldInlet(true);
  int num_accepted = 0;
  while (ring->TryPut(1)) ++num_accepted;
  CHECK(num_accepted > 60'000);
  ring->RefreshInlet();
  while (ring->TryPut(1)) ++num_accepted;
  CHECK(num_accepted == 100'000);
  ring->HoldOutlet(true);
  CHECK(ring->TryStep(uit::no_limit) <= 65'535);
  ring->HoldOutlet(false);
  while (ring->TryStep(uit::no_limit) > 0) {
  }
  CHECK(ring->NumPassed() == ring->NumAccepted());
}

TEST_CASE("Staged messages are hidden from the other thread until they are published") {
  RingDuct<int, Spsc> ring{4};
  CHECK(ring.TryStage(1));
  CHECK(ring.TryStage(2));
  CHECK(ring.TryStep(1) == 0);
  CHECK(ring.TryFlush());
  CHECK(ring.TryStep(uit::no_limit) == 2);
  CHECK(ring.TryStage(3));
  CHECK(ring.TryStep(1) == 0);
  CHECK(ring.TryPut(4));
  CHECK(ring.TryStep(1) == 1);
  CHECK(ring.Get() == 3);
  CHECK(ring.TryStage(5));
  CHECK(ring.TryStage(6));
  CHECK(ring.TryStage(7));
  CHECK_FALSE(ring.TryStage(8));
  CHECK(ring.TryStep(uit::no_limit) == 1);
  CHECK(ring.Get() == 4);
}

TEST_CASE("A held inlet finds room only after a refresh") {
  const auto ref = Make<Unsynchronized>(2);
  auto& ring = *ref;
  ring.HoldInlet(true);
  CHECK(ring.TryPut(1));
  CHECK(ring.TryPut(2));
  CHECK(ring.TryStep(uit::no_limit) == 2);
  CHECK_FALSE(ring.TryPut(3));
  ring.RefreshInlet();
  CHECK(ring.TryPut(3));
  CHECK(ring.TryPut(4));
  CHECK(ring.TryStep(1) == 1);
  CHECK_FALSE(ring.TryPut(5));
  ring.HoldInlet(false);
  CHECK(ring.TryPut(5));
}

TEST_CASE("A held inlet may be told how many puts are accepted until the refresh") {
  for (std::uint32_t start = 0; start <= 3; ++start) {
    const auto ref = Make<Unsynchronized>(3, 0, start);
    auto& ring = *ref;
    ring.HoldInlet(true, 1);
    CHECK(ring.TryPut(1));
    CHECK_FALSE(ring.TryPut(-1));
    ring.RefreshInlet(2);
    CHECK(ring.TryPut(2));
    CHECK(ring.TryPut(3));
    CHECK_FALSE(ring.TryPut(-1));
    ring.RefreshInlet(1);  // there is no room for it
    CHECK_FALSE(ring.TryPut(-1));
    CHECK(ring.TryStep(2) == 2);
    ring.RefreshInlet(0);
    CHECK_FALSE(ring.TryPut(-1));
    ring.RefreshInlet();
    CHECK(ring.TryPut(4));
    CHECK(ring.TryPut(5));
    CHECK_FALSE(ring.TryPut(-1));
    CHECK(ring.TryStep(3) == 3);
    CHECK(ring.Get() == 5);
    ring.HoldInlet(false, 1);
    for (int i = 6; i <= 8; ++i) CHECK(ring.TryPut(i));
    CHECK(ring.TryStep(uit::no_limit) == 3);
    CHECK(ring.Get() == 8);
  }
}

TEST_CASE("A held outlet sees only what was there at the refresh") {
  const auto ref = Make<Unsynchronized>(4);
  auto& ring = *ref;
  CHECK(ring.TryPut(1));
  ring.HoldOutlet(true);
  CHECK(ring.TryPut(2));
  CHECK(ring.TryPut(3));
  CHECK(ring.TryStep(uit::no_limit) == 1);
  CHECK(ring.Get() == 1);
  CHECK(ring.TryStep(1) == 0);
  ring.RefreshOutlet();
  CHECK(ring.TryPut(4));
  CHECK(ring.TryStep(uit::no_limit) == 2);
  CHECK(ring.Get() == 3);
  ring.HoldOutlet(false);
  CHECK(ring.TryStep(uit::no_limit) == 1);
  CHECK(ring.Get() == 4);
}

TEMPLATE_LIST_TEST_CASE("A ring refuses a depth that it cannot have", "", Syncs) {
  CHECK_THROWS_AS(Make<TestType>(0), std::invalid_argument);
  CHECK_THROWS_AS(Make<TestType>(uit::max_ring_depth + 1), std::invalid_argument);
  CHECK_THROWS_AS(Make<TestType>(~std::size_t{0}), std::invalid_argument);
}

TEST_CASE("The sides of a ring between threads share no cache line") {
  CHECK(alignof(RingDuct<int, Spsc>) == 64);
  CHECK(sizeof(RingDuct<int, Spsc>) == 3 * 64);
  CHECK(alignof(RingDuct<int, Unsynchronized>) == 8);
  CHECK(sizeof(RingDuct<int, Unsynchronized>) == 32);
  CHECK(sizeof(Growing<int>) == 32);
}

TEMPLATE_TEST_CASE("In a full ring between threads, the newest slot and the one being read are not fetched together", "", int,
                   (std::array<int, 2>), (std::array<int, 9>), (std::array<int, 16>), (std::array<int, 31>)) {
  RingDuct<TestType, Spsc> ring{5};
  const TestType* newest = nullptr;
  int num_checked = 0;
  for (int message = 0; message < 100; ++message) {
    while (const TestType* const slot = ring.TryLend()) {
      newest = slot;
      REQUIRE(ring.TryPut({}));
    }
    const std::ptrdiff_t num_bytes = reinterpret_cast<const char*>(&ring.Get()) - reinterpret_cast<const char*>(newest + 1);
    if (num_bytes > 0) {  // not around the end of the memory
      CHECK(num_bytes >= 2 * 64);
      ++num_checked;
    }
    REQUIRE(ring.TryStep(1) == 1);
  }
  CHECK(num_checked > 10);
}

TEST_CASE("A ring between threads has no slots in between for messages that are large or may own memory") {
  CHECK(RingDuct<std::string, Spsc>::NumSlots(5) == 6);
  CHECK(RingDuct<std::array<int, 1024>, Spsc>::NumSlots(5) == 6);
}

#if UIT_ASSERT_LEVEL >= 1
TEST_CASE("A step without a limit is misuse") {
  RingDuct<int, Spsc> ring{2};
  CHECK_THROWS_AS(ring.TryStep(0), uit::AssertionError);
}
#endif
