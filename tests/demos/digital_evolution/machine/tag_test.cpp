#include "demos/digital_evolution/machine/tag.hpp"

#include <array>
#include <cmath>
#include <string_view>

#include "tests/demos/digital_evolution/machine/machine_test_support.hpp"
#include "tests/support/catch.hpp"

using namespace digital_evolution;

namespace {

Tag RandomTag(TestRandom& random) { return Tag{random()} << 32U | random(); }

/// Downing's formula, as printed in the book.
double StreakByTheBook(Tag a, Tag b) {
  const auto longest = [&](bool wanted) {
    int length = 0;
    int run = 0;
    for (unsigned bit = 0; bit < 64; ++bit) {
      run = ((a >> bit & 1U) == (b >> bit & 1U)) == wanted ? run + 1 : 0;
      length = std::max(length, run);
    }
    return length;
  };
  const auto probability = [](int k) { return (64 - k + 1) / std::exp2(k); };
  return probability(longest(false)) / (probability(longest(true)) + probability(longest(false)));
}

}  // namespace

TEST_CASE("Hamming similarity counts the equal bits", "[digital_evolution]") {
  STATIC_REQUIRE(HammingSimilarity(0, 0) == 64);
  STATIC_REQUIRE(HammingSimilarity(0, ~Tag{0}) == 0);
  STATIC_REQUIRE(HammingSimilarity(0b1100, 0b1010) == 62);
}

TEST_CASE("streak similarity is Downing's, rounded", "[digital_evolution]") {
  REQUIRE(StreakSimilarity(5, 5) == 64);
  REQUIRE(StreakSimilarity(5, ~Tag{5}) == 0);
  REQUIRE(StreakSimilarity(0, 0x00000000FFFFFFFFU) == 32);
  TestRandom random{1};
  for (int trial = 0; trial < 2000; ++trial) {
    const Tag a = RandomTag(random);
    const Tag b = a ^ (RandomTag(random) & RandomTag(random) & (trial % 2 == 0 ? RandomTag(random) : ~Tag{0}));
    REQUIRE(std::abs(StreakSimilarity(a, b) - 64 * StreakByTheBook(a, b)) <= 0.5 + 1e-9);
    REQUIRE(StreakSimilarity(a, b) == StreakSimilarity(b, a));
  }
}

TEST_CASE("one pair of random tags in a hundred matches by default", "[digital_evolution]") {
  constexpr int num_trials = 20000;
  TestRandom random{2};
  int num_matches = 0;
  int num_streaks = 0;
  double sum = 0;
  for (int trial = 0; trial < num_trials; ++trial) {
    const Tag a = RandomTag(random);
    const Tag b = RandomTag(random);
    sum += HammingSimilarity(a, b);
    num_matches += Similarity(Metric::hamming, a, b) >= default_match_threshold ? 1 : 0;
    num_streaks += Similarity(Metric::streak, a, b) >= 63 ? 1 : 0;
  }
  REQUIRE(sum / num_trials == Approx(32).margin(0.15));
  REQUIRE(num_matches / (0.01 * num_trials) == Approx(0.84).margin(0.3));
  CHECK(num_streaks / (0.01 * num_trials) == Approx(3).margin(2));
}

TEST_CASE("names have tags far from each other", "[digital_evolution]") {
  constexpr std::array<std::string_view, 4> names{"heartbeat", "heartbeats", "a", "b"};
  constexpr auto tags = TagsOf(names);
  STATIC_REQUIRE(tags[0] == TagOf("heartbeat"));
  for (const Tag a : tags) {
    for (const Tag b : tags) REQUIRE((a == b || HammingSimilarity(a, b) < default_match_threshold));
  }
}
