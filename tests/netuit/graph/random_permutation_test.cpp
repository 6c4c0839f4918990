#include <netuit/graph/random_permutation.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/support/catch.hpp"

using namespace netuit;

TEST_CASE("a random permutation has every number once, for every count") {
  for (NodeId count = 1; count < 600; ++count) {
    const RandomPermutation number{count, RandomStream{count, 3}};
    std::vector<bool> is_taken(count);
    bool is_once = true;
    for (NodeId place = 0; place < count; ++place) {
      const NodeId at = number(place);
      is_once &= at < count && !is_taken[at];
      if (at < count) is_taken[at] = true;
    }
    CHECK(is_once);
  }
}

TEST_CASE("a random permutation works up to the largest count") {
  const RandomPermutation number{0xFFFF'FFFFU, RandomStream{1}};
  std::vector<NodeId> places;
  for (NodeId place = 0; place < 1000; ++place) {
    CHECK(number(place) < 0xFFFF'FFFFU);
    places.push_back(number(place));
  }
  std::ranges::sort(places);
  CHECK(std::ranges::adjacent_find(places) == places.end());
}

TEST_CASE("each number is at each place of random permutations equally often") {
  constexpr NodeId count = 12;
  constexpr double num_seeds = 12'000;
  double chi_square = 0;
  std::vector<double> times(count * count);
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(num_seeds); ++seed) {
    const RandomPermutation number{count, RandomStream{seed}};
    for (NodeId place = 0; place < count; ++place) ++times[place * count + number(place)];
  }
  const double expected = num_seeds / count;
  for (const double seen : times) chi_square += (seen - expected) * (seen - expected) / expected;
  CHECK(chi_square < 132 + 5 * 17);  // 12 / 11 of a chi-square with 121 degrees of freedom: five standard deviations
}
