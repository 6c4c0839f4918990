// Dataflow on meshes whose edges have delays, against serial loops.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/delayed_exchange.hpp>
#include <netuit/mesh/delayed_slots.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/published_part.hpp>
#include <netuit/mesh/value_exchange.hpp>
#include <netuit/placement/dataflow_plan.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/link/frame.hpp>
#include <uit/team/team.hpp>

#include "tests/support/shared_folder.hpp"
#include "tests/netuit/run/odd_graph.hpp"
#include "tests/netuit/run/random_delays.hpp"
#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/steals.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::BeSlowAtTimes;
using netuit::testing::MakeOddGraph;
using netuit::testing::Mix;
using netuit::testing::RandomDelays;
using netuit::testing::StealsIf;
using netuit::testing::TeamWith;
using netuit::testing::WorkersWith;
using uit::testing::CheckThrows;
using uit::testing::is_slow_build;
using uit::testing::MpiTestWorld;

namespace {

using Word = std::uint64_t;

std::vector<std::uint32_t> ThreadCounts() {
  return MpiTestWorld().Size() == 1 ? std::vector<std::uint32_t>{1, 2, 3, 4} : std::vector<std::uint32_t>{1, 2};
}

/// What a node does with what it reads.
struct Step {
  Word sum = 0;
  void Read(Word value) { sum = Mix(sum, value); }
  /// The node's next value, and whether it publishes it.
  std::pair<Word, bool> Next(Word own, const NodeRandom& random) const {
    NodeRandom draws = random;
    const Word next = Mix(own, sum) + draws.Below(1000);
    return {next, draws.Below(8) != 0};
  }
};

/// Networks over the same nodes, with delays.
struct Model {
  std::vector<Topology> graphs;
  std::vector<EdgeDelays> delays;

  std::vector<NamedNetwork> Networks() const {
    std::vector<NamedNetwork> networks;
    for (std::size_t i = 0; i < graphs.size(); ++i) networks.push_back({std::to_string(i), graphs[i], {.delays = delays[i]}});
    return networks;
  }
};

/// What a serial loop leaves.
struct Serial {
  std::vector<Word> values;         // by node: its own
  std::vector<Word> num_published;  // by node
};

/// After each of the updates `ends`, a run ends, and neighbours see all values.
Serial RunSerially(const Model& model, Word seed, Word num_updates, const std::set<Word>& ends = {}) {
  const NodeId num_nodes = model.graphs.front().NumNodes();
  std::vector<std::vector<std::uint16_t>> delays;
  std::vector<const Topology*> graphs;
  for (std::size_t i = 0; i < model.graphs.size(); ++i) {
    graphs.push_back(&model.graphs[i]);
    delays.push_back(model.delays[i].Of(model.graphs[i]));
  }
  std::vector<std::uint32_t> levels = FindLevels(graphs, delays);
  levels.resize(num_nodes);
  std::vector<NodeId> order(num_nodes);
  std::iota(order.begin(), order.end(), NodeId{0});
  std::ranges::sort(order, {}, [&](NodeId node) { return std::pair(levels[node], node); });

  std::vector<Word> own(num_nodes);
  for (NodeId node = 0; node < num_nodes; ++node) own[node] = node;
  std::vector<std::vector<Word>> published{own};  // at the start, then by update
  std::vector<Word> num_published(num_nodes);
  for (Word update = 0; update < num_updates; ++update) {
    published.push_back(published.back());
    for (const NodeId node : order) {
      Step step;
      for (std::size_t i = 0; i < graphs.size(); ++i) {
        for (const EdgeId edge : graphs[i]->InEdges(node)) {
          const Word delay = delays[i].empty() ? 1 : delays[i][edge];
          step.Read(published[delay > update ? 0 : update + 1 - delay][graphs[i]->Source(edge)]);
        }
      }
      const auto [next, is_published] = step.Next(own[node], NodeRandom{seed, node, update});
      own[node] = next;
      if (!is_published) continue;
      published.back()[node] = next;
      ++num_published[node];
    }
    if (ends.contains(update + 1)) published.back() = own;
  }
  return {own, num_published};
}

/// The same on a mesh. Runs it in pieces; each continues from the state of the previous one.
class MeshRun {
 public:
  MeshRun(const uit::Team& team, const Model& model, const Placement& placement)
      : mesh(team, model.Networks(), {.placement = placement}),
        value(mesh.AddPublishedField<Word>([](NodeId node) { return Word{node}; })) {}

