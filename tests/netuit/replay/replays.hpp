#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <string>
#include <uit/support/bytes.hpp>
#include <uit/team/team.hpp>
#include <vector>

#include "tests/support/shared_folder.hpp"
#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/core/support/sanitized.hpp"

namespace netuit::testing {

namespace fs = std::filesystem;
using uit::testing::CountRanks;
using uit::testing::is_sanitized;
using uit::testing::MpiTestWorld;

/// A mesh with a random placement.
inline MeshOptions SmallBuffers(const Topology& topology, std::uint32_t threads) {
  return {.placement = PlaceRandom(topology, {.processes = MpiTestWorld().Size(), .threads = threads}, 3), .depth = 3,
          .buffer_bytes = 64, .max_message_bytes = 64};
}

/// The results of some runs of one mesh.
struct Outcome {
  std::vector<std::uint64_t> states;                  // of this process's nodes at the end
  std::vector<std::vector<std::uint64_t>> histories;  // by node: its state after each update, over all runs
  std::vector<std::uint64_t> num_updates;             // by run and worker
  std::vector<std::array<std::uint64_t, 4>> certificates;  // likewise: effective updates plus 1, or 0; readings, oldest, median
  std::vector<std::string> warnings;                  // of this process
  bool is_balanced = true;
};

struct Plan {
  AsyncMode mode = AsyncMode::no_barrier;
  std::uint32_t num_threads = 2;
  std::size_t num_runs = 1;
  std::uint64_t seed = 1;
  std::string record{};
  std::string replay{};
  std::uint64_t num_updates = is_sanitized ? 100 : 300;

  RunPlan Schedule() const {
    return ScheduleOf(mode, {.updates = replay.empty() ? num_updates : 1,  // any number will do
                             .span = std::chrono::milliseconds(1), .period = std::chrono::milliseconds(1)});
  }
  RunOptions Options() const {
    RunOptions options;
    options.seed = seed;
    options.record = record;
    options.replay = replay;
    return options;
  }
};

inline Outcome RunChaos(const Topology& topology, const std::vector<Kind>& kinds, const Plan& plan) {
  const uit::Team team{MpiTestWorld(), {.threads = plan.num_threads}};
  Mesh mesh{team, NetworksOf(topology, kinds), SmallBuffers(topology, plan.num_threads)};
  const Chaos chaos(mesh, kinds);
  const auto history = mesh.AddField<std::vector<std::uint64_t>>();
  Outcome outcome;
  RunOptions options = plan.Options();
  options.on_warning = [&](const std::string& words) { outcome.warnings.push_back(words); };
  for (std::size_t run = 0; run < plan.num_runs; ++run) {
    const RunReport report = mesh.Run(plan.Schedule(), [&](Node& node) {
      chaos.Update(node);
      history[node].push_back(chaos.state[node]);
    }, options);
    CHECK(report.ExitCode() == 0);
    CHECK(report.message.empty());
    outcome.is_balanced &= report.Balanced() || !MpiTestWorld().IsRoot();
    for (const WorkerReport& worker : report.workers) {
      const auto& [count, max, mean, p50, p90, p99] = worker.staleness;
      outcome.num_updates.push_back(worker.num_updates);
      outcome.certificates.push_back(
          {worker.effective_updates ? *worker.effective_updates + 1 : 0, count, max, static_cast<std::uint64_t>(p50)});
    }
  }
  mesh.Visit([&](Node& node) {
    outcome.states.push_back(chaos.state[node]);
    outcome.histories.push_back(history[node]);
  });
  return outcome;
}

/// Returns whether a condition holds on all processes.
inline bool Everywhere(bool holds) { return CountRanks(holds) == MpiTestWorld().Size(); }

/// Returns how many of `num_tries` runs their records reproduce.
inline void CheckReplay(const Topology& topology, const std::vector<Kind>& kinds, Plan plan, int num_tries = 1) {
  Folder folder;
  int num_equal = 0;
  bool is_balanced = true;
  for (int i = 0; i < num_tries; ++i) {
    folder.Empty();
    plan.record = folder.Path();
    const Outcome recorded = RunChaos(topology, kinds, plan);
    plan.record.clear();
    plan.replay = folder.Path();
    const Outcome replayed = RunChaos(topology, kinds, plan);
    plan.replay.clear();
    const bool is_equal = recorded.states == replayed.states && recorded.histories == replayed.histories &&
                          recorded.num_updates == replayed.num_updates && recorded.certificates == replayed.certificates;
    num_equal += Everywhere(is_equal) ? 1 : 0;
    is_balanced &= recorded.is_balanced && replayed.is_balanced;
  }
  CHECK(num_equal == num_tries);
  CHECK(is_balanced);
}

}  // namespace netuit::testing
