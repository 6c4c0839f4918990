// MPI that is late, finds messages of different peers in another order, or has few tags: runs come to the same.
#include <netuit/netuit.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/pmpi/faults.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using namespace std::chrono_literals;
namespace pmpi = uit::testing::pmpi;
using netuit::testing::Mix;
using uit::testing::is_sanitized;
using uit::testing::MpiTestWorld;

namespace {

using Word = std::uint64_t;
using uit::Consolidate;
using uit::Policy;
using uit::Retain;

struct Heard : Multicast<Word> {};
struct EachPooled : Unicast<Word, Policy{.consolidate = Consolidate::pooled}> {};
struct EachAggregated : Unicast<Word, Policy{.consolidate = Consolidate::aggregated}> {};
struct NewestPooled : Unicast<Word, Policy{.retain = Retain::latest, .consolidate = Consolidate::pooled}> {};
struct Sum : Unicast<Word, Policy{.retain = Retain::accumulate, .consolidate = Consolidate::pooled}> {};

Placement PlaceOnAll(const Topology& topology) {
  return PlaceRandom(topology, {.processes = MpiTestWorld().Size(), .threads = 1}, 3);
}

/// A hash of the states that a run comes to, on rank 0; over MPI, also within a node.
std::uint64_t RunOver(const Topology& topology, const RunOptions& options) {
  TaggedMesh<Heard, EachPooled, EachAggregated, NewestPooled, Sum> mesh{topology, PlaceOnAll(topology), MpiTestWorld(), {.shares_memory = false}};
  std::vector<Word> states(mesh.NumLocalNodes());
  const RunReport report = Run(mesh, options, [&](auto& node) {
    states[node.Index()] = testing::UpdateChaotically<Heard, EachPooled, EachAggregated, NewestPooled, Sum>(node, states[node.Index()]);
  });
  CHECK(report.ExitCode() == 0);
  CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
  Word hash = 0;
  for (const Word state : mesh.Gather(std::span<const Word>(states))) hash = Mix(hash, state);
  CHECK(mesh.Close());
  return hash;
}

constexpr std::uint64_t num_updates = is_sanitized ? 20 : 100;
const RunOptions bulk_synchronous{.mode = AsyncMode::every_update, .num_updates = num_updates};

}  // namespace

TEST_CASE("Bulk synchronous runs do not depend on the delay and order of messages") {
  const Topology topology = MakeTorus(8, 8);
  const auto run = [&] { return RunOver(topology, bulk_synchronous); };
  const Word expected = run();
  for (const int num_askings : {3, 50}) {
    const pmpi::Delaying delaying{num_askings};
    CHECK(run() == expected);
  }
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const pmpi::Reordering reordering{seed};
    CHECK(run() == expected);
    if (MpiTestWorld().Size() > 2) CHECK(reordering.NumReordered() > 0);
    const pmpi::Delaying delaying{4};
    CHECK(run() == expected);
  }
  CHECK(pmpi::NumPending() == 0);
}

TEST_CASE("Best-effort runs account for every message however late it is") {
  const Topology topology = MakeTorus(8, 8);
  for (const AsyncMode mode : {AsyncMode::rolling, AsyncMode::no_barrier}) {
    const pmpi::Delaying delaying{10};
    const pmpi::Reordering reordering{7};
    RunOver(topology, {.mode = mode, .duration = 30ms, .rolling_span = 5ms});
  }
}

TEST_CASE("The smallest legal tag range is enough for many layers and edges") {
  const auto pretence = pmpi::Pretence::LargestTag(32'767);
  std::vector<Edge> edges;
  const NodeId num_nodes = 200;
  for (NodeId source = 0; source < num_nodes; ++source) {
    for (NodeId target = 0; target < num_nodes; ++target) edges.push_back({source, target});
  }
  const Topology topology{num_nodes, edges};  // 40 000 edges
  RunOver(topology, {.mode = AsyncMode::every_update, .num_updates = 3});
}
