// Threads that all post loops and all steal, with more threads than cores.
#include <uit/team/loop_board.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/team/thread_pool.hpp>

#include "tests/support/catch.hpp"
#include "tests/uit/core/support/sanitized.hpp"

namespace {

constexpr std::uint32_t num_threads = 6;
constexpr std::size_t most_indices = 200;
constexpr std::size_t num_loops = uit::testing::is_slow_build ? 3'000 : 30'000;

/// A small generator, so that lengths differ from loop to loop.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_{seed} {}
  std::size_t Below(std::size_t bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state_ >> 33U) % bound;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

TEST_CASE("Threads that post loops and steal run each index of each loop once") {
  uit::ThreadPool pool{num_threads};
  uit::LoopBoard<> board{num_threads};
  std::atomic<std::uint32_t> num_over{0};
  std::array<std::size_t, num_threads> num_wrong{};
  std::array<std::size_t, num_threads> num_thrown{};
  std::array<std::size_t, num_threads> num_expected{};
  std::array<std::atomic<std::size_t>, num_threads> num_stolen{};
  pool.Run([&](std::uint32_t thread) {
    Draw draw{thread + 1};
    for (std::size_t loop = 0; loop < num_loops; ++loop) {
      std::vector<std::size_t> runs(draw.Below(most_indices));  // written without atomics, on whichever thread
      const std::size_t grain = 1 + draw.Below(20);
      const bool throws = draw.Below(10) == 0 && !runs.empty();
      const std::size_t bad = throws ? draw.Below(runs.size()) : 0;
      num_expected[thread] += throws ? 1 : 0;
      try {
        board.For(thread, runs.size(), grain, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) runs[i] += loop + 1;
          if (throws && begin <= bad && bad < end) throw std::runtime_error("bad");
        });
        for (const std::size_t run : runs) num_wrong[thread] += run == loop + 1 ? 0 : 1;
      } catch (const std::runtime_error&) {
        ++num_thrown[thread];
        for (const std::size_t run : runs) num_wrong[thread] += run == loop + 1 || run == 0 ? 0 : 1;
      }
      if (draw.Below(4) == 0) num_stolen[thread] += board.TrySteal(thread) ? 1 : 0;
    }
    ++num_over;
    uit::WaitUntil([&] { return num_over.load() == num_threads; }, uit::never, [&] {
      const bool has_stolen = board.TrySteal(thread);
      num_stolen[thread] += has_stolen ? 1 : 0;
      return has_stolen;
    });
  });
  std::size_t total = 0;
  for (std::uint32_t thread = 0; thread < num_threads; ++thread) {
    CHECK(num_wrong[thread] == 0);
    CHECK(num_thrown[thread] == num_expected[thread]);
    total += num_stolen[thread];
  }
  std::printf("%zu loops of %u threads, %zu chunks stolen between them\n", num_threads * num_loops, num_threads, total);
  CHECK(total > 0);
}
