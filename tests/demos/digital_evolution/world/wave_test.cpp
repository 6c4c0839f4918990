#include "demos/digital_evolution/world/wave.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "tests/support/catch.hpp"

using namespace digital_evolution;

namespace {

constexpr int side = 25;
constexpr int center = side / 2;

int DistanceFromCenter(int place) { return std::abs(place % side - center) + std::abs(place / side - center); }

/// Counts the harvests at each cell of a wave that starts at the centre in update `first`. All cells are kin.
std::vector<int> RunWave(const WaveRule& rule, int num_updates, const std::vector<int>& first) {
  std::vector<Wave> waves(side * side);
  std::vector<int> num_harvests(side * side);
  for (int update = 0; update < num_updates; ++update) {
    const std::vector<Wave> before = waves;
    for (int place = 0; place < side * side; ++place) {
      const int x = place % side;
      const int y = place / side;
      std::uint8_t heard = 0;
      for (const auto& [dx, dy] : {std::array{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
        if (x + dx < 0 || x + dx >= side || y + dy < 0 || y + dy >= side) continue;
        const std::uint8_t hop = before[static_cast<std::size_t>((y + dy) * side + x + dx)].hop;
        if (hop != 0 && (heard == 0 || hop < heard)) heard = hop;
      }
      bool begins = false;
      for (const int at : first) begins |= update == at && place == center * side + center;
      const auto index = static_cast<std::size_t>(place);
      num_harvests[index] += waves[index].Update(rule, heard, begins) ? 1 : 0;
    }
  }
  return num_harvests;
}

}  // namespace

TEST_CASE("a wave is harvested once, by all within its radius and nobody else") {
  for (const std::uint32_t radius : {1U, 2U, 6U, 9U}) {
    for (const std::uint32_t span : {1U, 2U, 4U}) {
      CAPTURE(radius, span);
      const WaveRule rule{.radius = radius, .span = span, .refractory = 2 * radius + 4};
      const std::vector<int> num_harvests = RunWave(rule, 60, {0});
      for (int place = 0; place < side * side; ++place) {
        CAPTURE(place);
        const bool is_within = DistanceFromCenter(place) < static_cast<int>(radius);
        REQUIRE(num_harvests[static_cast<std::size_t>(place)] == (is_within ? 1 : 0));
      }
    }
  }
}

TEST_CASE("while a cell is refractory no wave begins or passes") {
  const WaveRule rule{.refractory = 16};
  CHECK(RunWave(rule, 60, {0, 5, 15})[center * side + center] == 1);
  CHECK(RunWave(rule, 60, {0, 5, 16})[center * side + center] == 2);
}
