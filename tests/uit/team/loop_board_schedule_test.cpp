// Loops of which others take chunks, under every schedule.
#include <uit/team/loop_board.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/support/catch.hpp"
#include "tests/support/explored_atomic.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/support/watched.hpp"

namespace {

using namespace uit::testing;

/// A body that knows its loop. Reading it is an error unless it is ordered after the loop was posted and before the loop's end.
struct Body {
  Watched loop;
  std::span<Watched> results;

  void operator()(std::size_t begin, std::size_t end) const {
    const bool is_within = begin < end && end <= results.size();
    Explorer::Expect(is_within, "a chunk is not of the loop");
    if (!is_within) return;
    for (std::size_t i = begin; i < end; ++i) results[i] = Watched{results[i].Value() * 10 + loop.Value()};
  }
};

/// Thread 0 posts some loops of a few chunks, one after the other. The other threads steal a few times, whatever loop is posted
/// by then. A thread may sleep between its look at the board and its claim while the loop ends and another begins.
template <std::size_t n, int num_loops, std::size_t num_chunks, int num_steals>
struct Stealing {
  static constexpr std::size_t num_threads = n;
  uit::LoopBoard<Explored, Body> board{n};
  std::array<std::array<Watched, num_chunks>, num_loops> results{};

  void Run(std::size_t thread) {
    const auto self = static_cast<std::uint32_t>(thread);
    if (thread != 0) {
      for (int i = 0; i < num_steals; ++i) board.TrySteal(self);
      return;
    }
    for (int loop = 0; loop < num_loops; ++loop) {
      auto& mine = results[static_cast<std::size_t>(loop)];
      board.Post(self, num_chunks, 1, Body{loop + 1, mine});
      board.Work(self);
      for (int tries = 0; !board.IsDone(self); ++tries) {
        if (tries == 2) return;  // a thief has not come to its end, so that the number of schedules stays finite
        Explorer::Yield();
      }
      board.End(self);
      for (const Watched& result : mine) Explorer::Expect(result.Value() == loop + 1, "a chunk did not run once, for its own loop");
    }
  }
  void Finish() {}
};

}  // namespace

TEST_CASE("Under every schedule each chunk of a loop runs once, for the loop that was posted") {
  CheckExhausted<Stealing<2, 2, 2, 2>>("a loop, a thief, and the next loop");
  CheckExhausted<Stealing<3, 1, 2, 1>>("a loop and two thieves", nightly_bound_of_many);
  CheckExhausted<Stealing<3, 2, 1, 1>>("two loops of one chunk and two thieves", nightly_bound_of_many);
}
