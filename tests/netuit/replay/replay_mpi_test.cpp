// Runs that are recorded and replayed: whatever a node has seen, it sees again.
#include <netuit/netuit.hpp>

#include <cstdint>
#include <vector>

#include "tests/netuit/replay/replays.hpp"
#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using namespace netuit::testing;
using uit::testing::MpiTestWorld;

namespace {

using Word = std::uint64_t;
using uit::Consolidate;
using uit::Policy;
using uit::Retain;

struct Heard : Multicast<Word> {};
struct HeardSeldom : Multicast<Word, LayerOptions{.period = 3}> {};
struct Each : Unicast<Word> {};
struct EachPooledSeldom : Unicast<Word, Policy{.consolidate = Consolidate::pooled}, LayerOptions{.period = 2}> {};
struct EachRow : Unicast<std::vector<Word>, Policy{.consolidate = Consolidate::aggregated}> {};
struct Newest : Unicast<Word, Policy{.retain = Retain::latest}> {};
struct NewestPooled : Unicast<Word, Policy{.retain = Retain::latest, .consolidate = Consolidate::pooled}> {};
struct NewestRow : Unicast<std::vector<Word>, Policy{.retain = Retain::latest, .consolidate = Consolidate::aggregated}> {};
struct Sum : Unicast<Word, Policy{.retain = Retain::accumulate}> {};
struct SumPooledSeldom
    : Unicast<Word, Policy{.retain = Retain::accumulate, .consolidate = Consolidate::pooled}, LayerOptions{.period = 3}> {};

}  // namespace

TEST_CASE("A best-effort run is reproduced from its record ten times of ten") {
  const Topology topology = MakeSmallWorld(200, 5, 0.2, 1);
  CheckReplay<Heard, Each>(topology, {}, 10);
  bool any_differs = false;
  const Outcome first = RunChaos<Heard, Each>(topology, {});
  for (int i = 0; i < 20 && !any_differs; ++i)
    any_differs = CountRanks(RunChaos<Heard, Each>(topology, {}).states != first.states) != 0;
  CHECK(any_differs);
}

TEST_CASE("So does one of values of nodes alone, at once or now and then") {
  CheckReplay<Heard, HeardSeldom>(MakeTorus(12, 12), {.num_threads = 1}, 2);
  CheckReplay<Heard, HeardSeldom>(MakeOddGraph(64, 7), {.num_runs = 3}, 2);
}

TEST_CASE("So does one of conduits that keep every message, alone or in frames shared, of one size or of any") {
  CheckReplay<Each, EachPooledSeldom, EachRow>(MakeOddGraph(64, 7), {.num_runs = 2});
  CheckReplay<Each, EachPooledSeldom, EachRow>(MakeTorus(6, 6), {.num_threads = 1});
}

TEST_CASE("So does one of conduits that keep the newest") {
  CheckReplay<Newest, NewestPooled, NewestRow>(MakeOddGraph(64, 7), {.num_runs = 2});
}

TEST_CASE("So does one of conduits that add up, over several runs, with what one leaves for the next") {
  CheckReplay<Sum, SumPooledSeldom, Heard>(MakeOddGraph(64, 7), {.num_runs = 3});
}

TEST_CASE("A run of every other mode is reproduced from its record") {
  for (int mode = 0; mode <= 4; ++mode) {
    CAPTURE(mode);
    CheckReplay<Heard, Each, EachRow, Sum>(MakeTorus(6, 6), {.mode = static_cast<AsyncMode>(mode), .num_runs = 2, .num_updates = 50});
  }
}
