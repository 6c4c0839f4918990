#include <uit/team/loop_board.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/sync.hpp>
#include <uit/team/thread_pool.hpp>

#include "tests/support/catch.hpp"

namespace {

using uit::LoopBoard;

/// Counts how often each index of a loop was run.
std::vector<int> CountRuns(LoopBoard<>& board, std::size_t n, std::size_t grain) {
  std::vector<int> counts(n);
  board.For(0, n, grain, [&](std::size_t begin, std::size_t end) {
    CHECK(begin % grain == 0);
    for (std::size_t i = begin; i < end; ++i) ++counts[i];
  });
  return counts;
}

}  // namespace

TEST_CASE("A loop runs each index once, whatever its length and grain") {
  for (const std::uint32_t num_threads : {1U, 2U, 5U}) {
    LoopBoard<> board{num_threads};
    for (const std::size_t n : {0U, 1U, 2U, 63U, 64U, 65U, 1000U}) {
      for (const std::size_t grain : {1U, 7U, 64U, 5000U}) {
        INFO(num_threads << " threads, " << n << " indices, grain " << grain);
        CHECK(CountRuns(board, n, grain) == std::vector<int>(n, 1));
      }
    }
  }
}

TEST_CASE("A loop of too many chunks, or of empty ones, is refused") {
  LoopBoard<> board{2};
  const auto fails = [&](std::size_t n, std::size_t grain) {
    CHECK_THROWS_AS(board.For(0, n, grain, [](std::size_t, std::size_t) { FAIL("it runs"); }), uit::InputError);
  };
  constexpr std::size_t most = 0xFFFF'FFFFU;
  fails(10, 0);
  fails(most + 1, 1);
  fails(3 * most + 3, 3);
  CHECK(LoopBoard<>::NumChunks(3 * (most - 1), 3) == most - 1);
  CHECK(LoopBoard<>::NumChunks(most - 1, 1) == most - 1);
}

TEST_CASE("A loop works with both ends in one thread") {
  LoopBoard<uit::Unsynchronized> board{1};
  std::size_t sum = 0;
  board.For(0, 10, 3, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) sum += i;
  });
  CHECK(sum == 45);
}

TEST_CASE("A steal runs one chunk of a posted loop, and none of a loop of its own") {
  LoopBoard<> board{3};
  CHECK_FALSE(board.TrySteal(1));
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  const auto body = [&](std::size_t begin, std::size_t end) { ranges.emplace_back(begin, end); };
  board.Post(0, 10, 4, body);
  CHECK_FALSE(board.TrySteal(0));
  CHECK(board.TrySteal(1));
  CHECK(board.TrySteal(2));
  CHECK_FALSE(board.IsDone(0));
  CHECK(board.TrySteal(1));
  CHECK_FALSE(board.TrySteal(2));
  CHECK(ranges == std::vector<std::pair<std::size_t, std::size_t>>{{8, 10}, {4, 8}, {0, 4}});
  board.Work(0);
  CHECK(board.IsDone(0));
  board.End(0);
}

TEST_CASE("A thread steals first where it has stolen last, then from the others in turn") {
  LoopBoard<> board{3};
  std::string from;
  const auto b = [&](std::size_t, std::size_t) { from += 'b'; };
  const auto c = [&](std::size_t, std::size_t) { from += 'c'; };
  board.Post(2, 2, 1, c);
  CHECK(board.TrySteal(0));
  board.Post(1, 2, 1, b);
  CHECK(board.TrySteal(0));
  CHECK(board.TrySteal(0));
  CHECK(board.TrySteal(0));
  CHECK_FALSE(board.TrySteal(0));
  CHECK(from == "ccbb");
  for (const std::uint32_t thread : {1U, 2U}) {
    CHECK(board.IsDone(thread));
    board.End(thread);
  }
}

TEST_CASE("Within a chunk, a thread steals nothing and runs loops alone") {
  LoopBoard<> board{2};
  std::size_t num_stolen = 0;
  std::vector<int> inner(6);
  const auto count = [&](std::size_t, std::size_t) { ++num_stolen; };
  board.Post(1, 1, 1, count);
  board.For(0, 3, 1, [&](std::size_t begin, std::size_t end) {
    CHECK_FALSE(board.TrySteal(0));
    for (std::size_t i = begin; i < end; ++i) {
      board.For(0, 2, 1, [&](std::size_t from, std::size_t to) {
        for (std::size_t j = from; j < to; ++j) ++inner[2 * i + j];
      });
    }
  });
  CHECK(inner == std::vector<int>(6, 1));
  CHECK(num_stolen == 0);
  std::vector<std::size_t> ranges;  // of loops of other lengths in a chunk
  board.For(0, 1, 1, [&](std::size_t, std::size_t) {
    for (const std::size_t n : {0U, 1U, 5U})
      board.For(0, n, 2, [&](std::size_t from, std::size_t to) { ranges.insert(ranges.end(), {from, to}); });
  });
  CHECK(ranges == std::vector<std::size_t>{0, 1, 0, 5});
  CHECK(board.TrySteal(0));
  CHECK(board.IsDone(1));
  board.End(1);
}

