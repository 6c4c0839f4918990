// Reductions over consistent cuts: the true residual of a run in which nobody waits.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <netuit/barrier/exact_sum.hpp>
#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/reduction.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>

#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::BeSlowAtTimes;
using netuit::testing::TeamWith;
using netuit::testing::WorkersWith;
using uit::testing::CheckThrows;
using uit::testing::MpiTestWorld;

namespace {

constexpr NodeId num_nodes = 40;
constexpr double bound = 1e-6;
constexpr double shrink = 0.95;  // of errors, by an update
constexpr AsyncMode best_effort[] = {AsyncMode::rolling, AsyncMode::fixed, AsyncMode::no_barrier};
const auto graph = MakeSmallWorld(num_nodes, 4, 0.2, 3);

/// A node's value, and the newest update of each node that has had an influence on it.
struct State {
  double value = 0;
  std::array<std::uint32_t, num_nodes> clock{};
};

double Next(double sum, std::size_t degree, NodeId id) {
  return shrink * sum / static_cast<double>(degree) + (id % 7 == 0 ? 1.0 : 0.0);
}

/// The residual of these values: the largest of the nodes', or their sum.
double ResidualOf(const std::vector<State>& states, ReductionKind which) {
  double largest = 0;
  ExactSum all;
  for (NodeId id = 0; id < num_nodes; ++id) {
    double sum = 0;
    for (const EdgeId edge : graph.InEdges(id)) sum += states[graph.Source(edge)].value;
    const double residual = std::abs(Next(sum, graph.InEdges(id).size(), id) - states[id].value);
    largest = std::max(largest, residual);
    all.Add(residual);
  }
  return which == exact_sum ? all.Value() : largest;
}

bool IsConsistent(const std::vector<State>& states) {
  for (NodeId node = 0; node < num_nodes; ++node)
    for (NodeId other = 0; other < num_nodes; ++other)
      if (states[node].clock[other] > states[other].clock[other]) return false;
  return true;
}

/// A relaxation that keeps what it saw of each cut.
class Relaxation {
 public:
  explicit Relaxation(std::uint32_t threads, std::uint64_t every = 7, ReductionKind which = maximum)
      : which_(which),
        mesh_(TeamWith(threads), graph, {.placement = PlaceRandom(graph, WorkersWith(threads), 5)}),
        state_(mesh_.AddPublishedField<State>()),
        seen_(mesh_.AddField<std::vector<State>>()),
        agreed_(mesh_.AddField<std::vector<double>>()),
        at_cut_(mesh_.AddCut(state_)),
        residual_(mesh_.AddCutReduction(
            which,
            [this](Node& node) {
              seen_[node].push_back(at_cut_[node]);
              double sum = 0;
              for (const auto edge : node.In()) sum += at_cut_[edge].value;
              return std::abs(Next(sum, node.In().size(), node.Id()) - at_cut_[node].value);
            },
            {.every = every})) {}

  RunReport Run(const ScheduleValue auto& schedule) {
    mesh_.Visit([&](Node& node) { seen_[node].clear(); });
    return mesh_.Run(schedule, [this](Node& node) {
      const double known = residual_.Agreed(node);
      if (!std::isnan(known) && (agreed_[node].empty() || agreed_[node].back() != known)) agreed_[node].push_back(known);
      State mine = state_[node];
      double sum = 0;
      for (const auto edge : node.In()) {
        const State& theirs = state_[edge];
        sum += theirs.value;
        for (NodeId id = 0; id < num_nodes; ++id) mine.clock[id] = std::max(mine.clock[id], theirs.clock[id]);
      }
      ++mine.clock[node.Id()];
      mine.value = Next(sum, node.In().size(), node.Id());
      state_[node] = mine;
      BeSlowAtTimes(node, 1000, 200us);
    });
  }
  Until Below(double least) const { return residual_ < least; }
  /// All nodes' states at a cut, on rank 0. Collective.
  std::vector<State> SeenAt(std::size_t cut) {
    std::vector<State> mine(mesh_.NumLocalNodes());
    mesh_.Visit([&](Node& node) { mine[node.Index()] = seen_[node].size() > cut ? seen_[node][cut] : State{-1}; });
    return GatherByNode<State>(mesh_, mine);
  }
  /// What each node of this process has known.
  std::vector<std::vector<double>> Agreed() {
    std::vector<std::vector<double>> agreed;
    mesh_.Visit([&](Node& node) { agreed.push_back(agreed_[node]); });
    return agreed;
  }
  std::vector<State> States() { return mesh_.Gather(state_); }
  std::vector<State> StatesAtEnd() { return mesh_.Gather(at_cut_); }
  const CutReduction& Residual() const { return residual_; }
  ReductionKind Which() const { return which_; }