  RunReport Run(const ScheduleValue auto& schedule, Word seed, RunOptions options = {}) {
    options.seed = seed;
    return mesh.Run(schedule, [this](Node& node) {
      Step step;
      for (std::uint32_t i = 0; i < mesh.NumNetworks(); ++i)
        for (const auto edge : node.In(Network{i})) step.Read(value[edge]);
      const auto [next, is_published] = step.Next(value[node], node.Random());
      value[node] = next;
      if (!is_published) node.StaySilent();
      BeSlowAtTimes(node, 3000, 200us);
    }, options);
  }

  Mesh mesh;
  PublishedField<Word> value;
};

/// Adds up `num_published` of the nodes that other workers read, for each of these workers.
Word CountCrossings(const Topology& graph, const Placement& placement, const std::vector<Word>& num_published) {
  std::set<std::pair<NodeId, std::uint32_t>> crossings;
  for (EdgeId edge = 0; edge < graph.NumEdges(); ++edge) {
    const std::uint32_t target = placement.WorkerOf(graph.Target(edge));
    if (placement.WorkerOf(graph.Source(edge)) != target) crossings.insert({graph.Source(edge), target});
  }
  Word sum = 0;
  for (const auto& [node, worker] : crossings) sum += num_published[node];
  return sum;
}

void CheckCounts(const RunReport& report, Word num_updates) {
  CHECK(report.ExitCode() == 0);
  for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == num_updates);
  if (report.is_root) CHECK(report.Balanced());
}

}  // namespace

TEST_CASE("Random delays on random graphs give a serial loop's values, on every layout and placement") {
  const Word num_seeds = is_slow_build ? 3 : 12;
  for (Word seed = 1; seed <= num_seeds; ++seed) {
    const Word longest = std::array<Word, 4>{1, 2, 3, 6}[seed % 4];
    const EdgeDelays first = seed % 3 == 1 ? EdgeDelays{} : RandomDelays(seed, longest);
    const EdgeDelays second = seed % 3 == 0 ? EdgeDelays{} : RandomDelays(seed, seed % 3);
    const Model model{{MakeOddGraph(40, seed), MakeSmallWorld(40, 4, 0.3, seed)}, {first, second}};
    const Serial expected = RunSerially(model, seed, 30);
    for (const std::uint32_t threads : ThreadCounts()) {
      const uit::Team team = TeamWith(threads);
      const Placement placement = PlaceRandom(model.graphs.front(), WorkersWith(threads), seed);
      for (const bool steals : {false, true}) {
        if (steals && threads == 1) continue;
        CAPTURE(seed, threads, steals);
        MeshRun run{team, model, placement};
        const RunReport report = run.Run(Dataflow{.updates = 30, .steals = StealsIf(steals)}, seed);
        CheckCounts(report, 30);
        const std::vector<Word> values = run.mesh.Gather(run.value);
        if (!team.IsRoot()) continue;
        CHECK(values == expected.values);
        Word num_put = 0;
        for (const Topology& graph : model.graphs) num_put += CountCrossings(graph, placement, expected.num_published);
        CHECK(report.Tally().put.attempted == num_put);
        CHECK(report.Tally().get.stepped + report.Tally().get.unread == num_put);
      }
    }
  }
}

TEST_CASE("Delays of two and more on every edge let a worker run ahead, and give a serial loop's values") {
  const auto delay_of = [](NodeId source, NodeId target) { return 2 + (source + target) % 3; };
  const Model model{{MakeTorus(6, 7)}, {delay_of}};
  const Topology& torus = model.graphs.front();
  const std::vector<Word> expected = RunSerially(model, 5, 50).values;
  for (const std::uint32_t threads : ThreadCounts()) {
    const uit::Team team = TeamWith(threads);
    const Placement placement = PlaceRandom(torus, WorkersWith(threads), 3);
    Word longest = 0;  // of edges between workers
    for (EdgeId edge = 0; edge < torus.NumEdges(); ++edge) {
      const NodeId source = torus.Source(edge);
      const NodeId target = torus.Target(edge);
      if (placement.WorkerOf(source) != placement.WorkerOf(target)) longest = std::max<Word>(longest, delay_of(source, target));
    }
    MeshRun run{team, model, placement};
    const RunReport report = run.Run(Dataflow{.updates = 50}, 5);
    CheckCounts(report, 50);
    const std::vector<Word> values = run.mesh.Gather(run.value);
    if (!team.IsRoot()) continue;
    CHECK(values == expected);
    CHECK(report.EffectiveUpdates() == 13);  // the longest delay is 4, and 50 / 4 is 12.5
    CHECK(report.MaxStaleness() == longest);
  }
}

