// Runs that end when a reduction has come below or above a bound.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include <netuit/barrier/exact_sum.hpp>
#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/reduction.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/team/team.hpp>

#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::BeSlowAtTimes;
using netuit::testing::TeamWith;
using netuit::testing::WorkersWith;
using uit::testing::CheckThrows;
using uit::testing::is_slow_build;
using uit::testing::MpiTestWorld;

namespace {

constexpr double bound = 1e-5;
constexpr std::uint64_t most_updates = 100'000;  // for a run that does not end otherwise
constexpr AsyncMode best_effort[] = {AsyncMode::rolling, AsyncMode::fixed, AsyncMode::no_barrier};

/// A node's next value, from its neighbours'.
double Next(double sum, std::size_t degree, NodeId id) {
  return 0.9 * sum / static_cast<double>(degree) + (id % 7 == 0 ? 1.0 : 0.0);
}

/// The largest change of each update of a serial loop, or the sum of all changes, up to the first below `bound`, and the values
/// after so many updates.
struct Serial {
  explicit Serial(const Topology& topology, ReductionKind which = maximum) : reduction(which), values(topology.NumNodes(), 0.0) {
    do changes.push_back(Update(topology));
    while (changes.back() >= bound);
  }
  double Update(const Topology& topology) {
    std::vector<double> next(values.size());
    double largest = 0;
    ExactSum all;
    for (NodeId node = 0; node < values.size(); ++node) {
      double sum = 0;
      for (const EdgeId edge : topology.InEdges(node)) sum += values[topology.Source(edge)];
      next[node] = Next(sum, topology.InEdges(node).size(), node);
      largest = std::max(largest, std::abs(next[node] - values[node]));
      all.Add(std::abs(next[node] - values[node]));
    }
    values = next;
    return reduction == exact_sum ? all.Value() : largest;
  }

  ReductionKind reduction;
  std::vector<double> values;
  std::vector<double> changes;
};

/// The same on a mesh.
class Relaxation {
 public:
  Relaxation(const uit::Team& team, const Topology& topology, ReductionKind which = maximum)
      : mesh_(team, topology, {.placement = PlaceRandom(topology, WorkersWith(2), 11)}),
        value_(mesh_.AddPublishedField<double>(0.0)),
        agreed_(mesh_.AddField<std::vector<double>>()),
        change_(mesh_.AddReduction(which)) {}

  RunReport Run(const ScheduleValue auto& schedule, bool keeps_agreed = false) {
    return mesh_.Run(schedule, [&, keeps_agreed](Node& node) {
      double sum = 0;
      for (const auto edge : node.In()) sum += value_[edge];
      const double next = Next(sum, node.In().size(), node.Id());
      change_[node] = std::abs(next - value_[node]);
      value_[node] = next;
      if (keeps_agreed) agreed_[node].push_back(change_.Agreed(node));
      BeSlowAtTimes(node, 1000, 200us);
    });
  }
  Until Below(double least) const { return change_ < least; }
  /// Collective.
  std::vector<double> Values() { return mesh_.Gather(value_); }
  /// What a node of this process knew of the previous update, by update.
  std::vector<double> Agreed() {
    std::vector<double> agreed;
    mesh_.Visit([&](Node& node) { agreed = agreed_[node]; });
    return agreed;
  }

 private:
  Mesh mesh_;
  PublishedField<double> value_;
  Field<std::vector<double>> agreed_;
  Reduction change_;
};

}  // namespace

TEST_CASE("Mode 0 ends after the first update whose reduction is below the bound, and nodes know that of the previous update") {
  const uit::Team team = TeamWith(2);
  const Topology world = MakeSmallWorld(60, 4, 0.2, 4);
  for (const ReductionKind which : {maximum, exact_sum}) {
    const Serial serial{world, which};
    Relaxation relaxation{team, world, which};
    const RunReport report = relaxation.Run(EveryUpdate{.updates = most_updates, .until = relaxation.Below(bound)}, true);
    CHECK(report.stopped_by == StopReason::asked);
    CHECK(report.ExitCode() == 0);
    for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == serial.changes.size());
    const std::vector<double> agreed = relaxation.Agreed();
    REQUIRE(agreed.size() == serial.changes.size());
    CHECK(std::isnan(agreed.front()));
    CHECK(std::equal(agreed.begin() + 1, agreed.end(), serial.changes.begin()));  // to the last bit
    const std::vector<double> values = relaxation.Values();
    CHECK((!MpiTestWorld().IsRoot() || values == serial.values));
  }
}