 private:
  ReductionKind which_;
  Mesh mesh_;
  PublishedField<State> state_;
  Field<std::vector<State>> seen_;
  Field<std::vector<double>> agreed_;
  CutField<State> at_cut_;
  CutReduction residual_;
};

/// The residual at the end is that of the result, to the last bit.
void CheckEnd(Relaxation& relaxation) {
  const std::vector<State> states = relaxation.States();
  const std::vector<State> at_end = relaxation.StatesAtEnd();
  if (!MpiTestWorld().IsRoot()) return;
  CHECK(relaxation.Residual().AtEnd() == ResidualOf(states, relaxation.Which()));
  CHECK(std::ranges::equal(states, at_end, {}, &State::value, &State::value));
}

}  // namespace

TEST_CASE("In best effort, each residual is that of a consistent cut to the last bit, and the last one is below the bound") {
  for (const AsyncMode mode : best_effort) {
    for (const std::uint32_t threads : {1U, 2U, 3U}) {
      const ReductionKind which = threads == 2 ? exact_sum : maximum;
      Relaxation relaxation{threads, 7, which};
      const RunReport report =
          relaxation.Run(ScheduleOf(mode, {.duration = 60s, .span = 1ms, .period = 1ms, .until = relaxation.Below(bound)}));
      CAPTURE(mode, threads);
      CHECK(report.stopped_by == StopReason::asked);
      const std::uint64_t num_cuts = relaxation.Residual().NumCuts();
      REQUIRE(num_cuts > 0);
      std::vector<double> residuals;
      for (std::size_t cut = 0; cut < num_cuts; ++cut) {
        const std::vector<State> states = relaxation.SeenAt(cut);
        if (!MpiTestWorld().IsRoot()) continue;
        CHECK(IsConsistent(states));
        const double residual = ResidualOf(states, which);
        if (residuals.empty() || residuals.back() != residual) residuals.push_back(residual);
      }
      CheckEnd(relaxation);
      if (!MpiTestWorld().IsRoot()) continue;
      CHECK(residuals.back() < bound);
      residuals.pop_back();  // the run has ended by it
      for (const std::vector<double>& agreed : relaxation.Agreed()) CHECK(agreed == residuals);
      // The workers went on after the cut. The bound on the largest residual is not one on their sum.
      CHECK(relaxation.Residual().AtEnd() < (which == maximum ? 1 : num_nodes) * bound * (1 + shrink) / (1 - shrink));
    }
  }
}

