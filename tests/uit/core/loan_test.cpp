// Loans within a process: the message is written in the slot where the outlet reads it.
#include <algorithm>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

#include <uit/conduit.hpp>
#include <uit/support/error.hpp>
#include <uit/transport/limited.hpp>

#include "tests/support/catch.hpp"

using namespace uit;

namespace {

using Numbers = std::vector<int>;
using Transports = TransportSet<Intra, Thread, Limited<Intra>, Limited<Thread>>;
using Line = Conduit<Numbers, Policy{}, Transports>;

constexpr std::size_t depth = 3;
constexpr std::size_t max_message_bytes = 1000 * sizeof(int);

Line Opened(int kind) {
  if (kind == 0) return Line{Intra{.depth = depth}};
  if (kind == 1) return Line{Thread{.depth = depth}};
  if (kind == 2) return Line{Limited<Intra>{{.depth = depth}, max_message_bytes}};
  return Line{Limited<Thread>{{.depth = depth}, max_message_bytes}};
}

}  // namespace

TEST_CASE("Within a process a loan is read where it was written, and its memory is used again") {
  auto [inlet, outlet] = Opened(GENERATE(0, 1, 2, 3));
  std::vector<const int*> places;
  for (int lap = 0; lap < 20; ++lap) {
    const auto room = inlet.TryLoan(1000);
    REQUIRE(room);
    for (int& number : *room) number = lap;
    CHECK(outlet.TryStep() == 0);
    REQUIRE(inlet.Publish(*room));
    const bool is_read = outlet.TryRead([&](std::span<const int> numbers) {
      CHECK(numbers.data() == room->data());
      CHECK(numbers.size() == 1000);
      CHECK(numbers.back() == lap);
      places.push_back(numbers.data());
    });
    REQUIRE(is_read);
  }
  for (std::size_t i = 8; i < places.size(); ++i) CHECK((places[i] == places[i - 4] || places[i] == places[i - 8]));
  CHECK(inlet.Tally().attempted == 20);
  CHECK(inlet.Tally().dropped == 0);
  CHECK(outlet.Tally().stepped == 20);
}

TEST_CASE("Within a process a loan that is not published is no message") {
  auto [inlet, outlet] = Opened(GENERATE(0, 1, 2, 3));
  const auto room = inlet.TryLoan(10);
  REQUIRE(inlet.TryPut(Numbers{1, 2}));
  CHECK_FALSE(inlet.Publish(*room));
  REQUIRE(inlet.TryLoan(5));
  Numbers own{1, 2};
  CHECK_FALSE(inlet.Publish(own));
  const auto other = inlet.TryLoan(6);
  REQUIRE(inlet.Publish(other->first(4)));
  CHECK_FALSE(inlet.Publish(*other));
  CHECK(outlet.TryStep() == 1);
  CHECK(outlet.Get() == Numbers{1, 2});
  CHECK(outlet.TryStep() == 1);
  CHECK(outlet.Get().size() == 4);
  CHECK(outlet.TryStep() == 0);
  CHECK(inlet.Tally().attempted == 5);
  CHECK(inlet.Tally().dropped == 3);
}

TEST_CASE("Within a process a loan is refused if no message has room") {
  auto [inlet, outlet] = Opened(GENERATE(0, 1, 2, 3));
  for (std::size_t i = 0; i < depth; ++i) REQUIRE(inlet.Publish(*inlet.TryLoan(i + 1)));
  CHECK_FALSE(inlet.TryLoan(1));
  CHECK(inlet.Tally().dropped == 1);
  for (std::size_t i = 0; i < depth; ++i) {
    std::size_t count = 0;
    CHECK(outlet.TryRead([&](std::span<const int> numbers) { count = numbers.size(); }));
    CHECK(count == i + 1);
  }
  CHECK_FALSE(outlet.TryRead([](std::span<const int>) {}));
  CHECK(inlet.TryLoan(1));
}

TEST_CASE("Within a process a loan is refused above the limit, with the words of a put") {
  auto [inlet, outlet] = Opened(GENERATE(2, 3));
  CHECK_THROWS_AS(inlet.TryLoan(1001), MessageTooLarge);
  CHECK_THROWS_AS(inlet.TryLoan(~std::size_t{0} / 2), MessageTooLarge);
  CHECK(inlet.TryLoan(1000));
  CHECK(inlet.Tally().dropped == 2);
}

TEST_CASE("Loans pass whole between two threads, among puts") {
  constexpr int num_messages = 20'000;
  auto [inlet, outlet] = Opened(GENERATE(1, 3));
  std::thread putting{[&to = inlet] {
    for (int i = 0; i < num_messages;) {
      const auto count = static_cast<std::size_t>(1 + i % 50);
      if (i % 3 == 0) {
        i += to.TryPut(Numbers(count, i)) ? 1 : 0;
      } else if (const auto room = to.TryLoan(50)) {
        std::fill(room->begin(), room->end(), i);
        i += to.Publish(room->first(count)) ? 1 : 0;
      }
    }
  }};
  int num_wrong = 0;
  for (int i = 0; i < num_messages;) {
    const bool is_read = outlet.TryRead([&](std::span<const int> numbers) {
      const bool is_whole = std::all_of(numbers.begin(), numbers.end(), [i](int number) { return number == i; });
      num_wrong += is_whole && numbers.size() == static_cast<std::size_t>(1 + i % 50) ? 0 : 1;
    });
    if (is_read) ++i;
    else std::this_thread::yield();
  }
  putting.join();
  CHECK(num_wrong == 0);
  Tally tally;
  tally += inlet.Tally();
  tally += outlet.Tally();
  CHECK(tally.Balanced());
}

TEST_CASE("A muted inlet lends nothing") {
  auto [inlet, outlet] = Opened(1);
  Mute(inlet);
  CHECK_FALSE(inlet.TryLoan(1));
  CHECK(inlet.Tally().muted == 1);
}
