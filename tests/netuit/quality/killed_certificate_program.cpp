// Usage: killed_certificate_program SEED. In each run, a process drawn at random ends itself in an update drawn at random, as the
// system would end it. The others check what their reports promise, and make the next run without it, until one is left, which
// prints what they have seen. killed_certificate_test.py starts it.
#include <netuit/app/guarded_main.hpp>
#include <netuit/mesh/node_random.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "tests/netuit/quality/halving.hpp"

using namespace std::chrono_literals;
using netuit::testing::Halving;
using netuit::testing::Promises;
using netuit::testing::RandomRun;

namespace {

constexpr std::array modes{netuit::AsyncMode::rolling, netuit::AsyncMode::fixed, netuit::AsyncMode::no_barrier};

/// Makes a run in which a process ends. Returns the world of the others, and adds what they have seen.
uit::World RunAndLoseOne(const uit::World& world, netuit::NodeRandom random, Promises& promises) {
  Halving halving{uit::Team{world, {.threads = 2}}, random, random.Below(2) == 0};
  const RandomRun run = halving.DrawRun(random, modes);
  const bool is_last_run = random.Below(static_cast<std::uint32_t>(world.Size())) == world.Rank();  // of this process
  const std::uint64_t last_update = random.Below(static_cast<std::uint32_t>(run.settings.updates));
  const netuit::RunReport report = halving.GetMesh().Run(run, [&](netuit::Node& node) {
    if (is_last_run && node.Update() == last_update) std::raise(SIGKILL);
    halving.Update(node, run);
  }, {.seed = run.seed});
  if (report.stopped_by != netuit::StopReason::peer_lost) throw uit::Error("no process has ended in the run");
  const Promises mine = halving.Look(report);
  const std::optional<uit::Survivors> survivors = world.FindSurvivors(uit::After(20s));
  if (!survivors || survivors->ranks.size() + 1 != world.Size()) throw uit::Error("not one process has ended");
  for (const Promises& theirs : survivors->world.AllGatherValue(mine)) promises += theirs;
  return survivors->world;
}

}  // namespace

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World& all) {
    if (argc != 2) throw uit::InputError("a SEED is needed");
    Promises promises;
    uit::World world = all.Duplicate();
    std::uint64_t num_killed = 0;
    for (; world.Size() > 1; ++num_killed)
      world = RunAndLoseOne(world, netuit::NodeRandom{std::strtoull(argv[1], nullptr, 10), 0, num_killed}, promises);
    std::fprintf(stderr, "killed: %llu\ncertificates: %llu\nviolated: %llu\nexact: %llu\nupdates: %llu\neffective: %llu\n",
                 static_cast<unsigned long long>(num_killed), static_cast<unsigned long long>(promises.num_made),
                 static_cast<unsigned long long>(promises.num_broken), static_cast<unsigned long long>(promises.num_exact),
                 static_cast<unsigned long long>(promises.num_updates), static_cast<unsigned long long>(promises.num_effective));
    return 0;
  });
}