TEST_CASE("In modes 0 and 5, a cut has all values after the same update, and all workers end together") {
  for (const auto& [mode, which] : {std::pair{AsyncMode::every_update, exact_sum},
                                    {AsyncMode::every_update, maximum},
                                    {AsyncMode::dataflow, exact_sum}}) {
    Relaxation relaxation{2, 10, which};
    const RunReport report = relaxation.Run(ScheduleOf(mode, {.updates = 100'000, .until = relaxation.Below(bound)}));
    CAPTURE(mode, which);
    CHECK(report.stopped_by == StopReason::asked);
    const std::uint64_t num_updates = report.workers.front().num_updates;
    for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == num_updates);
    CHECK(relaxation.Residual().NumCuts() == (num_updates - 1) / 10);
    double residual = 1;
    for (std::uint64_t cut = 0; cut < relaxation.Residual().NumCuts(); ++cut) {
      const std::vector<State> states = relaxation.SeenAt(cut);
      if (!MpiTestWorld().IsRoot()) continue;
      for (NodeId id = 0; id < num_nodes; ++id) CHECK(states[id].clock[id] == 10 * (cut + 1));
      if (mode == AsyncMode::every_update) CHECK(residual >= bound);  // else it would have ended
      residual = ResidualOf(states, which);
    }
    CHECK((!MpiTestWorld().IsRoot() || residual < bound));
    CheckEnd(relaxation);
  }
}

TEST_CASE("The residual of the result is known after every run, also without a condition") {
  for (const AsyncMode mode : {AsyncMode::every_update, AsyncMode::no_barrier, AsyncMode::no_communication, AsyncMode::dataflow}) {
    Relaxation relaxation{2};
    CHECK(std::isnan(relaxation.Residual().AtEnd()));
    relaxation.Run(ScheduleOf(mode, {.updates = 30}));
    CHECK(relaxation.Residual().NumCuts() == 0);
    CheckEnd(relaxation);
    relaxation.Run(ScheduleOf(mode, {.updates = 20}));
    CheckEnd(relaxation);
  }
}

TEST_CASE("A mesh makes rounds in several runs, and takes up none of an earlier run") {
  Relaxation relaxation{2};
  for (int i = 0; i < 30; ++i) {
    const RunReport report = relaxation.Run(Free{.updates = 200, .until = relaxation.Below(0)});
    CHECK(report.stopped_by == StopReason::count);
    for (std::size_t cut = 0; cut < relaxation.Residual().NumCuts(); ++cut) {
      const std::vector<State> states = relaxation.SeenAt(cut);
      CHECK((!MpiTestWorld().IsRoot() || IsConsistent(states)));
    }
    CheckEnd(relaxation);
  }
}

TEST_CASE("The smallest number at a cut can end a run, and several fields are copied at the same cut") {
  for (const AsyncMode mode : {AsyncMode::every_update, AsyncMode::no_barrier}) {
    Mesh mesh{TeamWith(2), graph};
    const auto count = mesh.AddPublishedField<std::uint64_t>();
    const auto twice = mesh.AddPublishedField<double>();
    const auto count_at = mesh.AddCut(count);
    const auto twice_at = mesh.AddCut(twice);
    const auto is_torn = mesh.AddField<bool>();
    const auto smallest = mesh.AddCutReduction(
        minimum,
        [&](Node& node) {
          is_torn[node] = is_torn[node] || twice_at[node] != 2.0 * static_cast<double>(count_at[node]);
          for (const auto edge : node.In())
            is_torn[node] = is_torn[node] || twice_at[edge] != 2.0 * static_cast<double>(count_at[edge]);
          return static_cast<double>(count_at[node]);
        },
        {.every = 5});
    const auto largest = mesh.AddCutReduction(maximum, [&](Node& node) { return twice_at[node]; });
    const RunReport report = mesh.Run(ScheduleOf(mode, {.duration = 60s, .until = smallest > 99.5}), [&](Node& node) {
      twice[node] = 2.0 * static_cast<double>(++count[node]);
    });
    CHECK(report.stopped_by == StopReason::asked);
    CHECK(smallest.AtEnd() >= 100);
    CHECK(largest.AtEnd() >= 2 * smallest.AtEnd());
    std::size_t num_torn = 0;
    mesh.Visit([&](Node& node) { num_torn += is_torn[node] ? 1 : 0; });
    CHECK(num_torn == 0);
  }
}

TEST_CASE("A number that is NaN ends no run") {
  for (const bool is_below : {true, false}) {
    Mesh mesh{TeamWith(2), graph};
    const auto count = mesh.AddPublishedField<int>();
    const auto at_cut = mesh.AddCut(count);
    const auto largest = mesh.AddCutReduction(maximum, [](Node& node) { return node.Id() == 3 ? std::nan("") : 0; }, {.every = 1});
    const auto smallest = mesh.AddCutReduction(minimum, [&](Node& node) { return static_cast<double>(at_cut[node]); });
    const Until until = is_below ? largest < 1 : largest > -1;
    const RunReport report = mesh.Run(Free{.duration = 60s, .until = until}, [&](Node& node) {
      ++count[node];
      if (smallest.Agreed(node) > 5) throw std::runtime_error("it goes on");
    });
    CHECK(report.stopped_by == StopReason::thrown);
    CHECK(std::isnan(largest.AtEnd()));
  }
}

TEST_CASE("What a reduction throws ends the run, and its message names the node") {
  Mesh mesh{TeamWith(2), graph};
  const auto largest = mesh.AddCutReduction(
      maximum, [](Node& node) -> double { return node.Id() == 3 ? throw std::runtime_error("too hot") : 1; }, {.every = 2});
  const RunReport report = mesh.Run(Free{.duration = 60s, .until = largest < 0}, [](Node&) {});
  CHECK(report.stopped_by == StopReason::thrown);
  CAPTURE(report.message);
  CHECK((!MpiTestWorld().IsRoot() || report.message == "the reduction over cuts at node 3 threw: too hot"));
}

TEST_CASE("What a reduction throws at the end of a run without a condition is no success") {
  Mesh mesh{TeamWith(2), graph};
  mesh.AddCutReduction(maximum, [](Node& node) -> double { return node.Id() == 3 ? throw std::runtime_error("too hot") : 1; });
  const RunReport report = mesh.Run(EveryUpdate{.updates = 3}, [](Node&) {});
  CHECK(report.stopped_by == StopReason::thrown);
  CHECK(report.ExitCode() == 4);
}

TEST_CASE("What cannot be copied at cuts is refused") {
  Mesh mesh{TeamWith(1), graph};
  CheckThrows([&] { mesh.AddCutReduction(maximum, [](Node&) { return 0.0; }, {.every = 0}); },
              "CutOptions::every must be at least 1");
  Mesh periodic{TeamWith(1), {{"home", graph}, {"work", graph, {.period = 7}}}};
  const auto field = periodic.AddPublishedField<int>();
  CheckThrows([&] { periodic.AddCut(field); },
              "a field cannot be copied at cuts in a mesh with a network whose period is above 1");
  Mesh delayed{TeamWith(1), {{"all", graph, {.delays = GaussSeidel()}}}};
  delayed.AddCutReduction(maximum, [](Node&) { return 0.0; });
  CheckThrows([&] { delayed.Run(Dataflow{.updates = 1}, [](Node&) {}); },
              "a mesh with reductions over cuts cannot run by Dataflow with edge delays other than 1");
}
