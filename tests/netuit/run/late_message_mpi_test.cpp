// MPI delivers late, finds messages of different peers in another order, or has few tags: the results do not change.
#include <netuit/graph/topologies.hpp>
#include <netuit/run/run.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

#include "tests/netuit/run/mixed_traffic.hpp"
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

constexpr std::uint64_t num_updates = is_sanitized ? 20 : 100;

/// On rank 0, returns a hash of the final states of a run. Uses MPI also within a host.
Word RunOver(const Topology& topology, const RunPlan& plan) {
  Mesh mesh{uit::Team{MpiTestWorld()}, topology,
            {.placement = PlaceRandom(topology, {.processes = MpiTestWorld().Size()}, 3), .shares_memory = false}};
  const testing::MixedTraffic<testing::pooled, testing::aggregated, testing::newest_pooled, testing::sum_pooled> traffic{mesh};
  const RunReport report = mesh.Run(plan, [&](Node& node) { traffic.Update(node); });
  CHECK(report.ExitCode() == 0);
  CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
  Word hash = 0;
  for (const Word state : mesh.Gather(traffic.States())) hash = Mix(hash, state);
  CHECK(mesh.Close());
  return hash;
}

}  // namespace

TEST_CASE("Bulk synchronous runs do not depend on the delay and order of messages") {
  const Topology topology = MakeTorus(8, 8);
  const auto run = [&] { return RunOver(topology, EveryUpdate{.updates = num_updates}.MakePlan()); };
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
  for (const RunPlan& plan : {Rolling{.span = 5ms, .duration = 30ms}.MakePlan(), Free{.duration = 30ms}.MakePlan()}) {
    const pmpi::Delaying delaying{10};
    const pmpi::Reordering reordering{7};
    RunOver(topology, plan);
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
  RunOver(topology, EveryUpdate{.updates = 3}.MakePlan());
}
