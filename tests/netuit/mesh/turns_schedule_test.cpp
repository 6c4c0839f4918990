// The turns of threads that use an object in sequence, under every schedule.
#include <netuit/mesh/turns.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include "tests/support/catch.hpp"
#include "tests/support/explored_atomic.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/support/watched.hpp"

namespace {

using namespace uit::testing;

/// Thread i takes turn i + 1, and the first thread also the turn after all of those, in each of a few updates, whose numbers wrap
/// around. `passes`: threads first note that they take no turn below their own, as at the beginning of a level.
template <std::size_t n, int num_updates, bool passes>
struct InSequence {
  static constexpr std::size_t num_threads = n;
  static constexpr std::uint64_t first = 0xFFFFFFFF;

  netuit::detail::Turns<Explored> turns{n};
  Watched last{0};  // the number of the last turn
  std::array<bool, n> has_given_up{};

  InSequence() { turns.Begin(first); }

  void Run(std::size_t thread) {
    for (int update = 0; update < num_updates; ++update) {
      const auto number = first + static_cast<std::uint64_t>(update);
      if (passes) turns.Pass(thread, number, static_cast<std::uint32_t>(thread) + 1);
      if (!Take(thread, update, static_cast<int>(thread) + 1)) return;
      if (thread == 0 && !Take(thread, update, static_cast<int>(n) + 1)) return;
      turns.EndUpdate(thread, number);
    }
    turns.EndRun(thread);
  }
  /// Gives up after a few tries, so that the number of schedules stays finite.
  bool Take(std::size_t thread, int update, int place) {
    turns.Come(thread, first + static_cast<std::uint64_t>(update), static_cast<std::uint32_t>(place));
    bool is_turn = turns.IsTurn(thread);
    if (!is_turn && n == 2) {
      Explorer::Yield();
      is_turn = turns.IsTurn(thread);
    }
    has_given_up[thread] = !is_turn;
    if (!is_turn) return false;
    const int turn = update * static_cast<int>(n + 1) + place;
    Explorer::Expect(last.Value() == turn - 1, "a turn was taken before an earlier one was over");
    last = Watched{turn};
    return true;
  }
  void Finish() {
    for (const bool has : has_given_up)
      if (has) return;
    Explorer::Expect(last.Value() == num_updates * static_cast<int>(n + 1), "a turn was not taken");
  }
};

}  // namespace

TEST_CASE("Threads take turns in order under every schedule") {
  CheckExhausted<InSequence<2, 2, false>>("turns");
  CheckExhausted<InSequence<2, 1, true>>("turns, with levels");
  CheckExhausted<InSequence<3, 1, false>>("turns, 3 threads", nightly_bound_of_many);
}
