// A process that falls silent in mode 5, or in mode 3 with a condition, is given up. This is a program of its own, because its
// processes do not communicate afterwards.
#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/run/run.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using uit::testing::MpiTestWorld;

TEST_CASE("In mode 5, and in mode 3 with a condition, a silent process is given up, also by workers that only wait for its vote") {
  // Each process has a ring of its own, so no worker awaits values of another process. Four processes share a ring, and await
  // values within each update.
  const auto num_processes = static_cast<NodeId>(MpiTestWorld().Size());
  const bool awaits_values = num_processes == 4;
  const NodeId num_nodes = num_processes * 4;
  std::vector<Edge> rings;
  for (NodeId node = 0; node < num_nodes; ++node)
    rings.push_back({node, awaits_values ? (node + 1) % num_nodes : node / 4 * 4 + (node + 1) % 4});
  const Topology topology{num_nodes, rings};
  Mesh mesh{uit::Team{MpiTestWorld(), {.threads = 2}},
            {{"rings", topology, {.delays = awaits_values ? GaussSeidel() : EdgeDelays{}}}},
            {.placement = PlaceContiguous(topology, {.processes = MpiTestWorld().Size(), .threads = 2})}};
  mesh.AddPublishedField<int>();
  const Until never = mesh.AddReduction(maximum) < 0;
  const bool is_free = MpiTestWorld().Size() == 3;
  const RunPlan plan = is_free ? Free{.duration = 50s, .until = never}.MakePlan() : Dataflow{.duration = 50s}.MakePlan();
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<int> num_without_values{0};
  const RunReport report = mesh.Run(plan, [&](Node& node) {
    if (node.Id() == 3 && node.Update() == 5) std::this_thread::sleep_for(2s);
    if (awaits_values && node.Id() > 3 && node.Update() >= 5) ++num_without_values;
  }, {.peer_timeout = 300ms});
  CHECK(num_without_values == 0);
  for (const WorkerReport& worker : report.workers) {
    if (awaits_values && MpiTestWorld().Rank() != 0) CHECK(worker.num_updates <= 5);
  }
  CHECK(std::chrono::steady_clock::now() - begin < 20s);
  CHECK(report.stopped_by == StopReason::peer_lost);
  CHECK(report.ExitCode() == 3);
  CHECK(!report.message.empty());
  CHECK(report.workers.size() == 2);  // a process reports its own workers only
  CHECK_FALSE(mesh.IsOpen());
  CHECK_FALSE(mesh.Close());
}
