// What a run in parts calls meanwhile counts from the begin of the whole run.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include <netuit/checkpoint/run_with_checkpoints.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/support/clock.hpp>

#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/shared_folder.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::Folder;
using netuit::testing::TeamWith;
using uit::testing::MpiTestWorld;

namespace {

/// Runs 60 updates of two milliseconds at least, in parts of `every`.
RunReport RunSlowly(std::uint64_t every, const RunOptions& options) {
  const Folder folder;
  Mesh mesh{TeamWith(1), MakeTorus(4, 4), {.is_watched = true}};
  const auto update = [](Node& node) {
    if (node.Index() == 0) std::this_thread::sleep_for(2ms);
  };
  return RunWithCheckpoints(mesh, EveryUpdate{.updates = 60}, update, {.to = folder.Path(), .every_updates = every}, options);
}

}  // namespace

TEST_CASE("on_progress is called in a run in parts as in a whole one, also if each part is shorter than its interval") {
  for (const std::uint64_t every : {1U, 7U, 60U}) {
    CAPTURE(every);
    std::vector<Progress> all;
    const RunOptions options{.on_progress = [&](const Progress& progress) { all.push_back(progress); }, .progress_interval = 20ms};
    const uit::TimePoint begin = uit::Now();
    CHECK(RunSlowly(every, options).stopped_by == StopReason::count);
    CHECK(all.size() >= 2);
    CHECK(all.size() * 20ms <= uit::Now() - begin);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(all[i].num_updates >= (i == 0 ? 1 : all[i - 1].num_updates));
      CHECK(all[i].num_updates <= 60);
      CHECK(all[i].elapsed >= 2ms * all[i].num_updates);  // of all parts
    }
  }
}

TEST_CASE("If on_progress throws between two parts on one process, the run ends by that on all") {
  const bool throws = MpiTestWorld().Rank() + 1 == MpiTestWorld().Size();
  const auto on_progress = [&](const Progress&) {
    if (throws) throw std::runtime_error("no more");
  };
  const RunReport report = RunSlowly(1, {.on_progress = on_progress, .progress_interval = 20ms});
  CHECK(report.stopped_by == StopReason::thrown);
  CHECK(report.message.starts_with("on_progress threw: no more"));
  CHECK(report.workers.front().num_updates < 60);
}

TEST_CASE("on_status counts from the begin of a run in parts") {
  std::uint64_t most = 0;
  const auto on_status = [&](std::span<const WorkerStatus> all) {
    for (const WorkerStatus& status : all) {
      if (status.elapsed.count() == 0) continue;
      CHECK(status.elapsed >= 2ms * status.num_updates);
      most = std::max(most, status.num_updates);
    }
  };
  RunSlowly(20, {.on_status = on_status, .status_interval = 10ms});
  if (MpiTestWorld().IsRoot()) CHECK(most > 40);  // in the last part
}
