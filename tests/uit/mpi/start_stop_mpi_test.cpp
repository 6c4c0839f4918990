// Fabrics start and stop over MPI and over shared memory, with messages of three sizes in flight: no fabric hangs, no message
// is damaged or left pending.

#include <cstdint>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/uit/exchange/support/policies.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

/// The traffic of a rank.
struct Amount {
  std::uint64_t num_put = 0;
  std::uint64_t num_read_late = 0;  // messages for this rank that were read after the stop
};

template <typename Ends>
void Check(const World& world, const RingPlace& place, Ends& ends, Amount& load) {
  while (ends.TryStep()) ++load.num_read_late;
  load.num_put += ends.num_put;
  REQUIRE(ends.num_put > 0);
  REQUIRE(ends.is_right);
  const Tally tally = JoinTallies(world, place, ends.inlet.Tally(), ends.outlet.Tally());
  REQUIRE(tally.Balanced());
  REQUIRE(ends.num_got == tally.put.Accepted());
}

}  // namespace

TEST_CASE("A fabric starts and stops under load many times") {
  const World world = TheWorld();
  const RingPlace place{world};
  const int num_cycles = PerCommitOrNight(100, 2000);  // half of them over shared memory, half over MPI
  Amount load;
  for (int cycle = 0; cycle < num_cycles; ++cycle) {
    Fabric fabric{world, {.num_slots = 8, .shares_memory = cycle % 2 == 0}};
    const auto layer = [](std::uint32_t number) { return Process{.key = {.layer = number}, .depth = 8}; };
    RingEnds<Load<64>, every> small{fabric, place, layer(0)};
    RingEnds<Load<8192>, every> medium{fabric, place, layer(1)};
    RingEnds<Load<100'000>, every> large{fabric, place, layer(2)};
    RingEnds<Load<100'000>, latest> newest{fabric, place, layer(3)};
    fabric.Connect();
    // Some stop with all messages in flight, some in the middle, and ranks stop at different times.
    for (int i = 0; i < 1 + (cycle * 7 + static_cast<int>(place.rank) * 3) % 12; ++i) {
      small.TryPut(1000);
      medium.TryPut(1000);
      large.TryPut(1000);
      newest.TryPut(1000);
      if (cycle % 3 == 0) {
        small.TryStep();
        medium.TryStep();
        large.TryStep();
        newest.TryStep();
      }
    }
    REQUIRE(fabric.Close());
    REQUIRE(pmpi::NumPending() == 0);
    Check(world, place, small, load);
    Check(world, place, medium, load);
    Check(world, place, large, load);
    Check(world, place, newest, load);
  }
  const std::size_t num_corrupt = pmpi::NumModifiedSends() + pmpi::NumModifiedReceives();
  CHECK(num_corrupt == 0);
  CHECK(pmpi::NumCancelledSends() == 0);
  CHECK(load.num_read_late > 0);
  const std::uint64_t num_put = SumOverRanks(load.num_put);
  const std::uint64_t num_read_late = SumOverRanks(load.num_read_late);
  if (world.IsRoot() && world.Size() > 1)
    PrintGoal("R9", std::to_string(num_cycles) + " starts and stops under load over " + std::to_string(world.Size()) +
                        " processes: " + std::to_string(num_put) + " messages accepted, " +
                        std::to_string(num_read_late) + " of them read after the stop, " +
                        std::to_string(pmpi::NumPending()) + " requests pending, " + std::to_string(num_corrupt) +
                        " messages corrupt");
}
