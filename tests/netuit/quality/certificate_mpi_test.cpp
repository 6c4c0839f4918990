// What a report says of a run: how many updates are effective, and how old the values were that they read.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/team/team.hpp>

#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using netuit::testing::BeSlowAtTimes;
using netuit::testing::TeamWith;
using netuit::testing::WorkersWith;
using uit::testing::is_sanitized;
using uit::testing::MpiTestWorld;

namespace {

constexpr AsyncMode by_update[] = {AsyncMode::every_update, AsyncMode::dataflow};
constexpr AsyncMode best_effort[] = {AsyncMode::rolling, AsyncMode::fixed, AsyncMode::no_barrier};

RunPlan PlanOf(AsyncMode mode, std::uint64_t updates) {
  return ScheduleOf(mode, {.updates = updates, .span = std::chrono::milliseconds(1), .period = std::chrono::milliseconds(1)});
}

/// A node's error, which shrinks by a known factor where every update reads the newest errors of all neighbours.
class Contraction {
 public:
  static constexpr double factor = 0.99;

  Contraction(const uit::Team& team, const Topology& topology)
      : mesh_(team, topology, {.placement = PlaceRandom(topology, WorkersWith(2), 5)}),
        error_(mesh_.AddPublishedField<double>(1.0)) {}

  /// Some nodes are slow, each at its own times.
  RunReport Run(const RunPlan& plan) {
    return mesh_.Run(plan, [this](Node& node) {
      double sum = 0;
      double degree = 0;
      for (const auto edge : node.In()) {
        sum += error_[edge];
        ++degree;
      }
      error_[node] = factor * sum / degree;
      BeSlowAtTimes(node, 400, std::chrono::microseconds(300));
    });
  }
  /// Collective. Returns the largest error on rank 0, and 0 elsewhere.
  double Largest() {
    double largest = 0;
    for (const double error : mesh_.Gather(error_)) largest = std::max(largest, error);
    return largest;
  }

 private:
  Mesh mesh_;
  PublishedField<double> error_;
};

}  // namespace

TEST_CASE("Every update is effective where values are of the previous update, and they are one update old") {
  constexpr std::uint64_t num_updates = 30;
  const uit::Team team = TeamWith(2);
  const Topology ring = MakeTorus(16, 4);
  const Topology world = MakeSmallWorld(64, 4, 0.2, 1);
  for (const AsyncMode mode : by_update) {
    Mesh mesh{team, {{"ring", ring}, {"world", world, {.period = 3}}}, {.placement = PlaceRandom(ring, WorkersWith(2), 5)}};
    const auto value = mesh.AddPublishedField<std::uint64_t>(1);
    const auto flow = mesh.AddChannels<std::uint64_t, uit::summed>();
    for (int run = 0; run < 2; ++run) {
      const RunReport report = mesh.Run(PlanOf(mode, num_updates), [&](Node& node) {
        std::uint64_t sum = 0;
        for (const auto edge : node.In()) sum += value[edge] + flow[edge].JumpGet();
        for (const auto edge : node.Out()) flow[edge].TryPut(1);
        value[node] = sum % 1000;
      });
      CHECK(report.ExitCode() == 0);
      CHECK(report.EffectiveUpdates() == num_updates);
      for (const WorkerReport& worker : report.workers) {
        CHECK(worker.effective_updates == num_updates);
        CHECK(worker.staleness.max == (worker.staleness.count == 0 ? 0 : 1));
      }
    }
  }
}

TEST_CASE("The error of a contraction is within what a best-effort run's effective updates promise") {
  const uit::Team team = TeamWith(2);
  const Topology world = MakeSmallWorld(64, 4, 0.2, 2);
  const std::uint64_t num_updates = is_sanitized ? 100 : 400;
  for (const AsyncMode mode : best_effort) {
    Contraction contraction{team, world};
    const RunReport report = contraction.Run(PlanOf(mode, num_updates));
    REQUIRE(report.EffectiveUpdates().has_value());
    const std::uint64_t effective = *report.EffectiveUpdates();
    const double largest = contraction.Largest();
    if (MpiTestWorld().IsRoot()) {
      std::printf("mode %u: %llu of %llu updates effective, values at most %llu updates old: error %.3g, at most %.3g\n",
                  static_cast<unsigned>(mode), static_cast<unsigned long long>(effective),
                  static_cast<unsigned long long>(num_updates), static_cast<unsigned long long>(report.MaxStaleness()), largest,
                  std::pow(Contraction::factor, effective));
      CHECK(effective >= 1);
      CHECK(effective <= num_updates);
      CHECK(report.MaxStaleness() >= 1);
      CHECK(largest <= std::pow(Contraction::factor, effective) * (1 + 1e-9));
    }
    const RunReport next = contraction.Run(PlanOf(AsyncMode::every_update, 5));
    CHECK(next.EffectiveUpdates() == 5);
    CHECK(next.MaxStaleness() == 1);
  }
}

TEST_CASE("One update is effective where nothing is sent, and values are as old as the run") {
  const uit::Team team = TeamWith(2);
  Contraction contraction{team, MakeTorus(8, 8)};
  const RunReport report = contraction.Run(PlanOf(AsyncMode::no_communication, 7));
  CHECK(report.EffectiveUpdates() == 1);
  CHECK(report.MaxStaleness() == 7);
}

TEST_CASE("A best-effort run with channels between workers does not say how many updates are effective") {
  const uit::Team team = TeamWith(2);
  Mesh mesh{team, MakeTorus(8, 8)};
  const auto flow = mesh.AddChannels<std::uint64_t, uit::summed>();
  const auto value = mesh.AddPublishedField<int>();
  const RunReport report = mesh.Run(PlanOf(AsyncMode::no_barrier, 7), [&](Node& node) {
    for (const auto edge : node.Out()) flow[edge].TryPut(1);
    value[node] += 1;
  });
  CHECK_FALSE(report.EffectiveUpdates());
  CHECK((!MpiTestWorld().IsRoot() || report.Text().find("updates each, effective updates unknown, 0 barriers") != std::string::npos));
}