TEST_CASE("Mode 5 ends all workers after the same update, a few votes after the condition held") {
  const uit::Team team = TeamWith(2);
  const Topology world = MakeSmallWorld(60, 4, 0.2, 4);
  for (const ReductionKind which : {maximum, exact_sum}) {
    Serial serial{world, which};
    Relaxation relaxation{team, world, which};
    const RunReport report = relaxation.Run(Dataflow{.updates = most_updates, .until = relaxation.Below(bound)});
    CHECK(report.stopped_by == StopReason::asked);
    const std::uint64_t num_updates = report.workers.front().num_updates;
    for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == num_updates);
    CHECK(num_updates > serial.changes.size());
    CHECK(num_updates <= serial.changes.size() + 3 * 64);
    for (std::uint64_t update = serial.changes.size(); update < num_updates; ++update) serial.Update(world);
    const std::vector<double> values = relaxation.Values();
    CHECK((!MpiTestWorld().IsRoot() || values == serial.values));
  }
}

TEST_CASE("With a lag, mode 5 ends that many updates after the multiple of it at which the condition held") {
  const uit::Team team = TeamWith(2);
  const Topology world = MakeSmallWorld(60, 4, 0.2, 4);
  for (const std::uint64_t lag : {1U, 7U, 100U}) {
    Serial serial{world};
    std::uint64_t held = lag;
    while (held < serial.changes.size()) held += lag;
    Relaxation relaxation{team, world};
    const RunReport report = relaxation.Run(Dataflow{.until = relaxation.Below(bound), .lag = lag});
    CHECK(report.stopped_by == StopReason::asked);
    for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == held + lag);
    for (std::uint64_t update = serial.changes.size(); update < held + lag; ++update) serial.Update(world);
    const std::vector<double> values = relaxation.Values();
    CHECK((!MpiTestWorld().IsRoot() || values == serial.values));
  }
}

TEST_CASE("Best-effort runs end by their condition, and the values are then close to the solution") {
  const uit::Team team = TeamWith(2);
  const Topology world = MakeSmallWorld(60, 4, 0.2, 4);
  Serial solution{world};
  for (int i = 0; i < 500; ++i) solution.Update(world);
  for (const AsyncMode mode : best_effort) {
    Relaxation relaxation{team, world, mode == AsyncMode::rolling ? maximum : exact_sum};
    const RunReport report = relaxation.Run(ScheduleOf(
        mode, {.duration = 60s, .span = 1ms, .period = 1ms, .until = relaxation.Below(bound)}));
    CHECK(report.stopped_by == StopReason::asked);
    const std::vector<double> values = relaxation.Values();
    if (!MpiTestWorld().IsRoot()) continue;
    double error = 0;
    for (std::size_t i = 0; i < values.size(); ++i) error = std::max(error, std::abs(values[i] - solution.values[i]));
    std::printf("mode %u: error %.2g after %llu effective updates\n", static_cast<unsigned>(mode), error,
                static_cast<unsigned long long>(*report.EffectiveUpdates()));
    CHECK(error < 20 * bound);  // a change of d leaves an error of up to 9 d
  }
}

TEST_CASE("Workers of mode 3 that end by their count or clock do not wait for a condition that never holds") {
  const uit::Team team = TeamWith(2);
  Relaxation relaxation{team, MakeTorus(8, 8)};
  const RunReport counted = relaxation.Run(Free{.updates = is_slow_build ? 50U : 200U, .until = relaxation.Below(-1)});
  CHECK(counted.stopped_by == StopReason::count);
  const RunReport timed = relaxation.Run(Free{.duration = 30ms, .until = relaxation.Below(-1)});
  CHECK(timed.stopped_by == StopReason::clock);
}