TEST_CASE("Gauss-Seidel in order of number equals a loop that writes in place, bit for bit, however rows are dealt out") {
  constexpr NodeId width = 9;
  constexpr NodeId height = 8;
  const Topology grid = MakeGrid(height, width);
  std::vector<double> expected(grid.NumNodes());
  for (NodeId node = 0; node < grid.NumNodes(); ++node) expected[node] = node % 5;
  for (int update = 0; update < 40; ++update) {
    for (NodeId node = 0; node < grid.NumNodes(); ++node) {
      double sum = 0;
      for (const EdgeId edge : grid.InEdges(node)) sum += expected[grid.Source(edge)];
      expected[node] = 0.3 * sum + 0.01 * node;
    }
  }
  for (const std::uint32_t threads : ThreadCounts()) {
    for (const bool is_cyclic : {false, true}) {
      CAPTURE(threads, is_cyclic);
      const uit::Team team = TeamWith(threads);
      const auto num_workers = static_cast<NodeId>(WorkersWith(threads).Count());
      std::vector<std::uint32_t> workers;
      for (NodeId node = 0; node < grid.NumNodes(); ++node)
        workers.push_back(is_cyclic ? node / width % num_workers : node / width * num_workers / height);
      Mesh mesh{team, {{"grid", grid, {.delays = GaussSeidel()}}}, {.placement = Placement{WorkersWith(threads), workers}}};
      auto value = mesh.AddPublishedField<double>([](NodeId node) { return node % 5; });
      const RunReport report = mesh.Run(Dataflow{.updates = 40}, [&](Node& node) {
        double sum = 0;
        for (const auto edge : node.In()) sum += value[edge];
        value[node] = 0.3 * sum + 0.01 * node.Id();
      });
      CheckCounts(report, 40);
      const std::vector<double> values = mesh.Gather(value);
      if (!team.IsRoot()) continue;
      CHECK(values == expected);
      CHECK(report.EffectiveUpdates() == 40);
    }
  }
}

TEST_CASE("Both ends of an edge know its delay, which is 1 in a network without delays") {
  const Topology graph = MakeSmallWorld(36, 4, 0.3, 2);
  const auto delay_of = [](NodeId source, NodeId target) { return (3 * source + target) % 4 + 1; };
  const uit::Team team = TeamWith(2);
  Mesh mesh{team, {{"late", graph, {.delays = delay_of}}, {"plain", graph}}};
  const Network late = mesh.GetNetwork("late");
  const Network plain = mesh.GetNetwork("plain");
  auto num_wrong = mesh.AddField<std::size_t>();
  mesh.Run(Dataflow{.updates = 1}, [&](Node& node) {
    for (const InEdge edge : node.In(late)) num_wrong[node] += edge.Delay() != delay_of(edge.Source(), node.Id());
    for (const OutEdge edge : node.Out(late)) num_wrong[node] += edge.Delay() != delay_of(node.Id(), edge.Target());
    for (const InEdge edge : node.In(plain)) num_wrong[node] += edge.Delay() != 1;
    for (const OutEdge edge : node.Out(plain)) num_wrong[node] += edge.Delay() != 1;
  });
  for (const std::size_t num : mesh.Gather(num_wrong)) CHECK(num == 0);
}

TEST_CASE("Gauss-Seidel by colour updates one colour after the other") {
  const Topology grid = MakeGrid(6, 6);
  const std::vector<std::uint32_t> colors = ColorNodes(grid);
  CHECK(*std::ranges::max_element(colors) == 1);
  std::vector<double> expected(grid.NumNodes(), 1.0);
  for (int update = 0; update < 20; ++update) {
    for (const std::uint32_t color : {0U, 1U}) {
      for (NodeId node = 0; node < grid.NumNodes(); ++node) {
        if (colors[node] != color) continue;
        double sum = 0;
        for (const EdgeId edge : grid.InEdges(node)) sum += expected[grid.Source(edge)];
        expected[node] = 0.2 * sum + node;
      }
    }
  }
  const uit::Team team = TeamWith(2);
  Mesh mesh{team, {{"grid", grid, {.delays = GaussSeidelByColor()}}}};
  auto value = mesh.AddPublishedField<double>(1.0);
  CheckCounts(mesh.Run(Dataflow{.updates = 20}, [&](Node& node) {
    double sum = 0;
    for (const auto edge : node.In()) sum += value[edge];
    value[node] = 0.2 * sum + node.Id();
  }), 20);
  const std::vector<double> values = mesh.Gather(value);
  if (team.IsRoot()) CHECK(values == expected);
}

