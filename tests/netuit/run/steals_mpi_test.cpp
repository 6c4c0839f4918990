// Runs in which workers that wait update nodes of other workers of their process.
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/policy.hpp>
#include <uit/support/pause.hpp>
#include <uit/tally.hpp>
#include <uit/team/team.hpp>

#include "tests/netuit/run/odd_graph.hpp"
#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/shared_folder.hpp"
#include "tests/support/steals.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::MakeOddGraph;
using netuit::testing::Mix;
using netuit::testing::StealsIf;
using netuit::testing::TeamWith;
using netuit::testing::WorkersWith;
using uit::testing::CheckThrows;
using uit::testing::is_slow_build;
using uit::testing::MpiTestWorld;

namespace {

using Word = std::uint64_t;

constexpr AsyncMode exact_modes[] = {AsyncMode::every_update, AsyncMode::dataflow};

/// Counts the updates of nodes that another thread than that of their worker has made, in processes of two threads. Made on the
/// thread that runs the mesh.
class Thieves {
 public:
  /// Called in each update.
  void Note(const Node& node) {
    const std::uint32_t thread = node.Worker() % 2;
    if ((std::this_thread::get_id() == main_) != (thread == 0)) ++num_stolen_[thread];
  }
  /// Returns how many updates of a thread's nodes the other has made.
  Word NumStolenFrom(std::uint32_t thread) const { return num_stolen_[thread].load(); }

 private:
  std::thread::id main_ = std::this_thread::get_id();  // runs the first worker of the process
  std::array<std::atomic<Word>, 2> num_stolen_{};
};

/// What a run leaves.
struct Outcome {
  std::vector<Word> values;
  std::vector<Word> num_received;
  RunReport report;
};

/// A mesh whose update uses all that a node may use, and what it leaves after some updates. Some nodes are slow, some are silent.
struct Model {
  Placement placement;
  std::optional<Word> asks_at{};            // the update in which two nodes ask for the end
  std::optional<std::pair<Word, Word>> bad{};  // the update and the first node of those that throw

  Outcome Run(const Topology& graph, std::uint32_t threads, AsyncMode mode, Word updates, bool steals, double bound = -1) const {
    const uit::Team team = TeamWith(threads);
    Mesh mesh{team, graph, {.placement = placement}};
    const auto value = mesh.AddPublishedField<Word>([](NodeId node) { return Word{node}; });
    const auto received = mesh.AddField<Word>();
    const auto age = mesh.AddEdgeField<Word>();
    const auto letters = mesh.AddChannels<Word, uit::every>();
    const auto sums = mesh.AddChannels<Word, uit::summed>();
    const auto newest = mesh.AddChannels<Word, uit::latest>();
    const auto least = mesh.AddReduction(netuit::minimum);
    const auto total = mesh.AddReduction(netuit::exact_sum);
    RunPlan plan = ScheduleOf(mode, {.updates = updates, .steals = StealsIf(steals)});
    if (bound > 0) plan.until = least < bound;
    Outcome outcome;
    outcome.report = mesh.Run(plan, [&](Node& node) {
      auto random = node.Random();
      Word sum = value[node];
      for (const auto edge : node.In()) {
        sum = Mix(sum, value[edge] + ++age[edge]);
        while (letters[edge].TryStep()) sum = Mix(sum, letters[edge].Get()), ++received[node];
        sum = Mix(sum, sums[edge].JumpGet());
        sum = Mix(sum, newest[edge].JumpGet());
      }
      for (const auto edge : node.Out()) {
        sum += letters[edge].TryPut(sum) ? 1 : 0;
        sum += random.Below(2) == 0 && sums[edge].TryPut(sum % 1000) ? 1 : 0;
        sum += random.Below(3) == 0 && newest[edge].TryPut(sum) ? 1 : 0;
      }
      const double agreed = least.Agreed(node);
      if (mode == AsyncMode::every_update && agreed == agreed)
        sum = Mix(sum, static_cast<Word>(agreed) + std::bit_cast<Word>(total.Agreed(node)));
      if (random.Below(50) == 0) uit::SleepFor(100us);
      if (bad && node.Update() == bad->first && node.Id() >= bad->second && node.Id() % 3 == bad->second % 3)
        throw std::runtime_error("bad");
      if (random.Below(4) == 0) node.StaySilent();
      if (asks_at == node.Update() && node.Id() % 50 == 7) node.RequestStop();
      least[node] = static_cast<double>(sum % 1'000'000);
      total[node] = 1e-6 * static_cast<double>(sum % 1'000'000);
      value[node] = sum;
    }, {.seed = 5});
    outcome.values = mesh.Gather(value);
    outcome.num_received = mesh.Gather(received);
    return outcome;
  }
};

void CheckSame(const Outcome& a, const Outcome& b) {
  CHECK(a.values == b.values);
  CHECK(a.num_received == b.num_received);
  CHECK(a.report.message == b.report.message);
  CHECK(a.report.stopped_by == b.report.stopped_by);
  if (!a.report.is_root) return;
  CHECK(b.report.Balanced());
  REQUIRE(a.report.workers.size() == b.report.workers.size());
  for (std::size_t i = 0; i < a.report.workers.size(); ++i) {
    const WorkerReport& one = a.report.workers[i];
    const WorkerReport& other = b.report.workers[i];
    CHECK(one.num_updates == other.num_updates);
    for (const auto& [of_one, of_other] : {std::pair{one.tally, other.tally}, {one.inside, other.inside}}) {
      CHECK(of_one.put.attempted == of_other.put.attempted);
      CHECK(of_one.put.dropped == of_other.put.dropped);
      CHECK(of_one.put.preempted == of_other.put.preempted);
      CHECK(of_one.get.stepped == of_other.get.stepped);
      CHECK(of_one.get.skipped == of_other.get.skipped);
      CHECK(of_one.get.folded == of_other.get.folded);
      CHECK(of_one.get.unread == of_other.get.unread);
    }
  }
}

/// Two threads per process, or more than cores.
std::vector<std::uint32_t> ThreadCounts() {
  return MpiTestWorld().Size() == 1 ? std::vector<std::uint32_t>{2, 5} : std::vector<std::uint32_t>{2};
}

}  // namespace

