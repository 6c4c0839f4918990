// How a thread waits beside a busy program on its core.

#ifdef __linux__

#include <sched.h>
#include <time.h>

#include <chrono>
#include <optional>
#include <thread>

#include <uit/uit.hpp>

#include "microbenchmarks/support/burner.hpp"
#include "microbenchmarks/support/machine.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;

namespace {

/// The time that the calling thread has had a core.
std::chrono::nanoseconds TimeOnCore() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Calls `act` in a thread on one core, perhaps together with a busy one.
template <typename F>
void OnOneCore(bool is_shared, F&& act) {
  std::thread([&] {
    bench::PinTo(::sched_getcpu());
    std::optional<bench::Burner> burner;
    if (is_shared) burner.emplace(0);
    act();
  }).join();
}

/// Spins until the core counts as shared. Returns whether it does so within a long time.
bool BecomesShared(uit::CoreShare& core) {
  const auto end = uit::Now() + 20s;
  while (uit::Now() < end)
    if (core.IsShared(uit::Now())) return true;
  return false;
}

/// Waits in vain until `span` has passed, as a thread with this habit does.
void WaitFor(std::chrono::nanoseconds span, uit::SpinHabit& habit) {
  uit::WaitUntil([] { return false; }, uit::After(span), uit::NoIdle{}, uit::Backoff{habit});
}

/// Makes a wait of 10 ms beside many short ones, so that the thread goes on to spin. Returns for how much of it the thread had a core.
std::chrono::nanoseconds TimeOfOneLongWait(uit::SpinHabit& habit) {
  for (int i = 0; i < 20; ++i) habit.NoteWait(10us);
  const auto start = TimeOnCore();
  WaitFor(10ms, habit);
  return TimeOnCore() - start;
}

void LearnThatCoreIsShared(uit::SpinHabit& habit) {
  for (int i = 0; i < 1000; ++i)
    if (TimeOfOneLongWait(habit) < 2ms && i >= 30) return;
}

}  // namespace

TEST_CASE("A thread that is never pushed off its core shares it with nobody") {
  bool is_shared = true;
  OnOneCore(false, [&] {
    uit::CoreShare core;
    is_shared = core.IsShared(uit::Now());
    for (int i = 0; i < 30; ++i) std::this_thread::sleep_for(5ms);  // who sleeps is not pushed off, on a busy machine either
    is_shared = is_shared || core.IsShared(uit::Now());
  });
  CHECK_FALSE(is_shared);
}

TEST_CASE("A thread finds out that a busy program uses its core, and forgets it when it no longer shows") {
  bool was_shared = false;
  bool is_shared_still = false;
  bool is_shared = true;
  OnOneCore(true, [&] {
    uit::CoreShare core;
    was_shared = BecomesShared(core);
    std::this_thread::sleep_for(uit::CoreShare::span_to_judge);
    is_shared_still = core.IsShared(uit::Now());
    std::this_thread::sleep_for(uit::CoreShare::span_to_remember);
    is_shared = core.IsShared(uit::Now());
  });
  CHECK(was_shared);
  CHECK(is_shared_still);
  CHECK_FALSE(is_shared);
}

TEST_CASE("What has happened before a long time without long waits says nothing about a core") {
  bool is_shared = true;
  bool becomes_shared = false;
  OnOneCore(true, [&] {
    uit::CoreShare core;
    is_shared = core.IsShared(uit::Now());
    const auto end = uit::Now() + uit::CoreShare::span_to_remember + 100ms;
    while (uit::Now() < end) {
    }
    is_shared = is_shared || core.IsShared(uit::Now());
    becomes_shared = BecomesShared(core);
  });
  CHECK_FALSE(is_shared);
  CHECK(becomes_shared);
}

TEST_CASE("A thread that shares its core sleeps in long waits") {
  constexpr int num_waits = 10;
  std::chrono::nanoseconds time{};
  bool is_long = false;
  OnOneCore(true, [&] {
    uit::SpinHabit habit;
    LearnThatCoreIsShared(habit);
    for (int i = 0; i < num_waits; ++i) time += TimeOfOneLongWait(habit);
    is_long = habit.IsLong();
  });
  CHECK(is_long);
  CHECK(time < num_waits * 2500us);  // a spin would have about half of 10 ms
}

TEST_CASE("A thread that sleeps in most of its waits comes to yield, because those it waits for may need its core") {
  bool was_long = false;
  bool is_long = true;
  OnOneCore(true, [&] {
    uit::SpinHabit habit;
    LearnThatCoreIsShared(habit);
    was_long = habit.IsLong();
    for (int i = 0; i < 1000 && habit.IsLong(); ++i) WaitFor(2 * uit::SpinHabit::longest_spin_if_shared, habit);
    is_long = habit.IsLong();
  });
  CHECK(was_long);
  CHECK_FALSE(is_long);
}

#endif
