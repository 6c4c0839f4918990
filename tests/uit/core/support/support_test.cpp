#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <uit/support/function_ref.hpp>
#include <uit/support/small_record.hpp>
#include <uit/uit.hpp>

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;

TEST_CASE("A wait tries once even after its deadline") {
  CHECK(uit::WaitUntil([] { return true; }, uit::Now() - 1h));
  int num_tries = 0;
  CHECK_FALSE(uit::WaitUntil([&] { return ++num_tries > 100; }, uit::Now() - 1h));
  CHECK(num_tries == 2);
}

TEST_CASE("A wait idles between tries, and not after its end") {
  int num_tries = 0;
  int num_idles = 0;
  CHECK(uit::WaitUntil([&] { return ++num_tries == 1000; }, uit::never, [&] { ++num_idles; }));
  CHECK(num_idles == 999);
}

TEST_CASE("An idle function that finds work keeps the wait eager") {
  // Patient tries sleep for at least 50 us each; eager ones do not sleep.
  int num_tries = 0;
  const auto start = uit::Now();
  CHECK(uit::WaitUntil([&] { return ++num_tries == 20'000; }, uit::never, [] { return true; }));
  CHECK(uit::Now() - start < 20'000 * 50us);
}

TEST_CASE("A wait with a deadline ends close to it") {
  const auto start = uit::Now();
  CHECK_FALSE(uit::WaitUntil([] { return false; }, uit::After(20ms)));
  CHECK(uit::Now() - start >= 20ms);
}

namespace {

/// Lets a thread make waits of `span` until it spins for long, or does not any more. Returns how long they took together.
std::chrono::nanoseconds TimeUntilItIs(bool is_long, uit::SpinHabit& habit, std::chrono::nanoseconds span) {
  std::chrono::nanoseconds time{};
  for (int i = 0; i < 1'000'000 && habit.IsLong() != is_long; ++i) {
    habit.NoteWait(span);
    time += span;
  }
  CHECK(habit.IsLong() == is_long);
  return time;
}

}  // namespace

TEST_CASE("A thread spins for long as long as few of its waits last a time slice") {
  uit::SpinHabit habit;
  for (int i = 0; i < 10'000; ++i) {
    habit.NoteWait(i % 5 == 4 ? 3ms : 10us);  // some do, because the other side has no core just now
    REQUIRE(habit.IsLong());
  }
  CHECK(TimeUntilItIs(false, habit, 3ms) <= 400 * 3ms);  // what it has learnt before counts, but not for ever
}

TEST_CASE("A thread that spins for long in vain tries it more and more seldom, until it helps") {
  uit::SpinHabit habit;
  std::chrono::nanoseconds least = uit::SpinHabit::least_patience;
  for (int i = 0; i < 10; ++i) {
    CHECK(TimeUntilItIs(false, habit, 3ms) == uit::SpinHabit::slices_to_judge * 3ms);
    least = std::min<std::chrono::nanoseconds>(2 * least, uit::SpinHabit::most_patience);
    const auto yielded = TimeUntilItIs(true, habit, 20us);
    CHECK(yielded >= least);
    CHECK(yielded <= least + 20us);
  }
  for (int i = 0; i < 10'000; ++i) habit.NoteWait(10us);
  REQUIRE(habit.IsLong());
  TimeUntilItIs(false, habit, 3ms);
  CHECK(TimeUntilItIs(true, habit, 20us) <= 2 * uit::SpinHabit::least_patience + 20us);
}

TEST_CASE("A thread without a core of its own never spins for long") {
  uit::SpinHabit habit{false};
  for (int i = 0; i < 10'000; ++i) {
    habit.NoteWait(1ms);
    REQUIRE_FALSE(habit.IsLong());
  }
}

TEST_CASE("Waits of a thread with a habit spin before they yield, and teach it") {
  uit::SpinHabit habit;
  const auto wait = [&habit](std::chrono::nanoseconds span) {
    const auto end = uit::Now() + span;
    uit::WaitUntil([&] { return uit::Now() >= end; }, uit::never, uit::NoIdle{}, uit::Backoff{habit});
  };
  for (int i = 1; i < uit::SpinHabit::slices_to_judge; ++i) wait(2 * uit::SpinHabit::slice);
  CHECK(habit.IsLong());
  wait(2 * uit::SpinHabit::slice);
  CHECK_FALSE(habit.IsLong());
}

TEST_CASE("Waits that end at their deadline teach a thread, too") {
  uit::SpinHabit habit;
  for (int i = 0; i < uit::SpinHabit::slices_to_judge; ++i) {
    CHECK(habit.IsLong());
    CHECK_FALSE(uit::WaitUntil([] { return false; }, uit::After(1ms), uit::NoIdle{}, uit::Backoff{habit}));
  }
  CHECK_FALSE(habit.IsLong());
}

TEST_CASE("A backoff pauses, yields, and then sleeps") {
  uit::Backoff backoff{20, 10};
  CHECK_FALSE(backoff.IsPatient());
  for (int i = 0; i < 20; ++i) backoff.Rest();
  CHECK(backoff.IsPatient());
  for (int i = 0; i < 10; ++i) backoff.Rest();
  const auto start = uit::Now();
  for (int i = 0; i < 10; ++i) backoff.Rest();
  CHECK(uit::Now() - start >= 200us);
  backoff.Reset();
  CHECK_FALSE(backoff.IsPatient());
}

TEST_CASE("A deadline beyond the clock's range is never reached") {
  CHECK(uit::After(std::chrono::hours::max()) == uit::never);
  CHECK(uit::After(1e300s) == uit::never);
  CHECK(uit::After(1h) > uit::Now());
  CHECK(uit::After(1h) < uit::never);
  CHECK(uit::After(-1h) < uit::Now());
}

TEST_CASE("Compute takes the given time") {
  const auto start = uit::Now();
  uit::Compute(2ms);
  CHECK(uit::Now() - start >= 2ms);
}

#if UIT_ASSERT_LEVEL >= 1
TEST_CASE("A failed assertion says what was wanted, and where") {
  try {
    UIT_ASSERT(1 + 1 == 3, "sums come out");
    FAIL("the assertion held");
  } catch (const uit::AssertionError& error) {
    const std::string text = error.what();
    CHECK(text.find("sums come out") != std::string::npos);
    CHECK(text.find("1 + 1 == 3") != std::string::npos);
    CHECK(text.find("support_test.cpp:") != std::string::npos);
  }
}
#endif

TEST_CASE("Bytes are stored and loaded at any alignment") {
  std::array<std::byte, 20> bytes{};
  for (std::size_t offset = 0; offset < 8; ++offset) {
    const std::uint64_t value = 0x0123456789ABCDEFU + offset;
    uit::StoreBytes(value, uit::MutableByteView{bytes}.subspan(offset));
    CHECK(uit::LoadBytes<std::uint64_t>(uit::ByteView{bytes}.subspan(offset)) == value);
  }
}

TEST_CASE("A byte reader never reads beyond the end") {
  std::array<std::byte, 6> bytes{};
  uit::StoreBytes(std::uint32_t{7}, bytes);
  uit::ByteReader reader{bytes};
  std::uint32_t number = 0;
  CHECK(reader.TryRead(number));
  CHECK(number == 7);
  CHECK_FALSE(reader.TryRead(number));
  CHECK(number == 7);
  CHECK(reader.Rest().size() == 2);
  uit::ByteView taken;
  CHECK_FALSE(reader.TryTake(3, taken));
  CHECK_FALSE(reader.TryTake(std::numeric_limits<std::size_t>::max(), taken));
  CHECK(reader.TryTake(2, taken));
  CHECK(taken.data() == bytes.data() + 4);
  CHECK(reader.Rest().empty());
  CHECK(reader.TryTake(0, taken));
}

namespace {

struct Thing : uit::RefCounted {
  explicit Thing(int& count) : num_alive{count} { ++num_alive; }
  ~Thing() { --num_alive; }
  int& num_alive;
};
struct OtherThing : Thing {
  using Thing::Thing;
};

}  // namespace

TEST_CASE("An object lives as long as its last reference") {
  int num_alive = 0;
  {
    auto first = uit::MakeRef<Thing>(num_alive);
    {
      const uit::Ref<Thing> second = first;
      CHECK(second == first);
      CHECK(num_alive == 1);
    }
    CHECK(num_alive == 1);
    const uit::Ref<Thing> third = std::move(first);
    CHECK_FALSE(first);
    CHECK(num_alive == 1);
  }
  CHECK(num_alive == 0);
}

TEST_CASE("An object in an arena outlives its references") {
  int num_alive = 0;
  {
    std::deque<Thing> arena;
    Thing& thing = arena.emplace_back(num_alive);
    thing.Retain();
    { const uit::Ref<Thing> ref{&thing}; }
    CHECK(num_alive == 1);
  }
  CHECK(num_alive == 0);
}

TEST_CASE("References may be dropped by several threads") {
  int num_alive = 0;
  std::vector<std::thread> threads;
  {
    const auto ref = uit::MakeRef<Thing>(num_alive);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([mine = ref]() mutable {
        for (int j = 0; j < 1000; ++j) const auto copy = mine;
        mine = {};
      });
    }
  }
  for (auto& thread : threads) thread.join();
  CHECK(num_alive == 0);
}

TEST_CASE("A reference to one of several types knows which it is") {
  int num_alive = 0;
  using Any = uit::AnyRef<Thing, OtherThing>;
  STATIC_REQUIRE(sizeof(Any) == sizeof(void*));
  const auto index_seen = [](const Any& any) {
    return any.Visit([]<typename Member>(Member*) {
      return std::is_same_v<Member, OtherThing> ? 1 : 0;
    });
  };
  {
    Any any;
    CHECK(any.Index() == 0);
    CHECK(any.Visit([](auto* target) { return target == nullptr; }));
    any = uit::MakeRef<OtherThing>(num_alive);
    CHECK(any.Index() == 1);
    CHECK(index_seen(any) == 1);
    any = uit::MakeRef<Thing>(num_alive);
    CHECK(num_alive == 1);
    CHECK(index_seen(any) == 0);
    Any other = std::move(any);
    CHECK(any.Index() == 0);
    CHECK(num_alive == 1);
    other = Any{};
    CHECK(num_alive == 0);
    any = uit::MakeRef<OtherThing>(num_alive);
  }
  CHECK(num_alive == 0);
}

TEST_CASE("A small record keeps its count when it makes its record") {
  uit::SmallRecord<std::string> small;
  CHECK(small.Count() == 0);
  CHECK(small.Get().empty());
  constexpr std::uint64_t large = std::uint64_t{1} << 40;
  small.Add(2);
  small.Add(large);
  CHECK(small.Count() == large + 2);

  small.Make() = "a record too long to be kept in place";
  CHECK(small.Count() == large + 2);
  small.Add(3);
  small.Make() += '.';
  CHECK(small.Count() == large + 5);

  uit::SmallRecord<std::string> other{std::move(small)};
  CHECK(other.Count() == large + 5);
  CHECK(other.Get() == "a record too long to be kept in place.");
  CHECK(small.Count() == 0);  // NOLINT: it is as new
  CHECK(small.Get().empty());
  small.Add(1);
  other = std::move(small);
  CHECK(other.Count() == 1);
  CHECK(other.Get().empty());
}

TEST_CASE("Tallies satisfy both equations") {
  uit::Tally tally;
  tally += uit::PutTally{.attempted = 10, .dropped = 3, .muted = 5, .preempted = 1};
  CHECK(tally.put.Accepted() == 7);
  CHECK(tally.InFlight() == 6);
  CHECK_FALSE(tally.Balanced());
  tally += uit::GetTally{.stepped = 2, .skipped = 2, .unread = 1};
  CHECK(tally.InFlight() == 1);
  tally.get.folded = 1;
  CHECK(tally.Balanced());
  tally.get.stepped += 1;
  CHECK(tally.InFlight() == -1);
  CHECK_FALSE(tally.Balanced());
  tally.put.attempted += 1;
  CHECK(tally.Balanced());
  const uit::Tally twice = tally + tally;
  CHECK(twice.Balanced());
  CHECK(twice.put.muted == 10);
}

TEST_CASE("Policies are compared field by field, and may be template arguments") {
  constexpr uit::Policy latest{.retain = uit::Retain::latest};
  STATIC_REQUIRE(latest != uit::Policy{});
  STATIC_REQUIRE(std::is_same_v<uit::Inlet<int>, uit::Inlet<int, uit::Policy{}>>);
  STATIC_REQUIRE_FALSE(std::is_same_v<uit::Inlet<int>, uit::Inlet<int, latest>>);
}

TEST_CASE("A reference to a function calls the object itself, with arguments of any kind") {
  int num_calls = 0;
  const auto add = [&num_calls](std::unique_ptr<int> amount, int& sum) {
    ++num_calls;
    sum += *amount;
    return sum;
  };
  const auto apply = [](uit::FunctionRef<long(std::unique_ptr<int>, int&)> call, int amount, int& sum) {
    return call(std::make_unique<int>(amount), sum);
  };
  int sum = 40;
  CHECK(apply(add, 2, sum) == 42L);
  CHECK(sum == 42);
  CHECK(num_calls == 1);

  struct Counter {
    bool operator()() { return ++count > 1; }
    int count = 0;
  } counter;
  const uit::FunctionRef<bool()> first = counter;
  const uit::FunctionRef<bool()> copy = first;  // refers to the counter, not to `first`
  CHECK_FALSE(first());
  CHECK(copy());
  CHECK(counter.count == 2);
  static_assert(!std::constructible_from<uit::FunctionRef<int()>, void (*)()>);
}