TEST_CASE("A worker that waits updates nodes of a worker that has more to do") {
  const Topology graph = MakeTorus(32, 4 * WorkersWith(2).Count());
  for (const AsyncMode mode : exact_modes) {
    for (const bool steals : {false, true}) {
      INFO("mode " << static_cast<int>(mode) << (steals ? ", steals" : ""));
      const uit::Team team = TeamWith(2);
      Mesh mesh{team, graph, {.placement = PlaceContiguous(graph, WorkersWith(2))}};
      const auto value = mesh.AddPublishedField<Word>();
      Thieves thieves;
      const RunReport report = mesh.Run(ScheduleOf(mode, {.updates = 10, .steals = StealsIf(steals)}), [&](Node& node) {
        thieves.Note(node);
        if (node.Worker() % 2 == 0) uit::SleepFor(50us);
        for (const auto edge : node.In()) value[node] += value[edge] + 1;
      });
      CHECK(report.ExitCode() == 0);
      CHECK((thieves.NumStolenFrom(0) > 0) == steals);
      if (!steals) CHECK(thieves.NumStolenFrom(1) == 0);
    }
  }
}

TEST_CASE("A worker that waits for another process updates nodes of its own") {
  // On each process, the second worker reads values of the next process's second worker only. That of process 0 is slow. The first
  // workers read nothing of others.
  const uit::World& world = MpiTestWorld();
  if (world.Size() == 1) return;
  const NodeId num_nodes = 64;  // of a worker
  const Workers workers = WorkersWith(2);
  std::vector<Edge> edges;
  std::vector<std::uint32_t> worker_of;
  for (std::uint32_t worker = 0; worker < workers.Count(); ++worker) {
    for (NodeId i = 0; i < num_nodes; ++i) {
      worker_of.push_back(worker);
      const NodeId node = worker * num_nodes + i;
      const NodeId next_of_worker = worker * num_nodes + (i + 1) % num_nodes;
      const NodeId next_process = (node + 2 * num_nodes) % (workers.Count() * num_nodes);
      edges.push_back({node, worker % 2 == 0 ? next_of_worker : next_process});
    }
  }
  const Topology graph{workers.Count() * num_nodes, std::move(edges)};
  const uit::Team team = TeamWith(2);
  Mesh mesh{team, graph, {.placement = Placement(workers, worker_of)}};
  const auto value = mesh.AddPublishedField<Word>();
  Thieves thieves;
  const RunReport report = mesh.Run(Dataflow{.updates = 10, .steals = StealsIf(true)}, [&](Node& node) {
    thieves.Note(node);
    if (node.Worker() <= 2 && node.Worker() != 0) uit::SleepFor(50us);  // process 0's second worker, and process 1's first
    for (const auto edge : node.In()) value[node] += value[edge] + 1;
  });
  CHECK(report.ExitCode() == 0);
  if (world.Rank() == 1) CHECK(thieves.NumStolenFrom(0) > 0);
}

TEST_CASE("Values, messages, accounts and ends of a run are the same with and without steals") {
  const Word updates = is_slow_build ? 10 : 30;
  for (const std::uint32_t threads : ThreadCounts()) {
    for (const AsyncMode mode : exact_modes) {
      INFO(threads << " threads, mode " << static_cast<int>(mode));
      for (const Topology& graph : {MakeTorus(20, 10), MakeOddGraph(200, 3)}) {
        const Model model{.placement = PlaceContiguous(graph, WorkersWith(threads))};
        CheckSame(model.Run(graph, threads, mode, updates, false), model.Run(graph, threads, mode, updates, true));
      }
    }
  }
}