TEST_CASE("A node can end a run of mode 3 with a condition on every worker, by asking or by an exception") {
  const uit::Team team = TeamWith(2);
  for (const bool throws : {false, true}) {
    Mesh mesh{team, MakeTorus(8, 8)};
    const auto change = mesh.AddReduction(maximum);
    const auto begin = std::chrono::steady_clock::now();
    const RunReport report = mesh.Run(Free{.duration = 100s, .until = change < 0}, [&](Node& node) {
      if (node.Id() != 5 || node.Update() != 20) return;
      if (throws) throw std::runtime_error("enough");
      node.RequestStop();
    });
    CHECK(std::chrono::steady_clock::now() - begin < 50s);
    CHECK(report.stopped_by == (throws ? StopReason::thrown : StopReason::asked));
  }
}

TEST_CASE("The smallest number of all nodes can end a run, too") {
  const uit::Team team = TeamWith(2);
  Mesh mesh{team, MakeTorus(8, 8)};
  const auto size = mesh.AddField<double>([](NodeId id) { return static_cast<double>(id) - 70; });
  const auto smallest = mesh.AddReduction(minimum);
  const RunReport report = mesh.Run(EveryUpdate{.updates = 1000, .until = smallest > 2.5}, [&](Node& node) {
    size[node] += 0.5;
    smallest[node] = size[node];
  });
  CHECK(report.stopped_by == StopReason::asked);
  CHECK(report.workers.front().num_updates == 146);  // -70 + 0.5 n > 2.5
}

TEST_CASE("A reduction to which nobody gives a number, or somebody gives NaN, ends no run") {
  const uit::Team team = TeamWith(2);
  Mesh mesh{team, MakeTorus(8, 8)};
  const auto change = mesh.AddReduction(maximum);
  const auto sum = mesh.AddReduction(exact_sum);
  const RunReport silent = mesh.Run(EveryUpdate{.updates = 5, .until = change < 1}, [](Node&) {});
  CHECK(silent.stopped_by == StopReason::count);
  const RunReport empty = mesh.Run(EveryUpdate{.updates = 5, .until = sum < 1}, [](Node&) {});
  CHECK(empty.stopped_by == StopReason::asked);  // a sum is then 0
  for (const Until& until : {change < 1, change > 1, sum < 1, sum > -1}) {
    const auto run = [&](const auto& schedule) {
      const RunReport report = mesh.Run(schedule, [&](Node& node) {
        const double number = node.Id() == 9 ? -std::numeric_limits<double>::quiet_NaN() : 0.0;
        change[node] = number;
        sum[node] = number;
      });
      CHECK(report.stopped_by == StopReason::count);
    };
    run(EveryUpdate{.updates = 5, .until = until});
    run(Free{.updates = 300, .until = until});
  }
}

TEST_CASE("A sum counts each node once, in every mode") {
  const uit::Team team = TeamWith(2);
  for (const AsyncMode mode : {AsyncMode::every_update, AsyncMode::rolling, AsyncMode::fixed, AsyncMode::no_barrier, AsyncMode::dataflow}) {
    const Topology torus = MakeTorus(9, 7);
    Mesh mesh{team, torus, {.placement = PlaceRandom(torus, WorkersWith(2), 11)}};
    const auto num_odd = mesh.AddReduction(exact_sum);
    const auto is_wrong = mesh.AddField<bool>();
    const auto run = [&](const std::optional<Until>& until, std::chrono::milliseconds duration, bool stops) {
      return mesh.Run(ScheduleOf(mode, {.duration = duration, .span = 1ms, .period = 1ms, .until = until}), [&](Node& node) {
        const double agreed = num_odd.Agreed(node);
        is_wrong[node] = is_wrong[node] || !(std::isnan(agreed) || agreed == 31);
        if (stops && agreed == 31) node.RequestStop();
        if (node.Id() % 2 == 1) num_odd[node] = 1;
      });
    };
    CAPTURE(mode);
    const bool meets = mode != AsyncMode::no_barrier && mode != AsyncMode::dataflow;
    if (meets) CHECK(run({}, 60s, true).stopped_by == StopReason::asked);
    CHECK(run(num_odd > 31, 60s, true).stopped_by == StopReason::asked);
    CHECK(run(num_odd > 31, 50ms, false).stopped_by == StopReason::clock);
    CHECK(run(num_odd > 30.5, 60s, false).stopped_by == StopReason::asked);
    mesh.Visit([&](Node& node) { CHECK_FALSE(is_wrong[node]); });
  }
}

