#include "demos/digital_evolution/world/kin.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <netuit/graph/random_stream.hpp>
#include <vector>

#include "tests/support/catch.hpp"

using namespace digital_evolution;

namespace {

constexpr unsigned side = 20;

/// Cells of a square. Those within a block of `width` x `width` are one group; every other cell is a group of its own.
struct Neighbourhood {
  explicit Neighbourhood(unsigned width) {
    for (std::uint32_t place = 0; place < side * side; ++place) {
      const bool is_member = place % side < width && place / side < width;
      groups[place].kin = is_member ? 1 : 1000 + place;
      members += is_member ? 1 : 0;
    }
  }
  /// All cells make an update from what their neighbours showed before, except those for which `skips(place)` holds.
  template <typename F>
  void Update(F skips) {
    std::vector<KinSignal> told;
    for (const KinGroup& group : groups) told.push_back(group.Signal(0));
    for (std::uint32_t place = 0; place < groups.size(); ++place) {
      if (skips(place)) continue;
      const std::uint32_t x = place % side;
      const std::uint32_t y = place / side;
      const std::array<KinSignal, 4> heard{told[y * side + (x + side - 1) % side], told[y * side + (x + 1) % side],
                                           told[(y + side - 1) % side * side + x], told[(y + 1) % side * side + x]};
      groups[place].Update(place, heard);
    }
  }

  std::vector<KinGroup> groups{side * side};
  unsigned members = 0;
};

}  // namespace

TEST_CASE("linear counting is near the number of members that set bits at random") {
  netuit::RandomStream random{7};
  for (const unsigned num_members : {1U, 2U, 5U, 20U, 60U, 150U}) {
    CAPTURE(num_members);
    double sum = 0;
    constexpr int num_trials = 200;
    for (int trial = 0; trial < num_trials; ++trial) {
      std::array<bool, num_kin_bits> bits{};
      for (unsigned member = 0; member < num_members; ++member) bits[random.Below(num_kin_bits)] = true;
      sum += CountMembers(static_cast<unsigned>(std::ranges::count(bits, true)));
    }
    CHECK(sum / num_trials == Approx(num_members).epsilon(0.1));
  }
}

TEST_CASE("the table is that of the formula") {
  for (unsigned num_set = 0; num_set <= num_kin_bits; ++num_set) {
    const double zeros = num_set == num_kin_bits ? 0.5 : num_kin_bits - num_set;
    CHECK(CountMembers(num_set) == static_cast<std::uint32_t>(std::lround(num_kin_bits * std::log(num_kin_bits / zeros))));
  }
}

TEST_CASE("members come to know the size of their group, and strangers do not count") {
  for (const unsigned width : {1U, 2U, 4U, 7U, 10U}) {
    CAPTURE(width);
    Neighbourhood all{width};
    double sum = 0;
    int num_estimates = 0;
    for (unsigned update = 0; update < 20 * kin_epoch_updates; ++update) {
      all.Update([](std::uint32_t) { return false; });
      if (update % kin_epoch_updates != kin_epoch_updates - 1 || update < 2 * kin_epoch_updates) continue;
      for (const KinGroup& group : all.groups) {
        if (group.kin == 1) sum += group.size;
        else CHECK(group.size == 1);
      }
      num_estimates += static_cast<int>(all.members);
    }
    CHECK(sum / num_estimates == Approx(all.members).epsilon(width < 4 ? 0.25 : 0.15));
  }
}

TEST_CASE("so they do when some miss most updates, each at its own pace") {
  Neighbourhood all{6};
  netuit::RandomStream random{3};
  double sum = 0;
  int num_estimates = 0;
  for (unsigned update = 0; update < 30 * kin_epoch_updates; ++update) {
    all.Update([&](std::uint32_t place) { return random.Below(4) < place % 4; });
    if (update < 10 * kin_epoch_updates || update % 10 != 0) continue;
    for (const KinGroup& group : all.groups) {
      if (group.kin == 1) sum += group.size, ++num_estimates;
    }
  }
  CHECK(sum / num_estimates == Approx(36).epsilon(0.15));
}

TEST_CASE("to hear a signal twice is as good as once") {
  KinGroup once{.kin = 5};
  KinGroup twice{.kin = 5};
  const KinGroup other{.kin = 5, .bits_low = 0x1234, .bits_high = 0x55};
  once.Update(1, std::array{other.Signal(0)});
  twice.Update(1, std::array{other.Signal(0), other.Signal(0)});
  CHECK(once.Signal(0) == twice.Signal(0));
  KinGroup alone{.kin = 5};
  alone.Update(1, std::array<KinSignal, 0>{});
  CHECK(once.bits_low == (alone.bits_low | 0x1234U));
  CHECK(once.bits_high == (alone.bits_high | 0x55U));
}

TEST_CASE("an older epoch's members do not count, a newer one's begin the epoch") {
  KinGroup cell{.kin = 5, .epoch = 255};
  cell.Update(1, std::array{KinGroup{.kin = 5, .bits_low = ~0ULL, .epoch = 254}.Signal(0)});
  CHECK(cell.epoch == 255);
  CHECK(std::popcount(cell.bits_low) + std::popcount(cell.bits_high) == 1);
  cell.Update(1, std::array{KinGroup{.kin = 5, .bits_low = 7, .epoch = 1}.Signal(0)});
  CHECK(cell.epoch == 1);
  CHECK(cell.size == 1);
  CHECK((cell.bits_low & 7U) == 7);
}
