// Programs whose nodes move while they run: results are those of runs without moves, and nothing is lost.
#include <netuit/balance/balanced.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <netuit/balance/load_meter.hpp>
#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/levels.hpp>
#include <netuit/run/mesh_program.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/support/pause.hpp>

#include "tests/netuit/checkpoint/model.hpp"
#include "tests/netuit/checkpoint/walk.hpp"
#include "tests/netuit/run/random_delays.hpp"
#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/steals.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::CheckpointModel;
using netuit::testing::RandomDelays;
using netuit::testing::StealsIf;
using netuit::testing::TeamWith;
using netuit::testing::Walk;
using uit::testing::CheckThrows;
using uit::testing::MpiTestWorld;

namespace {

static_assert(!MeshProgram<Balanced<CheckpointModel>>, "a balanced program cannot be resilient, too");

/// The model of checkpoints, with a load that runs over the nodes as updates go on.
struct Drifting : CheckpointModel {
  using CheckpointModel::CheckpointModel;
  double Load(Node& node) {
    const auto peak = static_cast<NodeId>(mesh.NumUpdates() * 5 % num_nodes);
    return (node.Id() + num_nodes - peak) % num_nodes < num_nodes / 4 ? 20.0 : 1.0;
  }
};

/// What decides a model's result.
struct Rules {
  AsyncMode mode = AsyncMode::every_update;
  EdgeDelays delays{};
};

BalanceOptions EachWindow(std::uint64_t num_updates) {
  return {.threshold = 1.05, .window = 0ns, .window_updates = num_updates, .patience = 1, .cool_down = 0};
}

/// A walk over the torus with a load that drifts over its rows.
struct DriftingWalk : Walk {
  using Walk::Walk;
  double Load(Node& node) { return node.Id() / 6 == mesh.NumUpdates() / 10 % 6 ? 30.0 : 1.0; }
};

/// Nodes whose load is theirs for ever: those with a small id have nearly all.
struct Uneven {
  Uneven(const uit::Team& team, const MeshOptions& options) : mesh(team, MakeTorus(8, 8), options) {}
  void Update(Node& node) { count[node] += 1; }
  double Load(Node& node) { return node.Id() < 16 ? 5.0 : 1.0; }

  Mesh mesh;
  PublishedField<double> count = mesh.AddPublishedField<double>();
};

/// Node 0 sleeps in each of its first updates or in each of the later ones, so what an update of its worker takes is known.
struct Sleeping : Uneven {
  static constexpr std::chrono::milliseconds nap{200};
  static constexpr std::uint64_t num_first = 2;
  Sleeping(const uit::Team& team, const MeshOptions& options, bool at_first) : Uneven(team, options), sleeps_at_first(at_first) {}
  void Update(Node& node) {
    if (node.Id() == 0 && (node.Update() < num_first) == sleeps_at_first) std::this_thread::sleep_for(nap);
  }
  bool sleeps_at_first;
};

template <typename P>
std::function<std::unique_ptr<P>(const MeshOptions&)> MakeWith(std::uint32_t threads) {
  return [threads](const MeshOptions& options) { return std::make_unique<P>(TeamWith(threads), options); };
}

std::uint32_t NumWorkers(std::uint32_t threads) { return static_cast<std::uint32_t>(MpiTestWorld().Size()) * threads; }

}  // namespace

TEST_CASE("In modes 0 and 5, a run in which nodes move equals one in which none moves, with waiting messages and any delays") {
  for (const Rules& rules : std::vector<Rules>{{}, {AsyncMode::dataflow}, {AsyncMode::dataflow, RandomDelays(3, 6)}}) {
    CheckpointModel whole{TeamWith(1), CheckpointModel::WithDepth(3), rules.delays};
    whole.Run(ScheduleOf(rules.mode, {.updates = 44}));
    const std::uint64_t expected = whole.Hash();
    for (const std::uint32_t threads : {1U, 2U}) {
      Balanced<Drifting> model(
          [&](const MeshOptions& options) { return std::make_unique<Drifting>(TeamWith(threads), options, rules.delays); },
          EachWindow(6), CheckpointModel::WithDepth(3));
      const RunReport report = model.Run(ScheduleOf(rules.mode, {.updates = 26}));
      CHECK((!MpiTestWorld().IsRoot() || report.Balanced()));
      CHECK(model->mesh.NumUpdates() == 26);
      const RunReport second = model.Run(ScheduleOf(rules.mode, {.updates = 18}));
      CAPTURE(rules.mode, threads);
      CHECK((!MpiTestWorld().IsRoot() || second.Balanced()));
      CHECK(model->Hash() == expected);
      CHECK(model.Moves().empty() == (NumWorkers(threads) == 1));
      for (const NodeMove& move : model.Moves()) {
        CHECK(move.num_nodes > 0);
        CHECK(move.num_nodes < CheckpointModel::num_nodes);
        CHECK(move.num_bytes > CheckpointModel::num_nodes * 24);
        CHECK(move.num_updates % 2 == 0);  // a multiple of the period of a network
        CHECK(move.took.count() > 0);
        CHECK(move.imbalance_after < move.imbalance_before);
      }
      for (const WorkerReport& worker : second.workers) CHECK(worker.num_updates == 18);
    }
  }
}

