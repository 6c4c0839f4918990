// How a thread waits beside a busy program on its core.

#ifdef __linux__

#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <uit/uit.hpp>

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;

namespace {

/// Lets the calling thread run on this core alone.
void PinTo(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  if (::sched_setaffinity(0, sizeof one, &one) != 0) throw uit::Error("cannot pin a thread");
}

/// The time that the calling thread has had a core.
std::chrono::nanoseconds TimeOnCore() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Calls `act` in a thread on one core, perhaps together with a busy one.
template <typename F>
void OnOneCore(bool is_shared, F&& act) {
  const int core = ::sched_getcpu();
  std::atomic<bool> is_over{false};
  std::thread busy;
  if (is_shared)
    busy = std::thread([&] {
      PinTo(core);
      while (!is_over.load(std::memory_order_relaxed)) {
      }
    });
  std::thread([&] {
    PinTo(core);
    act();
  }).join();
  is_over.store(true, std::memory_order_relaxed);
  if (busy.joinable()) busy.join();
}

/// Waits in vain until `span` has passed, as a thread with this habit does.
void WaitFor(std::chrono::nanoseconds span, uit::SpinHabit& habit) {
  uit::WaitUntil([] { return false; }, uit::After(span), uit::NoIdle{}, uit::Backoff{habit});
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

TEST_CASE("A thread finds out that a busy program uses its core, and that it has gone") {
  bool was_shared = false;
  bool is_shared_still = false;
  bool is_shared = true;
  OnOneCore(true, [&] {
    uit::CoreShare core;
    const auto end = uit::Now() + 20s;
    while (!was_shared && uit::Now() < end) was_shared = core.IsShared(uit::Now());
    std::this_thread::sleep_for(uit::CoreShare::span_to_judge);
    is_shared_still = core.IsShared(uit::Now());
    std::this_thread::sleep_for(uit::CoreShare::span_to_remember);
    is_shared = core.IsShared(uit::Now());
  });
  CHECK(was_shared);
  CHECK(is_shared_still);
  CHECK_FALSE(is_shared);
}

TEST_CASE("A thread that shares its core sleeps in long waits") {
  constexpr int num_waits = 30;
  std::chrono::nanoseconds time{};
  bool stays_long = true;
  OnOneCore(true, [&] {
    uit::SpinHabit habit;
    const auto wait = [&habit, &stays_long](int count) {
      for (int i = 0; i < count; ++i) {
        for (int j = 0; j < 20; ++j) habit.NoteWait(10us);  // most waits are short, so that it spins
        WaitFor(10ms, habit);
        stays_long = stays_long && habit.IsLong();
      }
    };
    wait(30);  // it learns that the core is shared
    const auto start = TimeOnCore();
    wait(num_waits);
    time = TimeOnCore() - start;
  });
  CHECK(stays_long);
  CHECK(time < num_waits * 2500us);  // a spin would have about half of 10 ms
}

#endif
