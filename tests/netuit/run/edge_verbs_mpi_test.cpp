// Verbs of an edge's ends in runs, besides TryPut and Jump: staging, flushing, and puts that wait.
#include <netuit/graph/topologies.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using uit::testing::MpiTestWorld;

namespace {

struct Fixture {
  Topology topology = MakeTorus(6, 6);
  Mesh mesh{uit::Team{MpiTestWorld(), {.threads = 2}}, topology,
            {.placement = PlaceRandom(topology, {.processes = MpiTestWorld().Size(), .threads = 2}, 1)}};
  Channels<std::uint64_t, uit::every> parcels = mesh.AddChannels<std::uint64_t>();
  Channels<std::uint64_t, uit::latest> newest = mesh.AddChannels<std::uint64_t, uit::latest>();
};

}  // namespace

TEST_CASE("A message of a bulk synchronous update is visible in the next update on every kind of edge") {
  Fixture fixture;
  std::atomic<std::size_t> num_faults{0};
  const RunReport report = fixture.mesh.Run(EveryUpdate{.updates = 30}, [&](Node& node) {
    const std::uint64_t update = node.Update();
    for (const auto edge : node.In()) {
      num_faults += fixture.parcels[edge].JumpGet() + 1 != update && update != 0 ? 1 : 0;
      num_faults += fixture.newest[edge].JumpGet() + 1 != update && update != 0 ? 1 : 0;
    }
    for (const auto edge : node.Out()) {
      fixture.parcels[edge].TryStage(update);
      fixture.newest[edge].TryPut(update);
      fixture.newest[edge].TryFlush();
    }
  });
  CHECK(num_faults == 0);
  CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
}

TEST_CASE("A message that was staged and never flushed is accounted for") {
  Fixture fixture;
  for (std::uint32_t mode = 0; mode <= 5; ++mode) {
    CAPTURE(mode);
    const RunPlan plan = ScheduleOf(static_cast<AsyncMode>(mode), {.updates = 30, .span = 1ms, .period = 1ms});
    const RunReport report = fixture.mesh.Run(plan, [&](Node& node) {
      for (const auto edge : node.Out()) {
        fixture.parcels[edge].TryStage(1);
        fixture.newest[edge].TryStage(1);
      }
      if (node.Update() % 3 != 0) return;
      for (const auto edge : node.In()) {
        fixture.parcels[edge].Jump();
        fixture.newest[edge].Jump();
      }
    });
    CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
  }
}

TEST_CASE("A waiting put in an update is refused at once") {
  for (const std::uint32_t mode : {0U, 3U}) {
    CAPTURE(mode);
    Fixture fixture;
    const RunPlan plan = ScheduleOf(static_cast<AsyncMode>(mode), {.updates = 10});
    const RunReport report = fixture.mesh.Run(plan, [&](Node& node) {
      for (const auto edge : node.In()) fixture.parcels[edge].Jump();
      for (const auto edge : node.Out()) {
        for (int i = 0; i < 70; ++i) fixture.parcels[edge].Put(1);  // which is more than the depth
      }
    });
    CHECK(report.stopped_by == StopReason::count);
    if (!MpiTestWorld().IsRoot()) continue;
    CHECK(report.Balanced());
    CHECK(report.Tally().put.dropped > 0);
  }
}

TEST_CASE("What an edge shows, and how many puts have room, changes only between the updates of a worker") {
  Fixture fixture;
  std::atomic<std::uint64_t> num_steps{0};
  std::atomic<std::uint64_t> num_changes{0};
  const RunReport report = fixture.mesh.Run(Free{.updates = 30}, [&](Node& node) {
    for (const auto edge : node.In()) {
      auto& outlet = fixture.parcels[edge];
      while (outlet.TryStep() != 0) ++num_steps;
      std::this_thread::sleep_for(10us);  // the other workers go on
      num_changes += outlet.TryStep();
    }
    for (const auto edge : node.Out()) {
      auto& inlet = fixture.parcels[edge];
      while (inlet.TryPut(1)) {
      }
      std::this_thread::sleep_for(10us);
      num_changes += inlet.TryPut(1) ? 1 : 0;
    }
  });
  CHECK(num_steps > 0);
  CHECK(num_changes == 0);
  CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
}