TEST_CASE("In best effort, sums are conserved while nodes move, and accounts are exact") {
  for (const AsyncMode mode : {AsyncMode::rolling, AsyncMode::no_barrier}) {
    for (const std::uint32_t threads : {1U, 2U}) {
      Balanced<DriftingWalk> walk(MakeWith<DriftingWalk>(threads), EachWindow(10));
      const RunReport report = walk.Run(ScheduleOf(mode, {.updates = 200}));
      CHECK((!MpiTestWorld().IsRoot() || report.Balanced()));
      for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == 200);
      CHECK(walk.Moves().empty() == (NumWorkers(threads) == 1));
      std::uint64_t attempted = report.Tally().put.attempted;
      for (const WorkerReport& worker : report.workers) attempted += worker.inside.put.attempted;
      // Each of the 36 nodes puts four messages per update; those that wait while nodes move are put once more.
      if (MpiTestWorld().IsRoot()) CHECK(attempted >= 36 * 4 * 200);
      if (MpiTestWorld().IsRoot() && walk.Moves().empty()) CHECK(attempted == 36 * 4 * 200);
      CHECK(walk.Moves().size() * 36 * 4 + 36 * 4 * 200 >= attempted);
      CHECK(walk->Sum() == 3600);
    }
  }
}

TEST_CASE("A program that tells its loads is balanced after a move, and then no node moves any more") {
  for (const std::uint32_t threads : {1U, 2U}) {
    Balanced<Uneven> program(MakeWith<Uneven>(threads),
                             {.threshold = 1.15, .window = 0ns, .window_updates = 5, .patience = 2, .cool_down = 0});
    const RunReport report = program.Run(EveryUpdate{.updates = 100});
    CHECK(report.stopped_by == StopReason::count);
    CHECK(program.Moves().size() <= 1);
    CHECK(program.LastImbalance() < 1.15);
    for (const NodeMove& move : program.Moves()) {
      CHECK(move.num_updates == 10);
      CHECK(move.imbalance_before > 1.15);
      CHECK(move.imbalance_after == Approx(program.LastImbalance()));
    }
    if (NumWorkers(threads) == 2) CHECK(program.Moves().size() == 1);
    program->mesh.Visit([&](Node& node) { CHECK(program->count[node] == 100); });
  }
}

TEST_CASE("A move tells how much faster updates are after it") {
  for (const AsyncMode mode : {AsyncMode::every_update, AsyncMode::no_barrier}) {
    for (const bool at_first : {true, false}) {
      Balanced<Sleeping> program(
          [at_first](const MeshOptions& options) { return std::make_unique<Sleeping>(TeamWith(2), options, at_first); },
          {.threshold = 1.15, .window = 0ns, .window_updates = Sleeping::num_first, .patience = 1});
      program.Run(ScheduleOf(mode, {.updates = 3 * Sleeping::num_first}));
      CHECK(program.Moves().size() == 1);
      for (const NodeMove& move : program.Moves()) {
        CAPTURE(mode, at_first, move.update_before.count(), move.update_after.count());
        CHECK((at_first ? move.update_before : move.update_after) >= 0.99 * Sleeping::nap);
        CHECK((move.Gain().value() > 1) == at_first);
      }
    }
  }
  CHECK(!NodeMove{}.Gain());
}

TEST_CASE("Workers know after a move how long to spin, as they have learnt before") {
  Balanced<Uneven> program(MakeWith<Uneven>(2), EachWindow(5));
  for (const auto& partition : program->mesh.Partitions()) partition->spin_habit = uit::SpinHabit(false);  // never for long
  program.Run(EveryUpdate{.updates = 20});
  CHECK(!program.Moves().empty());
  for (const auto& partition : program->mesh.Partitions()) CHECK(!partition->spin_habit.IsLong());
}

TEST_CASE("Below the threshold, nothing moves, and the program stays the same object") {
  Balanced<Uneven> program(MakeWith<Uneven>(2), {.threshold = 1e9, .window = 0ns, .window_updates = 5, .patience = 1});
  const Mesh* const first = &program->mesh;
  program.Run(EveryUpdate{.updates = 50});
  CHECK(program.Moves().empty());
  CHECK(&program->mesh == first);
}

