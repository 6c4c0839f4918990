// Runs that are recorded and replayed: every node sees the same again.
#include <cstdint>
#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/run/modes.hpp>
#include <uit/policy.hpp>
#include <vector>

#include "tests/netuit/replay/replays.hpp"
#include "tests/netuit/run/chaos.hpp"
#include "tests/netuit/run/policies.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using namespace netuit::testing;
using uit::testing::MpiTestWorld;

namespace {

using Word = std::uint64_t;

using Row = std::vector<Word>;

const Kind heard = ValuesOfNodes();
const Kind heard_seldom = ValuesOfNodes(3);
const Kind each = ChannelsOf<Word, uit::every>();
const Kind each_pooled_seldom = ChannelsOf<Word, pooled>(2);
const Kind each_row = ChannelsOf<Row, aggregated>();
const Kind newest = ChannelsOf<Word, uit::latest>();
const Kind newest_of_pool = ChannelsOf<Word, newest_pooled>();
const Kind newest_row = ChannelsOf<Row, newest_aggregated>();
const Kind sum = ChannelsOf<Word, uit::summed>();
const Kind sum_seldom = ChannelsOf<Word, sum_pooled>(3);

}  // namespace

TEST_CASE("A best-effort run is reproduced from its record ten times of ten") {
  const Topology topology = MakeSmallWorld(200, 5, 0.2, 1);
  CheckReplay(topology, {heard, each}, {}, 10);
  bool any_differs = false;
  const Outcome first = RunChaos(topology, {heard, each}, {});
  for (int i = 0; i < 20 && !any_differs; ++i)
    any_differs = CountRanks(RunChaos(topology, {heard, each}, {}).states != first.states) != 0;
  CHECK(any_differs);
}

TEST_CASE("A run with published fields alone is reproduced, with and without silent nodes") {
  CheckReplay(MakeTorus(12, 12), {heard, heard_seldom}, {.num_threads = 1}, 2);
  CheckReplay(MakeOddGraph(64, 7), {heard, heard_seldom}, {.num_runs = 3}, 2);
}

TEST_CASE("A run with channels that keep every message is reproduced, pooled or not, for messages of any size") {
  CheckReplay(MakeOddGraph(64, 7), {each, each_pooled_seldom, each_row}, {.num_runs = 2});
  CheckReplay(MakeTorus(6, 6), {each, each_pooled_seldom, each_row}, {.num_threads = 1});
}

TEST_CASE("A run with channels that keep the newest message is reproduced") {
  CheckReplay(MakeOddGraph(64, 7), {newest, newest_of_pool, newest_row}, {.num_runs = 2});
}

TEST_CASE("A run with channels that add up is reproduced, over several runs with messages left in between") {
  CheckReplay(MakeOddGraph(64, 7), {sum, sum_seldom, heard}, {.num_runs = 3});
}

TEST_CASE("A run of every other mode is reproduced from its record") {
  for (int mode = 0; mode <= 5; ++mode) {
    CAPTURE(mode);
    CheckReplay(MakeTorus(6, 6), {heard, each, each_row, sum},
                {.mode = static_cast<AsyncMode>(mode), .num_runs = 2, .num_updates = 50});
  }
}
