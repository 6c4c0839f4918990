// A run calls no MPI function that may wait, from the beginning of its time to its report.
#include <netuit/graph/topologies.hpp>
#include <netuit/run/run.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "tests/netuit/run/mixed_traffic.hpp"
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

constexpr std::uint64_t num_updates = is_sanitized ? 60 : 300;

}  // namespace

TEST_CASE("Nothing blocks inside MPI while a run goes on") {
  const uit::World world = MpiTestWorld();
  const Topology topology = MakeTorus(8, 8);
  Mesh mesh{uit::Team{world, {.threads = 2}}, topology,
            {.placement = PlaceRandom(topology, {.processes = world.Size(), .threads = 2}, 3), .is_watched = true}};
  const testing::MixedTraffic<uit::every, testing::aggregated, testing::newest_pooled, testing::sum_pooled> traffic{mesh};
  // Opening links may wait in MPI; otherwise the first run would open them before its time begins.
  mesh.Connect();
  mesh.Run(Dataflow{.updates = 1}, [](Node&) {});
  RunOptions options;
  options.quality = {.interval = 2ms, .length = 1ms, .channels = true};
  options.on_status = [](auto) {};
  options.status_interval = 1ms;
  for (const RunPlan& plan : {EveryUpdate{.updates = num_updates}.MakePlan(),
                              Rolling{.span = 500us, .updates = num_updates}.MakePlan(),
                              Fixed{.period = 1ms, .updates = num_updates}.MakePlan(),
                              Free{.updates = num_updates}.MakePlan(),
                              Isolated{.updates = num_updates}.MakePlan(),
                              Dataflow{.updates = num_updates}.MakePlan()}) {
    INFO("mode " << plan.mode);
    const std::uint64_t num_calls_before = pmpi::NumCalls();
    const pmpi::NoWaiting no_waiting;
    const RunReport report = mesh.Run(plan, [&](Node& node) { traffic.Update(node); }, options);
    CHECK(report.ExitCode() == 0);
    CHECK((report.Balanced() || !world.IsRoot()));
    INFO("the first call that may wait: " << pmpi::FirstWaitingCall());
    CHECK(pmpi::NumWaitingCalls() == 0);
    CHECK((pmpi::NumCalls() > num_calls_before || world.Size() == 1));
  }
  CHECK(mesh.Close());
}

TEST_CASE("A run opens the links of layers that were added since the last run before its time begins") {
  constexpr auto lateness = 300ms;
  constexpr auto duration = 100ms;
  const uit::World world = MpiTestWorld();
  const Topology topology = MakeTorus(8, 8);
  Mesh mesh{uit::Team{world, {.threads = 2}}, topology,
            {.placement = PlaceRandom(topology, {.processes = world.Size(), .threads = 2}, 3)}};
  const auto first = mesh.AddPublishedField<std::uint64_t>();
  CHECK(mesh.Run(Free{.updates = 3}, [&](Node& node) { ++first[node]; }).ExitCode() == 0);

  const auto second = mesh.AddPublishedField<std::uint64_t>();
  const auto channels = mesh.AddChannels<std::uint64_t>();
  // The others wait in Connect for the last process. This must not count as time of the run.
  if (world.Rank() + 1 == world.Size()) std::this_thread::sleep_for(lateness);
  std::once_flag is_begun;
  std::optional<pmpi::NoWaiting> no_waiting;
  uit::TimePoint begin;
  std::atomic<uit::TimePoint> last_update{};
  const RunReport report = mesh.Run(Free{.duration = duration}, [&](Node& node) {
    std::call_once(is_begun, [&] {
      no_waiting.emplace();
      begin = uit::Now();
    });
    last_update.store(uit::Now(), std::memory_order_relaxed);
    ++second[node];
    for (const auto edge : node.Out()) channels[edge].TryPut(node.Update());
  });
  CHECK(report.ExitCode() == 0);
  CHECK((report.Balanced() || !world.IsRoot()));
  INFO("the first call that may wait: " << pmpi::FirstWaitingCall());
  CHECK(pmpi::NumWaitingCalls() == 0);
  CHECK(last_update.load() - begin >= duration / 2);
  no_waiting.reset();

  std::uint64_t num_unseen = 0;
  mesh.Visit([&](Node& node) {
    for (const auto edge : node.In()) num_unseen += second[edge] == 0 || channels[edge].TryStep(1) == 0 ? 1 : 0;
  });
  CHECK(num_unseen == 0);
  CHECK(mesh.Close());
}