TEST_CASE("A condition on a reduction and a request end runs of mode 0 after the same update with and without steals") {
  const Topology graph = MakeTorus(20, 10);
  for (const std::uint32_t threads : ThreadCounts()) {
    Model model{.placement = PlaceContiguous(graph, WorkersWith(threads))};
    const Outcome by_bound = model.Run(graph, threads, AsyncMode::every_update, 0, false, 1000);
    CheckSame(by_bound, model.Run(graph, threads, AsyncMode::every_update, 0, true, 1000));
    CHECK(by_bound.report.stopped_by == StopReason::asked);
    model.asks_at = 6;
    const Outcome by_request = model.Run(graph, threads, AsyncMode::every_update, 100, false);
    CheckSame(by_request, model.Run(graph, threads, AsyncMode::every_update, 100, true));
    CHECK(by_request.report.workers.front().num_updates == 7);
  }
}

TEST_CASE("If nodes of a worker throw, the report names the first of them with and without steals") {
  const Topology graph = MakeTorus(20, 10);
  for (const std::uint32_t threads : ThreadCounts()) {
    const Workers workers = WorkersWith(threads);
    for (const AsyncMode mode : exact_modes) {
      for (const Word bad : {Word{150}, Word{171}, Word{199}}) {
        INFO(threads << " threads, mode " << static_cast<int>(mode) << ", from node " << bad);
        std::vector<std::uint32_t> worker_of(graph.NumNodes());
        for (NodeId node = 0; node < graph.NumNodes(); ++node)  // one worker has all nodes that throw
          worker_of[node] = node >= 140 ? workers.Count() - 1 : node % (workers.Count() - 1);
        const Model model{.placement = Placement(workers, worker_of), .bad = std::pair(Word{4}, bad)};
        const RunReport serial = model.Run(graph, threads, mode, 10, false).report;
        const RunReport stolen = model.Run(graph, threads, mode, 10, true).report;
        CHECK(stolen.stopped_by == StopReason::thrown);
        CHECK(stolen.message == serial.message);
        if (!serial.is_root) continue;
        CHECK(serial.message.find("the update of node " + std::to_string(bad) + " threw: bad") != std::string::npos);
        CHECK(stolen.Balanced());
      }
    }
  }
}

TEST_CASE("Nodes that others have updated after one that threw publish nothing") {
  const Workers workers = WorkersWith(2);
  const Topology graph = MakeRing(100 * workers.Count());
  const Placement placement = PlaceRoundRobin(graph, workers);  // so that each node publishes to other workers
  const uit::Team team = TeamWith(2);
  for (const AsyncMode mode : exact_modes) {
    std::vector<Word> num_put;
    for (const bool steals : {false, true}) {
      Mesh mesh{team, graph, {.placement = placement}};
      const auto value = mesh.AddPublishedField<Word>();
      std::atomic<Word> num_late{0};
      const RunReport report = mesh.Run(ScheduleOf(mode, {.updates = 4, .steals = StealsIf(steals)}), [&](Node& node) {
        if (node.Worker() == 0) uit::SleepFor(50us);
        if (node.Worker() == 0 && node.Update() == 1 && node.Id() == 41 * workers.Count()) throw std::runtime_error("bad");
        if (node.Worker() == 0 && node.Update() == 1 && node.Id() > 41 * workers.Count()) ++num_late;
        value[node] = node.Update() + 1;
      });
      CHECK(report.stopped_by == StopReason::thrown);
      if (!report.is_root) continue;
      CHECK(report.Balanced());
      CHECK((steals || num_late == 0));
      num_put.push_back(report.Tally().put.attempted);
    }
    if (team.IsRoot()) CHECK(num_put.front() == num_put.back());
  }
}

TEST_CASE("Steals are refused where results would depend on them, or are recorded") {
  const Topology graph = MakeRing(8);
  const uit::Team team = TeamWith(2);
  Mesh mesh{team, graph, {.placement = PlaceContiguous(graph, WorkersWith(2))}};
  const auto update = [](Node&) {};
  for (const AsyncMode mode : {AsyncMode::rolling, AsyncMode::fixed, AsyncMode::no_barrier, AsyncMode::no_communication}) {
    RunPlan plan = ScheduleOf(mode, {.updates = 1});
    plan.steals = Steals{};
    CheckThrows([&] { mesh.Run(plan, update); }, "steals needs mode 0 or 5");
  }
  const EveryUpdate one_update{.updates = 1, .steals = Steals{}};
  const std::string refusal = "a run with steals can be neither recorded nor replayed";
  CheckThrows([&] { mesh.Run(one_update, update, {.record = "nowhere"}); }, refusal);
  CheckThrows([&] { mesh.Run(one_update, update, {.replay = "nowhere"}); }, refusal);
  CHECK(mesh.Run(one_update, update).ExitCode() == 0);
  mesh.AddShared<std::atomic<int>, Order::relaxed>(0);
  CHECK(mesh.Run(one_update, update).ExitCode() == 0);
  const std::string shared = "steals cannot be used with objects that nodes share in sequence or one at a time";
  mesh.AddShared<int, Order::exclusive>(0);
  CheckThrows([&] { mesh.Run(one_update, update); }, shared);
  Mesh in_turn{team, graph, {.placement = PlaceContiguous(graph, WorkersWith(2))}};
  in_turn.AddShared<int, Order::sequential>(0);
  CheckThrows([&] { in_turn.Run(one_update, update); }, shared);
}
