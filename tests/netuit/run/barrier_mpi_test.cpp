#include <netuit/barrier/process_barrier.hpp>

#include <chrono>
#include <cstdint>
#include <netuit/graph/topologies.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <set>
#include <string>
#include <thread>
#include <uit/support/clock.hpp>
#include <vector>

#include "tests/netuit/barrier/station.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/skewed_clock.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::CountFaults;
using netuit::testing::Station;
using uit::testing::MpiTestWorld;

TEST_CASE("Processes of an MPI job agree at a barrier") {
  Station station{MpiTestWorld().Duplicate()};
  CHECK(CountFaults(station, 500) == 0);
  CHECK(station.barrier.Close(uit::After(10s)));
  CHECK(station.world.Release());
}

namespace {

/// On rank 0, returns the numbers of barriers that the workers of all processes made.
std::set<std::uint64_t> NumBarriers(const RunReport& report) {
  std::set<std::uint64_t> numbers;
  for (const WorkerReport& worker : report.workers) numbers.insert(worker.num_barriers);
  return numbers;
}

/// How much later the last process starts than the others, in successive runs.
std::vector<std::chrono::milliseconds> Jitters() {
  if (uit::testing::IsNightly()) return std::vector<std::chrono::milliseconds>(25, 2000ms);
  return {0ms, MpiTestWorld().Size() == 4 ? 2000ms : 200ms};
}

}  // namespace

TEST_CASE("All workers make the same barriers whatever their start times and clocks") {
  const auto rank = static_cast<std::int64_t>(MpiTestWorld().Rank());
  // Every second clock is ahead, the others are behind.
  const auto shift = 5s * (rank % 2 == 0 ? -1 : 1);
  const auto before = uit::Now();
  uit::testing::SkewClocks(shift);
  CHECK(std::chrono::abs(uit::Now() - before - shift) < 2s);

  const std::uint32_t threads = MpiTestWorld().Size() >= 4 ? 1 : 2;
  Mesh mesh{uit::Team{MpiTestWorld(), {.threads = threads}}, MakeTorus(12, 12)};
  const auto value = mesh.AddPublishedField<std::uint64_t>();
  int num_runs = 0;
  int num_agreed = 0;
  for (const auto jitter : Jitters()) {
    for (const AsyncMode mode : {AsyncMode::rolling, AsyncMode::fixed}) {
      for (const bool by_count : {false, true}) {
        INFO("mode " << static_cast<int>(mode) << ", by " << (by_count ? "count" : "clock"));
        // The last process starts late. During a run, the first worker of each process is slow now and then.
        if (rank + 1 == static_cast<std::int64_t>(MpiTestWorld().Size())) std::this_thread::sleep_for(jitter);
        ModeSettings settings{.span = 3ms, .period = 5ms};
        if (by_count) settings.updates = 400;
        else settings.duration = 60ms;
        const RunReport report = mesh.Run(ScheduleOf(mode, settings), [&](Node& node) {
          if (node.Index() == 0 && node.Update() % 100 == static_cast<std::uint64_t>(10 * rank)) std::this_thread::sleep_for(7ms);
          value[node] = node.Update();
        });
        CHECK(report.stopped_by == (by_count ? StopReason::count : StopReason::clock));
        if (!MpiTestWorld().IsRoot()) continue;
        CHECK(report.workers.size() == threads * MpiTestWorld().Size());
        CHECK(NumBarriers(report).size() == 1);
        CHECK(*NumBarriers(report).begin() >= 1);
        CHECK(report.Balanced());
        ++num_runs;
        num_agreed += NumBarriers(report).size() == 1 && report.Balanced();
        if (by_count) continue;
        // Only so many barriers fit into a span of 60 ms.
        CHECK(*NumBarriers(report).begin() <= (mode == AsyncMode::rolling ? 21U : 13U));
      }
    }
  }
  uit::testing::SkewClocks(0ns);
  if (MpiTestWorld().IsRoot() && MpiTestWorld().Size() > 1)
    uit::testing::PrintGoal("R10", std::to_string(num_agreed) + " of " + std::to_string(num_runs) + " runs agree, " +
                                       std::to_string(MpiTestWorld().Size()) + " processes with clocks 10 s apart");
}

TEST_CASE("Workers stop at the same barrier however early some have finished") {
  const Topology topology = MakeTorus(8, 8);
  Mesh mesh{uit::Team{MpiTestWorld(), {.threads = 2}}, topology,
            {.placement = PlaceContiguous(topology, {.processes = MpiTestWorld().Size(), .threads = 2})}};
  mesh.AddPublishedField<std::uint64_t>();
  for (const int mode : {0, 1, 2, 3, 4}) {
    const RunPlan plan = ScheduleOf(static_cast<AsyncMode>(mode), {.updates = 30, .span = 1ms, .period = 1ms});
    const RunReport report = mesh.Run(plan, [](Node& node) {
      if (node.Id() == 63) std::this_thread::sleep_for(1ms);
    });
    CHECK(report.stopped_by == StopReason::count);
    for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == 30);
    if (mode < 3 && MpiTestWorld().IsRoot()) CHECK(NumBarriers(report).size() == 1);
    if (mode == 0) CHECK(report.workers[0].num_barriers == 30);
    if (mode >= 3) CHECK(report.workers[0].num_barriers == 0);
  }
}
