// No worker of mode 3 is further ahead than its slack, as nodes see it: each publishes the number of its update. And so it is in
// the frames that the run has recorded.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/run_options.hpp>
#include <uit/team/team.hpp>

#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/shared_folder.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::BeSlowAtTimes;
using netuit::testing::Folder;
using netuit::testing::TeamWith;
using netuit::testing::WorkersWith;
using uit::testing::CheckThrows;
using uit::testing::is_sanitized;
using uit::testing::MpiTestWorld;

namespace {

/// Nodes that note the age of the oldest value that they have read. Some are slow, each at its own times.
class Ahead {
 public:
  explicit Ahead(const uit::Team& team, const Topology& topology, std::uint64_t period = 1)
      : mesh_(team, {{"all", topology, {.period = period}}}, {.placement = PlaceRandom(topology, WorkersWith(2), 7)}),
        made_(mesh_.AddPublishedField<std::uint64_t>(0)),
        oldest_(mesh_.AddField<std::uint64_t>(0)) {}

  RunReport Run(const Free& free, const RunOptions& options = {}) {
    mesh_.Visit([&](Node& node) { made_[node] = oldest_[node] = 0; });
    mesh_.Run(EveryUpdate{.updates = period_of_all}, [](Node&) {});  // the new values are seen by all
    return mesh_.Run(free, [&](Node& node) {
      if (node.IsDue(mesh_.GetNetwork("all"))) {
        for (const auto edge : node.In()) {
          const std::uint64_t made = std::min(made_[edge], node.Update() + 1);
          oldest_[node] = std::max(oldest_[node], node.Update() + 1 - made);
        }
      }
      made_[node] = node.Update() + 1;
      BeSlowAtTimes(node, 300, 300us);
    }, options);
  }
  /// Collective.
  std::uint64_t Oldest() {
    std::uint64_t oldest = 0;
    for (const std::uint64_t age : mesh_.Gather(oldest_)) oldest = std::max(oldest, age);
    return oldest;
  }

 private:
  static constexpr std::uint64_t period_of_all = 12;

  Mesh mesh_;
  PublishedField<std::uint64_t> made_;
  Field<std::uint64_t> oldest_;
};

}  // namespace

TEST_CASE("No value is older than the slack and one update") {
  const uit::Team team = TeamWith(2);
  const Topology world = MakeSmallWorld(64, 4, 0.2, 3);
  const std::uint64_t num_updates = is_sanitized ? 60 : 300;
  for (const std::uint64_t period : {1U, 3U}) {
    Ahead ahead{team, world, period};
    for (const std::uint64_t slack : {0U, 1U, 4U, 16U}) {
      const RunReport report = ahead.Run({.updates = num_updates, .slack = slack});
      CHECK(report.ExitCode() == 0);
      CHECK(report.IsWithinSlack());
      const std::uint64_t oldest = ahead.Oldest();
      if (!MpiTestWorld().IsRoot()) continue;
      std::printf("slack %llu, period %llu: oldest value %llu, %llu of %llu updates effective\n",
                  static_cast<unsigned long long>(slack), static_cast<unsigned long long>(period),
                  static_cast<unsigned long long>(oldest), static_cast<unsigned long long>(*report.EffectiveUpdates()),
                  static_cast<unsigned long long>(num_updates));
      CHECK(oldest <= slack + 1);
      CHECK(report.MaxStaleness() <= slack + 1);
      for (const WorkerReport& worker : report.workers) {
        CHECK(worker.num_updates == num_updates);
        CHECK(worker.slack == slack);
      }
    }
  }
}

TEST_CASE("In the frames that a run has recorded, no value is older than the slack and one update") {
  const uit::Team team = TeamWith(2);
  const Topology world = MakeSmallWorld(64, 4, 0.2, 3);
  const std::uint64_t num_updates = is_sanitized ? 60 : 300;
  for (const std::uint64_t slack : {0U, 1U, 4U}) {
    Folder folder;
    Ahead recorded{team, world};
    const RunReport report = recorded.Run({.updates = num_updates, .slack = slack}, {.record = folder.Path()});
    Ahead replayed{team, world};
    const RunReport replay = replayed.Run({.updates = 1}, {.replay = folder.Path()});  // it waits for nobody
    const std::uint64_t oldest = replayed.Oldest();
    CAPTURE(slack);
    CHECK(recorded.Oldest() == oldest);
    CHECK(replay.MaxStaleness() == report.MaxStaleness());
    CHECK(replay.MaxStaleness() <= slack + 1);
    for (const WorkerReport& worker : replay.workers) CHECK(worker.num_updates == num_updates);
    if (!MpiTestWorld().IsRoot()) continue;
    CHECK(oldest <= slack + 1);
    CHECK(oldest >= replay.MaxStaleness());
  }
}

TEST_CASE("Without slack, a worker does not wait, and its report names none") {
  const uit::Team team = TeamWith(2);
  Ahead ahead{team, MakeTorus(8, 8)};
  const RunReport report = ahead.Run({.updates = 50});
  CHECK(report.IsWithinSlack());
  for (const WorkerReport& worker : report.workers) CHECK_FALSE(worker.slack);
}

TEST_CASE("A run with slack ends by its clock") {
  const uit::Team team = TeamWith(2);
  Ahead ahead{team, MakeTorus(8, 8)};
  const RunReport report = ahead.Run({.duration = 30ms, .slack = 0});
  CHECK(report.stopped_by == StopReason::clock);
  CHECK(report.IsWithinSlack());
}

TEST_CASE("Slack is refused where no field is published") {
  const uit::Team team = TeamWith(2);
  Mesh mesh{team, MakeTorus(4, 4)};
  mesh.AddChannels<int, uit::summed>();
  CheckThrows([&] { mesh.Run(Free{.updates = 1, .slack = 1}, [](Node&) {}); }, "the mesh has no published field");
}