TEST_CASE("Runs follow each other on one mesh: with delays, then without, and again") {
  const Model model{{MakeSmallWorld(36, 4, 0.3, 2)}, {RandomDelays(4, 3)}};
  const Model plain{model.graphs, {EdgeDelays{}}};
  const uit::Team team = TeamWith(2);
  const Placement placement = PlaceRandom(model.graphs.front(), WorkersWith(2), 8);
  MeshRun with_delays{team, model, placement};
  MeshRun without{team, plain, placement};
  const auto check_same = [&] {
    const std::vector<Word> values = with_delays.mesh.Gather(with_delays.value);
    const std::vector<Word> others = without.mesh.Gather(without.value);
    if (team.IsRoot()) CHECK(values == others);
  };
  CheckCounts(with_delays.Run(EveryUpdate{.updates = 7}, 1), 7);  // which ignores them
  without.Run(EveryUpdate{.updates = 7}, 1);
  check_same();
  CheckCounts(with_delays.Run(Dataflow{.updates = 11}, 2), 11);
  CheckCounts(with_delays.Run(Free{.updates = 20}, 3), 20);
  CheckCounts(with_delays.Run(Dataflow{.updates = 9}, 4), 9);
  with_delays.mesh.Visit([&](Node& node) { with_delays.value[node] = node.Id(); });
  without.mesh.Visit([&](Node& node) { without.value[node] = node.Id(); });
  // A value that is written between runs is published at the end of the next update.
  const auto publish = [](MeshRun& run) { run.mesh.Run(EveryUpdate{.updates = 1}, [](Node&) {}); };
  publish(with_delays);
  publish(without);
  check_same();
  CheckCounts(with_delays.Run(Dataflow{.updates = 30}, 6), 30);
  const std::vector<Word> values = with_delays.mesh.Gather(with_delays.value);
  if (team.IsRoot()) CHECK(values == RunSerially(model, 6, 30).values);
}

TEST_CASE("A run that goes on shows what was published before it, however short the runs are") {
  const std::vector<std::vector<Word>> pieces{{1, 1, 1, 2, 1, 3, 2, 6, 1, 12}, {7, 4, 5, 14}};
  const Word num_seeds = is_slow_build ? 2 : 6;
  for (Word seed = 1; seed <= num_seeds; ++seed) {
    // No worker reads values of the previous update.
    const EdgeDelays far = [](NodeId source, NodeId target) { return 2 + (source + target) % 5; };
    const Model model{{MakeOddGraph(40, seed), MakeSmallWorld(40, 4, 0.3, seed)},
                      {seed % 2 == 0 ? far : RandomDelays(seed, 6), seed % 2 == 0 ? far : RandomDelays(seed, seed % 5)}};
    for (const std::vector<Word>& lengths : pieces) {
      std::set<Word> ends;
      for (Word end = 0; const Word length : lengths) ends.insert(end += length);
      const std::vector<Word> expected = RunSerially(model, seed, 30, ends).values;
      for (const std::uint32_t threads : ThreadCounts()) {
        CAPTURE(seed, threads, lengths);
        const uit::Team team = TeamWith(threads);
        MeshRun run{team, model, PlaceRandom(model.graphs.front(), WorkersWith(threads), seed)};
        for (const Word length : lengths)
          CheckCounts(run.Run(Dataflow{.updates = length}, seed, {.first_update = run.mesh.NumUpdates()}), length);
        const std::vector<Word> values = run.mesh.Gather(run.value);
        if (team.IsRoot()) CHECK(values == expected);
      }
    }
  }
}

