// MPI is asked, never waited in, from the beginning of a run to its report.
#include <netuit/netuit.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using namespace std::chrono_literals;
namespace pmpi = uit::testing::pmpi;
using uit::testing::is_sanitized;
using uit::testing::MpiTestWorld;

namespace {

using Word = std::uint64_t;
using uit::Consolidate;
using uit::Policy;
using uit::Retain;

struct Heard : Multicast<Word> {};
struct Each : Unicast<Word> {};
struct EachAggregated : Unicast<Word, Policy{.consolidate = Consolidate::aggregated}> {};
struct Newest : Unicast<Word, Policy{.retain = Retain::latest, .consolidate = Consolidate::pooled}> {};
struct Sum : Unicast<Word, Policy{.retain = Retain::accumulate, .consolidate = Consolidate::pooled}> {};

constexpr std::uint64_t num_updates = is_sanitized ? 60 : 300;

}  // namespace

TEST_CASE("Nothing blocks inside MPI while a run goes on") {
  const uit::World world = MpiTestWorld();
  const Topology topology = MakeTorus(8, 8);
  TaggedMesh<Heard, Each, EachAggregated, Newest, Sum> mesh{
      topology, PlaceRandom(topology, {.processes = world.Size(), .threads = 2}, 3), world, {.is_watched = true}};
  std::vector<Word> states(mesh.NumLocalNodes());
  std::vector<RunOptions> runs{{.mode = AsyncMode::every_update, .num_updates = num_updates},
                               {.mode = AsyncMode::rolling, .num_updates = num_updates, .rolling_span = 500us},
                               {.mode = AsyncMode::fixed, .num_updates = num_updates, .fixed_period = 1ms},
                               {.mode = AsyncMode::no_barrier, .num_updates = num_updates},
                               {.mode = AsyncMode::no_communication, .num_updates = num_updates}};
  for (RunOptions& options : runs) {
    INFO("mode " << static_cast<int>(options.mode));
    options.quality = {.interval = 2ms, .length = 1ms, .channels = true};
    options.on_status = [](auto) {};
    options.status_interval = 1ms;
    const std::uint64_t num_calls_before = pmpi::NumCalls();
    const pmpi::NoWaiting no_waiting;
    const RunReport report = Run(mesh, options, [&](auto& node) {
      states[node.Index()] = testing::UpdateChaotically<Heard, Each, EachAggregated, Newest, Sum>(node, states[node.Index()]);
    });
    CHECK(report.ExitCode() == 0);
    CHECK((report.Balanced() || !world.IsRoot()));
    INFO("the first call that may wait: " << pmpi::FirstWaitingCall());
    CHECK(pmpi::NumWaitingCalls() == 0);
    CHECK((pmpi::NumCalls() > num_calls_before || world.Size() == 1));
  }
  CHECK(mesh.Close());
}
