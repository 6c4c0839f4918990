// A thread of a process may take as long as it likes: only other processes are given up.
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"

using namespace netuit;
using namespace std::chrono_literals;

TEST_CASE("In modes 0 and 5 the threads of a process wait for each other without a timeout") {
  // Threads take turns in an update by level: the second waits for node 2 when the first has waited for node 1.
  const Topology ring{4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}};
  const Placement in_turns{{.processes = 1, .threads = 2}, {0, 1, 0, 1}};
  std::string warning;
  const RunOptions options{
      .peer_timeout = 100ms, .warn_after = 80ms, .on_warning = [&](const std::string& words) { warning = words; }};
  for (const bool is_by_level : {false, true}) {
    Mesh mesh{uit::Team{uit::World{}, {.threads = 2}},
              {{"ring", ring, {.delays = is_by_level ? GaussSeidel() : EdgeDelays{}}}},
              {.placement = in_turns}};
    const auto sent = mesh.AddChannels<std::uint64_t>();
    const auto shown = mesh.AddPublishedField<std::uint64_t>();
    for (const RunPlan& plan : {EveryUpdate{.updates = 6}.MakePlan(), Dataflow{.updates = 6}.MakePlan()}) {
      INFO("mode " << plan.mode << (is_by_level ? ", by level" : ""));
      const RunReport report = mesh.Run(plan, [&](Node& node) {
        if (node.Update() == 2 && node.Id() == 1) std::this_thread::sleep_for(15ms);
        if (node.Update() == 2 && node.Id() == 2) std::this_thread::sleep_for(400ms);
        for (const auto edge : node.In()) sent[edge].Jump();
        for (const auto edge : node.Out()) sent[edge].TryPut(1);
        shown[node] = node.Update();
      }, options);
      CHECK(report.stopped_by == StopReason::count);
      CHECK(report.message.empty());
      CHECK(warning.empty());
      CHECK(report.Balanced());
    }
  }
}
