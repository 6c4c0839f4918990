// The barrier between threads, and the decisions of a run at it, under every schedule.
#include <uit/team/thread_barrier.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tests/support/catch.hpp"
#include "tests/support/explored_atomic.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/support/watched.hpp"

namespace {

using namespace uit::testing;
using uit::ThreadBarrier;

/// Threads at a barrier.
template <std::size_t n>
class Group {
 public:
  explicit Group(std::uint32_t first = 0) : barrier_{n, first} {}

  /// Passes the barrier, or gives up after a few tries, so that the number of schedules stays finite.
  template <typename OnLast>
  bool Meet(std::size_t thread, OnLast on_last) {
    ++num_arrivals_[thread];
    tickets_[thread] = barrier_.Arrive(on_last);
    if (barrier_.HasPassed(tickets_[thread])) return true;
    Explorer::Yield();
    return barrier_.HasPassed(tickets_[thread]);
  }
  int NumArrivals(std::size_t thread) const { return num_arrivals_[thread]; }
  /// Called when all have ended: no thread gave up.
  void Finish() const {
    if (std::ranges::count(num_arrivals_, num_arrivals_[0]) != std::ssize(num_arrivals_)) return;
    for (const auto ticket : tickets_) Explorer::Expect(barrier_.HasPassed(ticket), "all have arrived, and none comes through");
  }

 private:
  ThreadBarrier<Explored> barrier_;
  std::array<int, n> num_arrivals_{};
  std::array<std::uint32_t, n> tickets_{};
};

/// Threads that meet a few times. Each thread writes values that the others read after the barrier; so does the last to
/// arrive.
template <std::size_t n, int num_rounds, std::uint32_t first = 0>
struct Meeting {
  static constexpr std::size_t num_threads = n;
  Group<n> group{first};
  std::array<Watched, n> notes;
  Watched act{0};

  void Run(std::size_t thread) {
    for (int round = 1; round <= num_rounds; ++round) {
      notes[thread] = Watched{round};
      if (!group.Meet(thread, [&] { act = Watched{act.Value() + 1}; })) return;
      for (const Watched& note : notes) Explorer::Expect(note.Value() == round, "a thread left before another arrived");
      Explorer::Expect(act.Value() == round, "a thread left before the last had acted");
      if (round < num_rounds && !group.Meet(thread, [] {})) return;
    }
  }
  void Finish() { group.Finish(); }
};

/// Either thread may raise the flag at any moment. Both leave after the same barrier: the last to arrive merges what each
/// thread had seen of the flag on arrival, as workers of a run do. Without `agrees`, each thread decides by the flag itself.
template <bool agrees = true>
struct Stopping {
  static constexpr int num_rounds = 3;
  Group<2> group;
  Explored::Atomic<std::uint32_t> flag{0};
  std::array<Watched, 2> views;
  Watched agreed{0};
  std::array<int, 2> left_after{};  // 0: gave up

  void Run(std::size_t thread) {
    for (int round = 1; round <= num_rounds; ++round) {
      if (thread == 1 && round == 2) flag.store(1, std::memory_order_relaxed);
      views[thread] = static_cast<int>(flag.load(std::memory_order_relaxed));
      if (!group.Meet(thread, [&] { agreed = std::max(views[0].Value(), views[1].Value()); })) return;
      const int stops = agrees ? agreed.Value() : static_cast<int>(flag.load(std::memory_order_relaxed));
      if (stops != 0 || round == num_rounds) {
        left_after[thread] = round;
        return;
      }
    }
  }
  void Finish() {
    group.Finish();
    for (std::size_t thread : {0U, 1U})
      Explorer::Expect(left_after[thread] == 0 || group.NumArrivals(1 - thread) <= left_after[thread],
                       "a thread waits at a barrier to which the other does not come");
  }
};

}  // namespace

TEST_CASE("A thread barrier orders memory under every schedule") {
  CheckExhausted<Meeting<2, 2>>("barrier");
  CheckExhausted<Meeting<2, 2, std::numeric_limits<std::uint32_t>::max() - 1>>("barrier, rounds wrap");
  CheckExhausted<Meeting<3, 1>>("barrier, 3 threads", nightly_bound_of_many);
}

TEST_CASE("Under every schedule threads that agree to stop leave after the same barrier") {
  CheckExhausted<Stopping<>>("barrier, stop flag");
  CheckCaught<Stopping<false>>("each goes by the flag itself");
}
