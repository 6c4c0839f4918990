#include <uit/link/shared_ring.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include <uit/support/pause.hpp>

#include "tests/support/catch.hpp"
#include "tests/uit/link/support/shared_memory.hpp"

using namespace uit;

namespace {

/// A ring and both of its sides.
struct Ring {
  testing::SharedMemory memory;
  shared_ring::Writer writer;
  shared_ring::Reader reader;

  Ring(std::size_t largest, std::size_t num_records, std::size_t max_bytes = 1U << 20U)
      : memory(shared_ring::BytesFor(largest, num_records, max_bytes)),
        writer((shared_ring::Create(memory.All()), memory.Begin())),
        reader(memory.Begin()) {}
};

/// A record whose bytes all follow from its number.
std::vector<std::byte> Record(std::uint64_t number, std::size_t num_bytes) {
  std::vector<std::byte> bytes(num_bytes);
  for (std::size_t i = 0; i < num_bytes; ++i) bytes[i] = static_cast<std::byte>(number * 31 + i * 7 + 1);
  return bytes;
}

}  // namespace

TEST_CASE("A ring takes records until they and the word behind them fill it") {
  constexpr std::size_t num_bytes = 64;  // 72 with the record's own word
  Ring ring{num_bytes, 5};
  REQUIRE(ring.memory.All().size() == sizeof(shared_ring::Head) + 512);
  std::uint64_t num_taken = 0;
  while (num_taken < 100 && ring.writer.HasRoom(num_bytes)) ring.writer.Write(Record(num_taken++, num_bytes));
  CHECK(num_taken == 7);  // 7 * 72 + 8 = 512
}

TEST_CASE("Records of all sizes come out of a ring as they went in, in order, over many laps") {
  constexpr std::size_t largest = 700;
  Ring ring{largest, 4};
  std::minstd_rand random{1};
  std::vector<std::size_t> waiting;
  std::uint64_t num_written = 0;
  std::uint64_t num_read = 0;
  while (num_read < 20'000) {
    if (random() % 2 == 0 && ring.writer.HasRoom(largest)) {
      waiting.push_back(1 + random() % largest);
      ring.writer.Write(Record(num_written++, waiting.back()));
    } else if (random() % 2 == 0) {
      const ByteView front = ring.reader.Front();
      REQUIRE((front.data() != nullptr) == !waiting.empty());
      if (waiting.empty()) continue;
      REQUIRE(std::ranges::equal(front, Record(num_read++, waiting.front())));
      waiting.erase(waiting.begin());
      ring.reader.Pop(front);
    }
  }
}

TEST_CASE("A ring takes as many of the largest records as it was made for, and then refuses") {
  const std::size_t largest = GENERATE(1U, 56U, 57U, 1000U, 100'000U);
  Ring ring{largest, 5, 1U << 24U};
  for (int lap = 0; lap < 50; ++lap) {
    std::size_t num_taken = 0;
    while (ring.writer.HasRoom(largest)) {
      ring.writer.Write(Record(num_taken, largest));
      ++num_taken;
    }
    CHECK(num_taken >= 5);
    CHECK_FALSE(ring.writer.IsEmpty());
    for (std::size_t i = 0; i < num_taken; ++i) ring.reader.Pop(ring.reader.Front());
    CHECK(ring.reader.Front().data() == nullptr);
    CHECK(ring.writer.IsEmpty());
  }
}

TEST_CASE("A record that leaves room for exactly one more word is accepted, and one byte more is not") {
  constexpr std::size_t capacity = 64;
  Ring ring{1, 1};
  REQUIRE(ring.memory.All().size() == sizeof(shared_ring::Head) + capacity);
  const auto pass = [&](std::size_t num_bytes) {
    REQUIRE(ring.writer.HasRoom(num_bytes));
    ring.writer.Write(Record(1, num_bytes));
    const ByteView front = ring.reader.Front();
    CHECK(std::ranges::equal(front, Record(1, num_bytes)));
    ring.reader.Pop(front);
  };
  SECTION("in an empty ring") {
    CHECK_FALSE(ring.writer.HasRoom(49));
    pass(48);  // 56 bytes with its word
  }
  SECTION("behind a record that waits") {
    ring.writer.Write(Record(0, 16));  // 24 bytes with its word
    CHECK_FALSE(ring.writer.HasRoom(25));
    REQUIRE(ring.writer.HasRoom(24));  // 32 bytes with its word
    ring.writer.Write(Record(1, 24));
    CHECK_FALSE(ring.writer.HasRoom(0));
    for (const std::size_t number : {0U, 1U}) {
      const ByteView front = ring.reader.Front();
      CHECK(std::ranges::equal(front, Record(number, 16 + 8 * number)));
      ring.reader.Pop(front);
    }
    CHECK(ring.reader.Front().data() == nullptr);
  }
  SECTION("up to the end") {
    pass(24);  // 32 bytes are left before the end
    pass(24);  // 32 bytes with its word
    pass(48);
  }
  SECTION("past the end") {
    pass(32);  // 24 bytes are left before the end
    CHECK_FALSE(ring.writer.HasRoom(25));
    pass(24);  // 32 bytes with its word, so it goes to the beginning
  }
}

TEST_CASE("A ring is kept small where records are large, and still moves them") {
  constexpr std::size_t largest = 100'000;
  CHECK(shared_ring::BytesFor(largest, 1000, 1U << 20U) <= (1U << 20U) + sizeof(shared_ring::Head));
  Ring ring{largest, 1000, 1};
  for (std::uint64_t number = 0; number < 100; ++number) {
    REQUIRE(ring.writer.HasRoom(largest));
    ring.writer.Write(Record(number, largest));
    const ByteView front = ring.reader.Front();
    REQUIRE(std::ranges::equal(front, Record(number, largest)));
    ring.reader.Pop(front);
  }
}

TEST_CASE("Two threads pass whole records, in order") {
  constexpr std::uint64_t num_records = 100'000;
  Ring ring{300, 8};
  std::atomic<std::uint64_t> num_wrong{0};
  std::thread reading{[&] {
    for (std::uint64_t number = 0; number < num_records; ++number) {
      ByteView front;
      WaitUntil([&] { return (front = ring.reader.Front()).data() != nullptr; });
      if (!std::ranges::equal(front, Record(number, 1 + number % 300))) ++num_wrong;
      ring.reader.Pop(front);
    }
  }};
  for (std::uint64_t number = 0; number < num_records; ++number) {
    WaitUntil([&] { return ring.writer.HasRoom(300); });
    ring.writer.Write(Record(number, 1 + number % 300));
  }
  reading.join();
  CHECK(num_wrong == 0);
}