TEST_CASE("The thread that posted a loop throws what a chunk has thrown, whoever ran it") {
  LoopBoard<> board{2};
  std::size_t num_run = 0;
  const auto body = [&](std::size_t begin, std::size_t) {
    ++num_run;
    throw std::runtime_error("chunk " + std::to_string(begin));
  };
  board.Post(0, 4, 1, body);
  CHECK(board.TrySteal(1));  // does not throw here
  board.Work(0);
  REQUIRE(board.IsDone(0));
  CHECK_THROWS_WITH(board.End(0), "chunk 3");
  CHECK(num_run == 1);
  CHECK_THROWS_WITH(board.For(0, 4, 1, body), "chunk 0");
  CHECK(CountRuns(board, 100, 3) == std::vector<int>(100, 1));  // the next loop knows nothing of it
}

TEST_CASE("A loop ends only when chunks that others run are done") {
  uit::ThreadPool pool{2};
  LoopBoard<> board{2};
  std::atomic<bool> has_begun{false};
  std::atomic<bool> may_end{false};
  std::atomic<bool> is_done{false};
  pool.Run([&](std::uint32_t thread) {
    if (thread == 1) {
      uit::WaitUntil([&] { return board.TrySteal(1); });
      return;
    }
    const auto body = [&](std::size_t begin, std::size_t) {
      if (begin == 0) return;
      has_begun = true;
      uit::WaitUntil([&] { return may_end.load(); });
      is_done = true;
    };
    board.Post(0, 2, 1, body);
    uit::WaitUntil([&] { return has_begun.load(); });
    board.Work(0);
    CHECK_FALSE(board.IsDone(0));
    may_end = true;
    uit::WaitUntil([&] { return board.IsDone(0); });
    CHECK(is_done.load());
    board.End(0);
  });
}

TEST_CASE("A thread whose last chunks others run meanwhile runs chunks of other loops") {
  uit::ThreadPool pool{2};
  LoopBoard<> board{3};
  std::atomic<bool> has_begun{false};
  std::atomic<bool> is_helped{false};
  const auto other_loop = [&](std::size_t, std::size_t) { is_helped = true; };
  pool.Run([&](std::uint32_t thread) {
    if (thread == 1) {
      uit::WaitUntil([&] { return board.TrySteal(1); });
      return;
    }
    board.For(0, 2, 1, [&](std::size_t begin, std::size_t) {
      if (begin == 0) {
        uit::WaitUntil([&] { return has_begun.load(); });
        board.Post(2, 1, 1, other_loop);  // of a thread that has something else to do
      } else {
        has_begun = true;
        uit::WaitUntil([&] { return is_helped.load(); }, uit::After(std::chrono::seconds(10)));
      }
    });
  });
  CHECK(is_helped);
  CHECK(board.IsDone(2));
  if (is_helped) board.End(2);
}

TEST_CASE("A reduction over floating point numbers does not depend on who ran what") {
  const std::size_t n = 10'000;
  const std::size_t grain = 37;
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = 1.0 / static_cast<double>(1 + (i * 7919) % 1009);
  const auto sum_on = [&](std::uint32_t num_threads) {
    uit::ThreadPool pool{num_threads};
    LoopBoard<> board{num_threads};
    std::vector<double> parts(LoopBoard<>::NumChunks(n, grain));
    double sum = 0;
    std::atomic<bool> is_over{false};
    pool.Run([&](std::uint32_t thread) {
      if (thread != 0) {
        uit::WaitUntil([&] { return is_over.load(); }, uit::never, [&] { return board.TrySteal(thread); });
        return;
      }
      sum = board.Reduce(
          0, n, grain, std::span(parts), 0.0,
          [&](std::size_t begin, std::size_t end) {
            double part = 0;
            for (std::size_t i = begin; i < end; ++i) part += values[i];
            return part;
          },
          std::plus<>{});
      is_over = true;
    });
    return sum;
  };
  double expected = 0;
  for (std::size_t begin = 0; begin < n; begin += grain) {
    double part = 0;
    for (std::size_t i = begin; i < std::min(begin + grain, n); ++i) part += values[i];
    expected += part;
  }
  for (const std::uint32_t num_threads : {1U, 2U, 4U}) CHECK(sum_on(num_threads) == expected);
}