TEST_CASE("In modes 1 and 2 without a condition, a reduction is that of the updates since the last barrier") {
  const uit::Team team = TeamWith(2);
  for (const AsyncMode mode : {AsyncMode::rolling, AsyncMode::fixed}) {
    Mesh mesh{team, MakeTorus(5, 5)};
    const auto largest = mesh.AddReduction(maximum);
    const RunReport report = mesh.Run(ScheduleOf(mode, {.duration = 60s, .span = 1ms, .period = 1ms}), [&](Node& node) {
      if (largest.Agreed(node) == 1) node.RequestStop();
      largest[node] = node.Update() == 0 ? 5 : 1;
    });
    CHECK(report.stopped_by == StopReason::asked);
  }
}

TEST_CASE("Without a condition on it, a sum is that of the last update, in which nodes may have given nothing") {
  const uit::Team team = TeamWith(2);
  for (const AsyncMode mode : {AsyncMode::rolling, AsyncMode::fixed, AsyncMode::no_barrier}) {
    Mesh mesh{team, MakeTorus(5, 5)};
    const auto other = mesh.AddReduction(maximum);
    const auto sum = mesh.AddReduction(exact_sum);
    const auto value = mesh.AddPublishedField<int>();
    const auto run = [&](const std::optional<Until>& until, auto gives) {
      const RunReport report = mesh.Run(ScheduleOf(mode, {.duration = 60s, .span = 1ms, .period = 1ms, .until = until}), [&](Node& node) {
        ++value[node];
        if (node.Update() > 10 && sum.Agreed(node) < 24.5) node.RequestStop();
        other[node] = 1;
        if (gives(node.Update())) sum[node] = 1;
      });
      CHECK(report.stopped_by == StopReason::asked);
    };
    CAPTURE(mode);
    run(other < 0, [](std::uint64_t update) { return update % 2 == 0; });  // the worst of a span would be 25 at every vote
    if (mode != AsyncMode::no_barrier) run({}, [](std::uint64_t update) { return update < 10; });
  }
}

TEST_CASE("In best effort, a condition on a sum must hold for all updates of a span") {
  const uit::Team team = TeamWith(2);
  for (const bool is_below : {true, false}) {
    Mesh mesh{team, MakeTorus(6, 6)};
    const auto value = mesh.AddPublishedField<int>();
    const auto sum = mesh.AddReduction(exact_sum);
    const Until until = is_below ? sum < 18 : sum > 18;
    // In each other update the sum is 36, in the others nobody gives anything to it: it is never long on one side.
    const RunReport report = mesh.Run(Free{.updates = is_slow_build ? 2000U : 20'000U, .until = until}, [&](Node& node) {
      ++value[node];
      if (node.Update() % 2 == 0) sum[node] = 1;
    });
    CHECK(report.stopped_by == StopReason::count);
  }
}

TEST_CASE("The bound of a condition is a number") {
  Mesh mesh{TeamWith(1), MakeTorus(3, 3)};
  for (const ReductionKind which : {maximum, minimum}) {
    const Reduction reduction = mesh.AddReduction(which);
    CheckThrows([&] { static_cast<void>(reduction < std::nan("")); }, "the bound of a condition must be a number, not NaN");
    CheckThrows([&] { static_cast<void>(reduction > std::nan("")); }, "the bound of a condition must be a number, not NaN");
  }
}

TEST_CASE("A condition that holds after the last update ends the run by that, in modes 0 and 5") {
  for (const AsyncMode mode : {AsyncMode::every_update, AsyncMode::dataflow}) {
    for (const std::uint64_t updates : {1U, 2U, 3U, 7U}) {
      Mesh mesh{TeamWith(2), MakeTorus(4, 4)};
      const auto count = mesh.AddField<double>(0.0);
      const auto least = mesh.AddReduction(minimum);
      const RunReport report = mesh.Run(ScheduleOf(mode, {.updates = updates, .until = least > static_cast<double>(updates) - 0.5}),
                                        [&](Node& node) { least[node] = ++count[node]; });
      CHECK(report.stopped_by == StopReason::asked);
      for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == updates);
    }
  }
}

TEST_CASE("A mesh has at most two reductions") {
  const uit::Team team = TeamWith(2);
  Mesh mesh{team, MakeTorus(4, 4)};
  mesh.AddReduction(maximum);
  mesh.AddReduction(minimum);
  CheckThrows([&] { mesh.AddReduction(maximum); }, "a mesh may have at most 2 reductions");
}