TEST_CASE("The meter tells what each node's updates take, and passes on what they do") {
  Mesh mesh{TeamWith(1), MakeTorus(4, 4)};
  detail::LoadMeter meter(mesh, 2);
  const auto num_updates = mesh.AddField<std::uint64_t>();
  const auto update = [&](Node& node) {
    ++num_updates[node];
    const auto slow = node.Update() == 2 ? 300ms : 2ms;  // once as if another program had had the core
    const auto end = std::chrono::steady_clock::now() + (node.Id() == 5 ? slow : 0ms);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  detail::NodeLoop loop(mesh, 0, update);
  meter.Watch(loop);
  detail::RunUpdateLoop(mesh, EveryUpdate{.updates = 7}.MakePlan(), {}, meter);
  const std::vector<double> loads = meter.Take();
  for (std::size_t local = 0; local < loads.size(); ++local) {
    CHECK(loads[local] > 0);
    if (mesh.Id(local) == 5) CHECK(loads[local] >= 1e-3);
    CHECK(loads[local] < 50e-3);  // the longest does not count
  }
  mesh.Visit([&](Node& node) { CHECK(num_updates[node] == 7); });
  CHECK(meter.Take() == std::vector<double>(loads.size()));
}

TEST_CASE("With measured loads, and with steals, the result is that of a run without moves") {
  struct Relax {
    Relax(const uit::Team& team, const MeshOptions& options) : mesh(team, MakeTorus(16, 16), options) {}
    void Update(Node& node) {
      double sum = value[node];
      const bool is_heavy = node.Id() / 16 < 8 && node.Id() % 16 < 8;  // a quarter of the torus, so its worker has too much
      for (std::uint64_t i = is_heavy ? 20 : 1; i != 0; --i)
        for (const auto edge : node.In()) sum = 0.5 * sum + 0.25 * value[edge] + static_cast<double>(node.Random().Below(8));
      value[node] = sum;
    }
    Mesh mesh;
    PublishedField<double> value = mesh.AddPublishedField<double>([](NodeId id) { return id; });
  };
  Relax whole(TeamWith(1), {});
  whole.mesh.Run(EveryUpdate{.updates = 60}, [&](Node& node) { whole.Update(node); });
  const std::vector<double> expected = whole.mesh.Gather(whole.value);
  for (const AsyncMode mode : {AsyncMode::every_update, AsyncMode::dataflow}) {
    for (const bool steals : {false, true}) {
      BalanceOptions options = EachWindow(10);
      options.threshold = 1;
      options.measured_every = 2;
      Balanced<Relax> relax(MakeWith<Relax>(2), options);
      relax.Run(ScheduleOf(mode, {.updates = 60, .steals = StealsIf(steals)}));
      CAPTURE(mode, steals, relax.Moves().size());
      CHECK(relax->mesh.Gather(relax->value) == expected);
      CHECK_FALSE(relax.Moves().empty());  // so something was measured: two threads are two workers at least
    }
  }
}

TEST_CASE("If an update throws while it is measured, that node and the later ones publish nothing, as without the meter") {
  Mesh mesh{TeamWith(1), MakeTorus(4, 4)};
  const auto num_nodes = static_cast<std::uint32_t>(mesh.NumLocalNodes());
  const auto update = [](Node& node) {
    if (node.Index() == 1) throw std::runtime_error("no more");
  };
  detail::NodeLoop loop(mesh, 0, update);
  detail::LoadMeter meter(mesh, 3);
  meter.Watch(loop);
  const std::vector<NodeRange> nodes{{0, 3}, {3, num_nodes}};
  std::vector<std::uint32_t> later;
  for (std::uint32_t node = 1; node < num_nodes; ++node) later.push_back(node);
  for (const std::uint64_t turn : {0U, 1U, 2U}) {  // measured, timed as a whole, neither
    NodeNotes notes;
    std::uint32_t position = 0;
    CHECK_THROWS_AS(meter.Update(0, turn, nodes, notes, position), std::runtime_error);
    CHECK(position == 1);
    CHECK(notes.silent == later);
  }
}

TEST_CASE("A balanced run refuses what would stay behind, records, and loads that are none") {
  struct Plain : Uneven {
    using Uneven::Uneven;
    double Load(Node&) { return -1; }
  };
  {
    Balanced<Uneven> program(MakeWith<Uneven>(1), EachWindow(5));
    CheckThrows([&] { program.Run(EveryUpdate{.updates = 1}, {.record = "folder"}); },
                "a balanced run cannot be recorded or replayed");
    program->mesh.Capture(program->count);
    CheckThrows([&] { program.Run(EveryUpdate{.updates = 1}); },
                "a balanced mesh can have neither captures nor objects that nodes share");
  }
  {
    Balanced<Uneven> program(MakeWith<Uneven>(1), EachWindow(5));
    program->mesh.AddShared<std::atomic<int>, Order::relaxed>(0);
    CheckThrows([&] { program.Run(EveryUpdate{.updates = 1}); },
                "a balanced mesh can have neither captures nor objects that nodes share");
  }
  Balanced<Plain> negative(MakeWith<Plain>(1), EachWindow(5));
  CheckThrows([&] { negative.Run(EveryUpdate{.updates = 1}); },
              MpiTestWorld().IsRoot() ? "the load of a node must be a number that is not negative" : "rank 0 failed");
}
