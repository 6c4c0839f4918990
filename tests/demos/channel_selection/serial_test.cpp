#include "demos/channel_selection/serial.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <netuit/graph/random_stream.hpp>
#include <vector>

#include "tests/support/catch.hpp"

using namespace channel_selection;

namespace {

struct Random {
  using result_type = std::uint32_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() { return static_cast<result_type>(netuit::RandomStream{key, node}.Next() >> 32U); }
  std::uint64_t key;
  std::uint64_t node;
};

/// Share of the nodes of a 64 x 64 torus that are in conflict after 2000 updates, mean of 10 seeds.
template <typename Real>
double ShareInConflict(auto update_all) {
  const InNeighbours torus = MakeSerialTorus(64, 64);
  double share = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SerialColoring<Real> coloring{torus, {.num_colors = 3, .learning_rate = 0.1}};
    coloring.Initialize([&](std::size_t node) { return netuit::RandomStream{seed, node}.Below(3); });
    for (std::uint64_t update = 0; update < 2000; ++update) {
      update_all(coloring, update, [&](std::size_t node, std::uint64_t u) { return Random{netuit::MixBits(seed) + u, node}; });
    }
    const Score score = ScoreColoring(coloring.Colors(), [&](std::size_t node) { return torus.Of(node); });
    REQUIRE(score.num_edges == 2 * 64 * 64);
    share += static_cast<double>(score.nodes_in_conflict) / (64 * 64) / 10;
  }
  return share;
}

Score ScoreOf(const std::vector<std::vector<unsigned>>& out_neighbours, const std::vector<unsigned>& colors) {
  return ScoreColoring(colors, [&](std::size_t node) { return out_neighbours[node]; });
}

}  // namespace

TEMPLATE_TEST_CASE("a torus is coloured but for 3 % of its nodes at most", "[channel_selection]", float, double) {
  SECTION("when all nodes move at once") {
    REQUIRE(ShareInConflict<TestType>([](auto& coloring, auto update, auto random) {
              coloring.UpdateAllAtOnce(update, random);
            }) <= 0.03);
  }
  SECTION("when each sees its neighbours' newest colour") {
    REQUIRE(ShareInConflict<TestType>([](auto& coloring, auto update, auto random) {
              coloring.UpdateInPlace(update, random);
            }) <= 0.03);
  }
}

TEST_CASE("each pair of adjacent nodes counts once", "[channel_selection]") {
  const std::vector<unsigned> same{1, 1, 1};
  SECTION("joined both ways") {
    const Score score = ScoreOf({{1}, {0, 2}, {1}}, same);
    REQUIRE(score.num_edges == 2);
    REQUIRE(score.num_conflicts == 2);
    REQUIRE(score.nodes_in_conflict == 3);
  }
  SECTION("joined one way, up or down") {
    REQUIRE(ScoreOf({{1}, {}, {1}}, same).num_conflicts == 2);
  }
  SECTION("joined by parallel edges") {
    const Score score = ScoreOf({{1, 1}, {0, 0}, {}}, same);
    REQUIRE(score.num_edges == 1);
    REQUIRE(score.num_conflicts == 1);
    REQUIRE(score.in_conflict == std::vector<std::uint8_t>{1, 1, 0});
  }
}

TEST_CASE("a self-loop and a pair of two colours are no conflict", "[channel_selection]") {
  const Score score = ScoreOf({{0, 1}, {0}}, {2, 1});
  REQUIRE(score.num_edges == 1);
  REQUIRE(score.num_conflicts == 0);
  REQUIRE(score.nodes_in_conflict == 0);
}

TEST_CASE("a torus of three by three has four neighbours a node", "[channel_selection]") {
  const InNeighbours torus = MakeSerialTorus(3, 3);
  REQUIRE(torus.NumNodes() == 9);
  const auto centre = torus.Of(4);
  REQUIRE(std::vector<std::uint32_t>(centre.begin(), centre.end()) == std::vector<std::uint32_t>{1, 3, 5, 7});
  const auto corner = torus.Of(0);
  REQUIRE(std::vector<std::uint32_t>(corner.begin(), corner.end()) == std::vector<std::uint32_t>{6, 2, 1, 3});
}
