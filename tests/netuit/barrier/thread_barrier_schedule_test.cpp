// The barrier between threads, and what a run agrees on there, under every schedule.
#include <netuit/barrier/thread_barrier.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tests/support/catch.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"

namespace {

using namespace uit::testing;
using netuit::ThreadBarrier;

/// Two threads at a barrier.
template <typename Sync>
class Pair {
 public:
  explicit Pair(std::uint32_t first = 0) : barrier_{2, first} {}

  /// Comes through at last, or waits no longer, so that there are only so many schedules.
  template <typename OnLast>
  bool Meet(std::size_t thread, OnLast on_last) {
    ++num_arrivals_[thread];
    tickets_[thread] = barrier_.Arrive(on_last);
    for (int i = 0; i < 2; ++i)
      if (barrier_.HasPassed(tickets_[thread])) return true;
    return false;
  }
  int NumArrivals(std::size_t thread) const { return num_arrivals_[thread]; }
  /// When both have ended: nobody waited in vain.
  void Finish() const {
    if (num_arrivals_[0] != num_arrivals_[1]) return;
    for (const auto ticket : tickets_) Explorer::Expect(barrier_.HasPassed(ticket), "both have arrived, and neither comes through");
  }

 private:
  ThreadBarrier<Sync> barrier_;
  std::array<int, 2> num_arrivals_{};
  std::array<std::uint32_t, 2> tickets_{};
};

/// Two threads, two rounds; each writes what the other reads after the barrier, and so does the last.
template <typename Sync, std::uint32_t first = 0>
struct Meeting {
  Pair<Sync> pair{first};
  std::array<Watched, 2> notes;
  Watched act{0};

  void Run(std::size_t thread) {
    for (int round = 1; round <= 2; ++round) {
      notes[thread] = Watched{round};
      if (!pair.Meet(thread, [&] { act = Watched{act.Value() + 1}; })) return;
      Explorer::Expect(notes[1 - thread].Value() == round, "a thread left before the other arrived");
      Explorer::Expect(act.Value() == round, "a thread left before the last had acted");
      if (!pair.Meet(thread, [] {})) return;
    }
  }
  void Finish() { pair.Finish(); }
};

/// Either thread may raise the flag at any moment; all leave after the same barrier, because what each had seen of the flag
/// as it arrived is merged by the last, as a run's workers do. (`agrees`; else each goes by the flag itself.)
template <typename Sync, bool agrees = true>
struct Stopping {
  static constexpr int num_rounds = 3;
  Pair<Sync> pair;
  typename Sync::template Atomic<std::uint32_t> flag{0};
  std::array<Watched, 2> views;
  Watched agreed{0};
  std::array<int, 2> left_after{};  // 0: gave up waiting

  void Run(std::size_t thread) {
    for (int round = 1; round <= num_rounds; ++round) {
      if (thread == 1 && round == 2) flag.store(1, std::memory_order_relaxed);
      views[thread] = static_cast<int>(flag.load(std::memory_order_relaxed));
      if (!pair.Meet(thread, [&] { agreed = std::max(views[0].Value(), views[1].Value()); })) return;
      const int stops = agrees ? agreed.Value() : static_cast<int>(flag.load(std::memory_order_relaxed));
      if (stops != 0 || round == num_rounds) {
        left_after[thread] = round;
        return;
      }
    }
  }
  void Finish() {
    pair.Finish();
    for (std::size_t thread : {0U, 1U})
      Explorer::Expect(left_after[thread] == 0 || pair.NumArrivals(1 - thread) <= left_after[thread],
                       "a thread waits at a barrier to which the other does not come");
  }
};

/// Weakens one operation on one of the barrier's two atomics.
enum class Weak { arrival, release, pass };
template <Weak weak>
struct Weakened : NoFault {
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

}  // namespace

TEST_CASE("Under every schedule a barrier orders what comes before it and what comes after") {
  CheckExhausted<Meeting<Explored<>>>("barrier");
  CheckExhausted<Meeting<Explored<>, std::numeric_limits<std::uint32_t>::max() - 1>>("barrier, rounds wrap");
}

TEST_CASE("Under every schedule threads that agree to stop leave after the same barrier") {
  CheckExhausted<Stopping<Explored<>>>("barrier, stop flag");
  CheckCaught<Stopping<Explored<>, false>>("each goes by the flag itself");
}

TEST_CASE("The explorer sees each memory order of a barrier that is too weak") {
  CheckCaught<Meeting<Explored<Weakened<Weak::arrival>>>>("arrival");
  CheckCaught<Meeting<Explored<Weakened<Weak::release>>>>("release");
  CheckCaught<Meeting<Explored<Weakened<Weak::pass>>>>("pass");
}