TEST_CASE("A run does not go on from another mode, from before a new field, or with numbers from the start") {
  const Model model{{MakeSmallWorld(30, 4, 0.3, 2)}, {RandomDelays(9, 4)}};
  const uit::Team team = TeamWith(2);
  const Placement placement = PlaceRandom(model.graphs.front(), WorkersWith(2), 8);
  const auto values_after = [&](const std::function<void(MeshRun&)>& between, bool numbers_go_on) {
    MeshRun run{team, model, placement};
    CheckCounts(run.Run(Dataflow{.updates = 8}, 3), 8);
    between(run);
    CheckCounts(run.Run(Dataflow{.updates = 8}, 3, {.first_update = numbers_go_on ? run.mesh.NumUpdates() : 0}), 8);
    return run.mesh.Gather(run.value);
  };
  const auto nothing = [](MeshRun&) {};
  const auto pass_in_mode_0 = [](MeshRun& run) {
    run.mesh.Run(EveryUpdate{.updates = 1}, [](Node&) {});
    run.mesh.SetNumUpdates(8);  // so that the nodes draw the same numbers
  };
  const auto add_field = [](MeshRun& run) { run.mesh.AddPublishedField<int>(); };
  const std::vector<Word> going_on = values_after(nothing, true);
  const std::vector<Word> after_mode_0 = values_after(pass_in_mode_0, true);
  const std::vector<Word> after_new_field = values_after(add_field, true);
  const std::vector<Word> from_start = values_after(nothing, false);
  if (!team.IsRoot()) return;
  CHECK(going_on == RunSerially(model, 3, 16, {8}).values);
  CHECK(after_mode_0 == after_new_field);
  CHECK(after_mode_0 != going_on);
  CHECK(from_start != going_on);
}

TEST_CASE("Workers that send much before they read do not wait for each other's room for ever") {
  // Every worker has a chain without delay. The end of each chain reads all nodes of the next worker's, as of the previous update.
  constexpr NodeId length = 12;
  for (const std::uint32_t threads : ThreadCounts()) {
    const uit::Team team = TeamWith(threads);
    const auto num_workers = static_cast<NodeId>(WorkersWith(threads).Count());
    std::vector<Edge> edges;
    std::vector<std::uint32_t> workers;
    for (NodeId node = 0; node < num_workers * length; ++node) {
      workers.push_back(node / length);
      const NodeId reader = (node / length + 1) % num_workers * length + length - 1;
      if (node % length != length - 1) edges.push_back({node, node + 1});
      if (node / length != reader / length) edges.push_back({node, reader});
    }
    const EdgeDelays delays = [](NodeId source, NodeId target) { return source / length == target / length ? 0 : 1; };
    const Model model{{Topology{num_workers * length, edges}}, {delays}};
    MeshRun run{team, model, Placement{WorkersWith(threads), workers}};
    CheckCounts(run.Run(Dataflow{.updates = 20}, 3), 20);
    const std::vector<Word> values = run.mesh.Gather(run.value);
    if (team.IsRoot()) CHECK(values == RunSerially(model, 3, 20).values);
  }
}

TEST_CASE("A worker that has no room at one reader sends nothing twice to another") {
  // Nobody sends to the first node's worker, so it runs ahead as far as there is room. The last node is slow.
  const Topology fork{3, {{0, 1}, {0, 2}}};
  const EdgeDelays two = [](NodeId, NodeId) { return 2; };
  for (const std::uint32_t threads : ThreadCounts()) {
    const uit::Team team = TeamWith(threads);
    const auto last = static_cast<std::uint32_t>(WorkersWith(threads).Count() - 1);
    Mesh mesh{team,
              {{"fork", fork, {.delays = two}}},
              {.placement = Placement{WorkersWith(threads), {0, std::min(1U, last), std::min(2U, last)}}}};
    auto value = mesh.AddPublishedField<Word>(Word{0});
    auto num_wrong = mesh.AddField<Word>(Word{0});
    const RunReport report = mesh.Run(Dataflow{.updates = 40}, [&](Node& node) {
      if (node.Id() == 2) std::this_thread::sleep_for(300us);
      value[node] = node.Update() + 1;
      for (const auto edge : node.In()) num_wrong[node] += value[edge] == (node.Update() < 2 ? 0 : node.Update() - 1) ? 0 : 1;
    });
    CheckCounts(report, 40);
    mesh.Visit([&](Node& node) {
      CHECK(num_wrong[node] == 0);
      for (const auto edge : node.In()) CHECK(value[edge] == 40);  // between runs, what the neighbour has published last
    });
  }
}

