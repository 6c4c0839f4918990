// A thread of a process may take as long as it likes: only other processes are given up.
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"

using namespace netuit;
using namespace std::chrono_literals;

TEST_CASE("In mode 0 the threads of a process wait for each other without a timeout") {
  const Topology topology = MakeTorus(4, 4);
  Mesh mesh{uit::Team{uit::World{}, {.threads = 2}}, topology, {}};
  const auto sent = mesh.AddChannels<std::uint64_t>();
  const auto shown = mesh.AddPublishedField<std::uint64_t>();
  const NodeId slowest = mesh.Id(0);
  std::string warning;
  const RunOptions options{.peer_timeout = 20ms, .warn_after = 10ms, .on_warning = [&](const std::string& words) { warning = words; }};
  const RunReport report = mesh.Run(EveryUpdate{.updates = 4}, [&](Node& node) {
    if (node.Id() == slowest && node.Update() == 2) std::this_thread::sleep_for(200ms);
    for (const auto edge : node.In()) sent[edge].Jump();
    for (const auto edge : node.Out()) sent[edge].TryPut(1);
    shown[node] = node.Update();
  }, options);
  CHECK(report.stopped_by == StopReason::count);
  CHECK(report.message.empty());
  CHECK(warning.empty());
  CHECK(report.Balanced());
}
