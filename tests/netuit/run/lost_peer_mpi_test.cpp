// A silent process is given up. This is a program of its own, because its processes do not communicate afterwards.
#include <netuit/graph/topologies.hpp>
#include <netuit/run/run.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <uit/support/error.hpp>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using uit::testing::MpiTestWorld;

TEST_CASE("A warning names the process for which a barrier waits") {
  const Topology topology = MakeTorus(8, 8);
  const std::size_t last = MpiTestWorld().Size() - 1;
  Mesh mesh{uit::Team{MpiTestWorld(), {.threads = 2}}, topology,
            {.placement = PlaceContiguous(topology, {.processes = last + 1, .threads = 2})}};
  mesh.AddPublishedField<int>();
  std::vector<std::string> warnings;
  RunOptions options{.warn_after = 50ms};
  options.on_warning = [&](const std::string& words) { warnings.push_back(words); };
  const auto be_late = [](Node& node) {
    if (node.Id() == 63 && node.Update() == 5) std::this_thread::sleep_for(1s);
  };
  const RunReport report = mesh.Run(Rolling{.span = 1ms, .updates = 10}, be_late, options);
  CHECK(report.stopped_by == StopReason::count);
  if (MpiTestWorld().Rank() == last) return;
  // On a loaded machine, others may have been late before.
  CHECK(std::ranges::count(warnings, "waiting for rank " + std::to_string(last) + " at a barrier") > 0);
}

TEST_CASE("A silent process is given up and reported") {
  const Topology topology = MakeTorus(8, 8);
  Mesh mesh{uit::Team{MpiTestWorld(), {.threads = 2}}, topology,
            {.placement = PlaceContiguous(topology, {.processes = MpiTestWorld().Size(), .threads = 2})}};
  mesh.AddPublishedField<int>();
  const auto fall_silent = [](Node& node) {
    if (node.Id() == 63 && node.Update() == 5) std::this_thread::sleep_for(2s);
  };
  const auto begin = std::chrono::steady_clock::now();
  const RunReport report = mesh.Run(EveryUpdate{.duration = 50s}, fall_silent, {.peer_timeout = 300ms});
  CHECK(std::chrono::steady_clock::now() - begin < 20s);
  CHECK(report.stopped_by == StopReason::peer_lost);
  CHECK(report.ExitCode() == 3);
  CHECK(!report.message.empty());
  CHECK(report.lost_peers.empty());  // all wait for each other's messages, and a process that only waits is not named
  CHECK(report.workers.size() == 2);  // a process reports its own workers only
  for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates >= 5);
  CHECK_FALSE(mesh.IsOpen());
  CHECK_THROWS_AS(mesh.Run(EveryUpdate{.updates = 1}, fall_silent), uit::Error);
  CHECK_FALSE(mesh.Close());
}