TEST_CASE("A mesh sends what the plan of its graph says") {
  using Frames = std::set<std::tuple<std::size_t, std::uint32_t, std::uint32_t, std::size_t>>;  // network, level, receiver, values
  const Topology graph = MakeSmallWorld(50, 4, 0.3, 2);
  const Placement placement = PlaceRandom(graph, WorkersWith(2), 6);
  const uit::Team team = TeamWith(2);
  const std::vector<Model> models{{{graph}, {GaussSeidel()}},
                                  {{graph}, {GaussSeidelByColor()}},
                                  {{graph}, {EdgeDelays{}}},
                                  {{graph, MakeOddGraph(50, 3)}, {RandomDelays(3, 4), EdgeDelays{}}}};
  for (const Model& model : models) {
    std::vector<const Topology*> graphs;
    for (const Topology& of : model.graphs) graphs.push_back(&of);
    const DataflowPlan plan{graphs, model.delays, placement};
    const MeshRun run{team, model, placement};
    std::size_t num_bytes = 0;  // of this process's frames
    for (const auto& partition : run.mesh.Partitions()) {
      const std::uint32_t worker = partition->graph.worker;
      Frames sent;
      const auto add = [&](std::size_t network, std::uint32_t level, std::uint32_t to, const uit::LatestFrame& layout) {
        sent.emplace(network, level, to, layout.num_channels);
        num_bytes += sizeof(uit::FrameHeader) + layout.MinBytes();
      };
      for (std::size_t i = 0; i < graphs.size(); ++i) {
        auto& part = dynamic_cast<PublishedPart&>(*partition->layers[i]);
        if (part.Delayed() == nullptr) {
          for (const ValueSender& sender : part.Ends().senders) add(i, 0, sender.worker, sender.layout);
          continue;
        }
        for (const DelayedExchange::Sender& sender : part.Delayed()->Senders())
          for (const DelayedSlots::Batch& batch : sender.peer.batches)
            add(i, batch.level, sender.peer.worker, part.Delayed()->LayoutOf(batch.slots.size()));
      }
      Frames planned;
      for (const DataflowPlan::Message& message : plan.Messages())
        if (const DataflowPlan::Group& group = plan.Groups()[message.group]; group.worker == worker)
          planned.emplace(message.network, group.level, message.to, message.num_values);
      CHECK(sent == planned);
      std::size_t num_levels = 0;
      for (const DataflowPlan::Group& group : plan.Groups()) num_levels += group.worker == worker ? 1 : 0;
      CHECK(std::max<std::size_t>(1, partition->levels.size()) == num_levels);
    }
    const std::vector<std::size_t> by_process = MpiTestWorld().AllGatherValue(num_bytes);
    CHECK(std::reduce(by_process.begin(), by_process.end()) == plan.NumBytes(sizeof(Word)));
  }
}

TEST_CASE("Two fields and channels beside them follow a run with delays") {
  const Topology grid = MakeGrid(5, 5);
  const uit::Team team = TeamWith(2);
  Mesh mesh{team, {{"grid", grid, {.delays = GaussSeidel()}}}, {.is_traced = true}};  // frames with time stamps
  auto first = mesh.AddPublishedField<Word>(Word{0});
  auto second = mesh.AddPublishedField<double>(0.0);
  auto channel = mesh.AddChannels<Word, uit::every>();
  auto num_wrong = mesh.AddField<Word>(Word{0});
  const RunReport report = mesh.Run(Dataflow{.updates = 25}, [&](Node& node) {
    first[node] = node.Update() + 1;
    second[node] = 0.5 * static_cast<double>(node.Update() + 1);
    for (const auto edge : node.In()) {
      const Word expected = node.Update() + (edge.Source() < node.Id() ? 1 : 0);
      num_wrong[node] += first[edge] == expected ? 0 : 1;
      num_wrong[node] += second[edge] == 0.5 * static_cast<double>(expected) ? 0 : 1;
      num_wrong[node] += channel[edge].Jump() == (node.Update() == 0 ? 0 : 1) ? 0 : 1;  // a message takes an update
      if (node.Update() != 0) num_wrong[node] += channel[edge].Get() == node.Update() ? 0 : 1;
    }
    for (const auto edge : node.Out()) num_wrong[node] += channel[edge].TryPut(node.Update() + 1) ? 0 : 1;
  });
  CheckCounts(report, 25);
  mesh.Visit([&](Node& node) { CHECK(num_wrong[node] == 0); });
}

