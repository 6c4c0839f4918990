#include <uit/team/thread_barrier.hpp>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

namespace {

using uit::ThreadBarrier;

/// Runs work(thread) on that many threads.
template <typename Work>
void RunThreads(std::uint32_t num_threads, Work work) {
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < num_threads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

struct alignas(64) Counter {
  std::uint32_t value = 0;
};

}  // namespace

TEST_CASE("No thread leaves a barrier before the last has arrived, and all see what all did") {
  const auto num_threads = GENERATE(1U, 2U, 3U, 4U, 7U);
  constexpr std::uint32_t num_rounds = 500;
  ThreadBarrier barrier{num_threads};
  std::vector<Counter> arrivals(num_threads);
  std::vector<Counter> faults(num_threads);
  RunThreads(num_threads, [&](std::uint32_t thread) {
    for (std::uint32_t round = 1; round <= num_rounds; ++round) {
      arrivals[thread].value = round;
      barrier.ArriveAndWait();
      for (const Counter& other : arrivals) faults[thread].value += other.value != round;
      barrier.ArriveAndWait();
    }
  });
  for (const Counter& count : faults) CHECK(count.value == 0);
  CHECK(barrier.NumThreads() == num_threads);
}

TEST_CASE("The last to arrive acts once per round, before anyone leaves") {
  const auto num_threads = GENERATE(1U, 2U, 4U);
  constexpr std::uint32_t num_rounds = 500;
  ThreadBarrier barrier{num_threads};
  std::uint32_t num_acts = 0;
  std::vector<Counter> faults(num_threads);
  RunThreads(num_threads, [&](std::uint32_t thread) {
    for (std::uint32_t round = 1; round <= num_rounds; ++round) {
      barrier.ArriveAndWait([&] { ++num_acts; });
      faults[thread].value += num_acts != round;
      barrier.ArriveAndWait();
    }
  });
  CHECK(num_acts == num_rounds);
  for (const Counter& count : faults) CHECK(count.value == 0);
}

TEST_CASE("A thread that waits at a barrier idles until all have arrived") {
  ThreadBarrier barrier{2};
  std::atomic<int> num_idles{0};
  std::thread waiter{[&] { barrier.ArriveAndWait([] {}, [&] { ++num_idles; }); }};
  // Long enough that a waiting thread has stopped spinning and yielding, and sleeps.
  while (num_idles < 300) std::this_thread::yield();
  barrier.ArriveAndWait();
  waiter.join();
  CHECK(num_idles >= 300);
}

TEST_CASE("An exception of the last to arrive releases all") {
  constexpr std::uint32_t num_threads = 3;
  ThreadBarrier barrier{num_threads};
  std::atomic<int> num_caught{0};
  std::atomic<int> num_left{0};
  RunThreads(num_threads, [&](std::uint32_t) {
    for (int round = 0; round < 50; ++round) {
      try {
        barrier.ArriveAndWait([] { throw std::runtime_error{"an act"}; });
        ++num_left;
      } catch (const std::runtime_error&) {
        ++num_caught;
      }
    }
  });
  CHECK(num_caught == 50);
  CHECK(num_left == 50 * (num_threads - 1));
}

TEST_CASE("A barrier can be tried without waiting") {
  ThreadBarrier barrier{2};
  const auto first = barrier.Arrive();
  CHECK_FALSE(barrier.HasPassed(first));
  const auto second = barrier.Arrive();
  CHECK(barrier.HasPassed(first));
  CHECK(barrier.HasPassed(second));
}
