// What reports promise of effective updates, in many short runs whose values are late, lost or held up by slow workers. Those in
// which processes end: see killed_certificate_test.py.
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

#include <netuit/checkpoint/run_with_checkpoints.hpp>
#include <netuit/mesh/node_random.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>

#include "tests/netuit/quality/halving.hpp"
#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/pmpi/faults.hpp"
#include "tests/support/shared_folder.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using netuit::testing::Folder;
using netuit::testing::Halving;
using netuit::testing::Promises;
using netuit::testing::RandomRun;
using netuit::testing::TeamWith;
using uit::testing::is_sanitized;
using uit::testing::MpiTestWorld;
using uit::testing::PerCommitOrNight;
using uit::testing::SumOverRanks;
namespace pmpi = uit::testing::pmpi;

namespace {

constexpr std::array modes{AsyncMode::rolling, AsyncMode::fixed, AsyncMode::no_barrier, AsyncMode::no_barrier, AsyncMode::dataflow};

/// Lets MPI deliver late and in another order, while it lives.
class LateMessages {
 public:
  explicit LateMessages(NodeRandom& random) {
    if (random.Below(3) == 0) delaying_.emplace(static_cast<int>(2 + random.Below(4)));
    if (random.Below(3) == 0) reordering_.emplace(random() + MpiTestWorld().Rank());
  }

 private:
  std::optional<pmpi::Delaying> delaying_;
  std::optional<pmpi::Reordering> reordering_;
};

/// Prints on rank 0 what `num_runs` runs have shown, and checks it.
void CheckKept(const Promises& mine, const char* what, std::uint64_t num_runs, std::uint64_t num_lost) {
  const Promises all = SumOverRanks(mine);
  if (!MpiTestWorld().IsRoot()) return;
  const double share = static_cast<double>(all.num_effective) / static_cast<double>(all.num_updates);
  std::printf("%llu runs%s: %llu values lost on the way, %.0f %% of updates effective, %llu certificates, %llu exact, %llu violated\n",
              static_cast<unsigned long long>(num_runs), what, static_cast<unsigned long long>(num_lost), 100 * share,
              static_cast<unsigned long long>(all.num_made), static_cast<unsigned long long>(all.num_exact),
              static_cast<unsigned long long>(all.num_broken));
  CHECK(all.num_broken == 0);
  CHECK(all.num_exact > (is_sanitized ? 0 : all.num_made / 8));  // a sanitizer makes few runs, and slow ones
  CHECK(share > 0.1);
  CHECK(share < 0.9);
}

}  // namespace

TEST_CASE("No certificate is violated in many runs with loss, delay and stragglers") {
  constexpr std::uint64_t num_meshes = 10;
  const bool is_large = MpiTestWorld().Size() > 2;
  const std::uint64_t num_runs = PerCommitOrNight<std::uint64_t>(500, 10'000) / (is_large ? 2 : 1) / (is_sanitized ? 5 : 1);
  const uit::Team team = TeamWith(is_large ? 1 : 2);
  Promises promises;
  std::uint64_t num_lost = 0;
  for (std::uint64_t number = 0; number < num_meshes; ++number) {
    NodeRandom random{number, 0, 0};
    Halving halving{team, random, number % 3 == 0};
    uit::Tally tally;
    for (std::uint64_t i = 0; i < num_runs / num_meshes; ++i) {
      const RandomRun run = halving.DrawRun(random, modes);
      halving.Reset();
      const LateMessages late{random};
      const RunReport report = halving.GetMesh().Run(run, [&](Node& node) { halving.Update(node, run); }, {.seed = run.seed});
      REQUIRE(report.stopped_by == StopReason::count);
      promises += halving.Look(report);
      tally = report.Tally();
    }
    num_lost += tally.put.preempted + tally.get.skipped;
  }
  CheckKept(promises, "", num_runs, num_lost);
  CHECK((!MpiTestWorld().IsRoot() || num_lost > num_runs));
}

TEST_CASE("No certificate is violated in runs in parts, each of which some workers end ahead of others") {
  const std::uint64_t num_runs = PerCommitOrNight<std::uint64_t>(30, 1000) / (is_sanitized ? 5 : 1);
  const Folder folder;
  NodeRandom random{77, 0, 0};
  Halving halving{TeamWith(2), random, true};
  Promises promises;
  for (std::uint64_t i = 0; i < num_runs; ++i) {
    const RandomRun run = halving.DrawRun(random, modes);
    halving.Reset();
    const RunReport report = RunWithCheckpoints(halving.GetMesh(), run, [&](Node& node) { halving.Update(node, run); },
                                                {.to = folder.Path(), .every_updates = 9}, {.seed = run.seed});
    REQUIRE(report.stopped_by == StopReason::count);
    promises += halving.Look(report);
  }
  CheckKept(promises, " in parts", num_runs, 0);
}
