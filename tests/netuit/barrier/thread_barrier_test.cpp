#include <netuit/barrier/thread_barrier.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/schedule_explorer.hpp"

namespace {

using netuit::ThreadBarrier;

/// Runs work(thread) on so many threads.
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

TEST_CASE("Who waits at a barrier idles until all have arrived") {
  ThreadBarrier barrier{2};
  std::atomic<int> num_idles{0};
  std::thread waiter{[&] { barrier.ArriveAndWait([] {}, [&] { ++num_idles; }); }};
  // Beyond its pauses and yields, where it sleeps.
  while (num_idles < 300) std::this_thread::yield();
  barrier.ArriveAndWait();
  waiter.join();
  CHECK(num_idles >= 300);
}

TEST_CASE("An act that throws reaches the last to arrive, and releases all") {
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

namespace {

using uit::testing::Explored;
using uit::testing::Explorer;
using uit::testing::Watched;

/// Two threads, two rounds; each writes what the other reads after the barrier, and so does the last.
template <typename Sync>
struct Meeting {
  ThreadBarrier<Sync> barrier{2};
  std::array<Watched, 2> notes;
  Watched act{0};
  std::array<int, 2> num_rounds{};

  void Run(std::size_t thread) {
    for (int round = 1; round <= 2; ++round) {
      notes[thread] = Watched{round};
      if (!Meet(true)) return;
      Explorer::Expect(notes[1 - thread].Value() == round, "a thread left before the other arrived");
      Explorer::Expect(act.Value() == round, "a thread left before the last had acted");
      if (!Meet(false)) return;
      num_rounds[thread] = round;
    }
  }

  bool Meet(bool acts) {
    const auto ticket = barrier.Arrive([&] {
      if (acts) act = Watched{act.Value() + 1};
    });
    for (int i = 0; i < 2; ++i)
      if (barrier.HasPassed(ticket)) return true;
    return false;  // waits no longer, so that there are only so many schedules
  }

  void Finish() {}
};

/// Weakens one operation on one of the barrier's two atomics.
enum class Weak { arrival, release, pass };
template <Weak weak>
struct Weakened : uit::testing::NoFault {
  static constexpr std::memory_order Load(std::size_t atomic, std::memory_order order) {
    return weak == Weak::pass && atomic == 1 ? std::memory_order_relaxed : order;
  }
  static constexpr std::memory_order Store(std::size_t atomic, std::memory_order order) {
    return weak == Weak::release && atomic == 1 ? std::memory_order_relaxed : order;
  }
  static constexpr std::memory_order Exchange(std::size_t atomic, std::memory_order order) {
    return weak == Weak::arrival && atomic == 0 ? std::memory_order_relaxed : order;
  }
};

template <Weak weak>
std::string Failure() {
  return Explorer::Explore<Meeting<Explored<Weakened<weak>>>>(3).failure;
}

}  // namespace

TEST_CASE("Under every schedule a barrier orders what comes before it and what comes after") {
  const Explorer::Result result = Explorer::Explore<Meeting<Explored<>>>(3);
  CHECK(result.failure.empty());
  CHECK(result.is_exhausted);
  CHECK(result.num_executions > 100);
}

TEST_CASE("The explorer sees each memory order of a barrier that is too weak") {
  CHECK_FALSE(Failure<Weak::arrival>().empty());
  CHECK_FALSE(Failure<Weak::release>().empty());
  CHECK_FALSE(Failure<Weak::pass>().empty());
}