TEST_CASE("A record of a run with delays is replayed, and refused for other delays") {
  const Model model{{MakeSmallWorld(30, 4, 0.3, 2)}, {RandomDelays(9, 2)}};
  const uit::Team team = TeamWith(2);
  const Placement placement = PlaceRandom(model.graphs.front(), WorkersWith(2), 8);
  const netuit::testing::Folder folder;
  MeshRun recorded{team, model, placement};
  CheckCounts(recorded.Run(Dataflow{.updates = 40}, 3, {.record = folder.Path()}), 40);
  MeshRun replayed{team, model, placement};
  CheckCounts(replayed.Run(Dataflow{.updates = 1}, 3, {.replay = folder.Path()}), 40);
  const std::vector<Word> expected = recorded.mesh.Gather(recorded.value);
  const std::vector<Word> values = replayed.mesh.Gather(replayed.value);
  if (team.IsRoot()) CHECK(values == expected);
  MeshRun other{team, {model.graphs, {RandomDelays(10, 2)}}, placement};
  CHECK_THROWS_AS(other.Run(Dataflow{.updates = 1}, 3, {.replay = folder.Path()}), uit::InputError);
}

TEST_CASE("A stop, a throw and a clock end all workers after the same update, with delays") {
  const Model model{{MakeGrid(6, 6)}, {GaussSeidel()}};
  const uit::Team team = TeamWith(2);
  const auto check_same_end = [&](const RunReport& report) {
    if (!report.is_root) return;
    for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == report.workers.front().num_updates);
    CHECK(report.Balanced());
  };
  {
    MeshRun run{team, model, PlaceRandom(model.graphs.front(), WorkersWith(2), 8)};
    const RunReport report = run.Run(Dataflow{.duration = 30ms}, 1);
    CHECK(report.stopped_by == StopReason::clock);
    check_same_end(report);
  }
  for (const bool throws : {false, true}) {
    Mesh mesh{team, model.Networks()};
    auto value = mesh.AddPublishedField<Word>(Word{0});
    auto has_made_5 = mesh.AddField<bool>(false);
    const RunReport report = mesh.Run(Dataflow{.duration = 10s}, [&](Node& node) {
      for (const auto edge : node.In()) value[node] += value[edge];
      if (node.Update() == 5) has_made_5[node] = true;
      if (node.Id() != 8 || node.Update() != 5) return;
      if (throws) throw std::runtime_error("out of range");
      node.RequestStop();
    });
    CHECK(report.stopped_by == (throws ? StopReason::thrown : StopReason::asked));
    check_same_end(report);
    std::set<NodeId> others;  // on the worker of node 8
    for (const auto& partition : mesh.Partitions()) {
      const std::vector<NodeId>& nodes = partition->graph.nodes;
      if (std::ranges::find(nodes, NodeId{8}) != nodes.end()) others.insert(nodes.begin(), nodes.end());
    }
    const auto turn_of = [](NodeId node) { return std::pair(node / 6 + node % 6, node); };  // level, then number
    mesh.Visit([&](Node& node) {
      const bool comes_later = others.contains(node.Id()) && turn_of(node.Id()) > turn_of(8);
      CHECK(has_made_5[node] == !(throws && comes_later));
    });
  }
}

TEST_CASE("Delays that cannot be are refused before a mesh is made") {
  const uit::Team team = TeamWith(1);
  const auto make = [&](const Topology& graph, NetworkOptions options) { Mesh mesh{team, {{"ring", graph, options}}}; };
  const Topology ring{4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}};
  const auto check_refused = [&](NetworkOptions options, const char* words) {
    if (team.IsRoot()) CheckThrows([&] { make(ring, options); }, words);
    else CHECK_THROWS_AS(make(ring, options), uit::Error);
  };
  check_refused({.delays = [](NodeId, NodeId) { return 0; }},
                "edges with delay 0 form a cycle, so none of its nodes can be updated first: 0 -> 1 -> 2 -> 3 -> 0");
  check_refused({.delays = [](NodeId source, NodeId) { return source == 2 ? -1 : 1; }},
                "the edge from 2 to 3 has delay -1; a delay is between 0 and 1000");
  check_refused({.delays = [](NodeId, NodeId) { return 1001; }}, "the edge from 0 to 1 has delay 1001");
  check_refused({.period = 2, .delays = [](NodeId, NodeId) { return 2; }}, "only a network with period 1 can have such delays");
  check_refused({.delays = [](const Topology&) { return std::vector<std::int64_t>{1}; }},
                "delays are given for 1 edges, but the network has 4");
}
