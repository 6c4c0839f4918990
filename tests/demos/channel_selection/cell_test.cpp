#include "demos/channel_selection/cell.hpp"

#include <cstdint>
#include <limits>

#include "tests/support/catch.hpp"

using channel_selection::Cells;

namespace {

/// Returns the same bits at every call, and counts the calls.
struct Fixed {
  using result_type = std::uint32_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() {
    ++num_calls;
    return bits;
  }
  result_type bits = 0;
  int num_calls = 0;
};

constexpr std::uint32_t Bits(double fraction) { return static_cast<std::uint32_t>(fraction * 4294967296.0); }

}  // namespace

TEMPLATE_TEST_CASE("a conflict moves the probabilities by Leith's rule", "[channel_selection]", float, double) {
  Cells<TestType> cells{1, {.num_colors = 3, .learning_rate = 0.1}};
  cells.Set(0, 1);
  Fixed keep{.bits = Bits(0.5)};
  cells.Learn(0, true, keep);
  REQUIRE(cells.Color(0) == 1);
  REQUIRE(cells.Probability(0, 0) == Approx(0.05));
  REQUIRE(cells.Probability(0, 1) == Approx(0.9));
  REQUIRE(cells.Probability(0, 2) == Approx(0.05));

  cells.Learn(0, true, keep);
  REQUIRE(cells.Probability(0, 0) == Approx(0.9 * 0.05 + 0.05));
  REQUIRE(cells.Probability(0, 1) == Approx(0.81));
}

TEST_CASE("probabilities sum to one after any number of conflicts", "[channel_selection]") {
  Cells<float> cells{1, {.num_colors = 7, .learning_rate = 0.1}};
  for (std::uint32_t step = 0; step < 1000; ++step) {
    cells.Learn(0, true, Fixed{.bits = step * 2654435761U});
    float sum = 0;
    for (unsigned color = 0; color < 7; ++color) sum += cells.Probability(0, color);
    REQUIRE(sum == Approx(1.0F));
  }
}

TEST_CASE("a colour is drawn with its probability", "[channel_selection]") {
  for (const auto& [fraction, color] : {std::pair{0.0, 0U}, {0.049, 0U}, {0.051, 1U}, {0.949, 1U}, {0.951, 2U}, {0.9999999, 2U}}) {
    Cells<double> cells{1, {.num_colors = 3, .learning_rate = 0.1}};
    cells.Set(0, 1);
    cells.Learn(0, true, Fixed{.bits = Bits(fraction)});
    REQUIRE(cells.Color(0) == color);
  }
}

TEST_CASE("without conflict a node keeps its colour, forgets the past and draws nothing", "[channel_selection]") {
  Cells<float> cells{2, {.num_colors = 3, .learning_rate = 0.1}};
  Fixed last{.bits = std::numeric_limits<std::uint32_t>::max()};
  cells.Learn(1, true, last);
  REQUIRE(cells.Color(1) == 2);
  REQUIRE(last.num_calls == 1);
  cells.Learn(1, false, last);
  REQUIRE(last.num_calls == 1);
  REQUIRE(cells.Color(1) == 2);
  REQUIRE(cells.Probability(1, 0) == 0);
  REQUIRE(cells.Probability(1, 2) == 1);
  REQUIRE(cells.Color(0) == 0);
}

TEST_CASE("the largest draw stays within the colours", "[channel_selection]") {
  for (const double learning_rate : {0.0, 0.1, 0.5, 1.0}) {
    Cells<float> cells{1, {.num_colors = 5, .learning_rate = learning_rate}};
    for (int step = 0; step < 100; ++step) {
      cells.Learn(0, true, Fixed{.bits = std::numeric_limits<std::uint32_t>::max()});
      REQUIRE(cells.Color(0) < 5);
    }
  }
}
