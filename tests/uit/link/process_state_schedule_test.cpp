// The lock of a process, under every schedule.
#include <uit/link/process_state.hpp>
#include <uit/link/process_state.ipp>  // for a Sync of its own

#include <array>
#include <cstddef>

#include "tests/support/catch.hpp"
#include "tests/support/explored_atomic.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/support/watched.hpp"

namespace {

using namespace uit::testing;

/// Threads that try the lock a few times each. A holder writes data that only the holder may write.
template <std::size_t n, int num_tries>
struct LockScenario {
  static constexpr std::size_t num_threads = n;

  uit::BasicProcessState<Explored> process;
  Watched num_held{0};
  bool is_inside = false;
  std::array<int, n> num_won{};

  void Run(std::size_t thread) {
    for (int i = 0; i < num_tries; ++i) num_won[thread] += Hold();
  }
  void Finish() {
    int sum = 0;
    for (const int won : num_won) sum += won;
    Explorer::Expect(sum > 0, "nobody has had the lock");
    Explorer::Expect(num_held.Value() == sum, "what a holder wrote was lost");
    Explorer::Expect(Hold(), "the lock was not given back");
  }
  bool Hold() {
    return process.Exclusively([&] {
      Explorer::Expect(!is_inside, "two hold the lock at once");
      is_inside = true;
      num_held = Watched{num_held.Value() + 1};
      process.HasThrown();  // a point where another thread may run
      num_held = Watched{num_held.Value()};
      is_inside = false;
    });
  }
};

}  // namespace

TEST_CASE("The lock of a process has one holder under every schedule, who sees earlier writes") {
  CheckExhausted<LockScenario<2, 3>>("lock");
  CheckExhausted<LockScenario<3, 1>>("lock, 3 threads", nightly_bound_of_many);
  CheckExhausted<LockScenario<4, 1>>("lock, 4 threads", nightly_bound_of_many);
}
