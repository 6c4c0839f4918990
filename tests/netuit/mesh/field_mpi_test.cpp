#include <netuit/mesh/field.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <netuit/app/exit_code.hpp>
#include <netuit/netuit.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/every.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using netuit::testing::Every;
using netuit::testing::MakeWeightedOddGraph;
using netuit::testing::Mix;
using uit::testing::MpiTestWorld;

namespace {

using Word = std::uint64_t;

template <typename T>
concept Publishable = requires(Mesh& mesh) { mesh.template AddPublishedField<T>(); };
static_assert(Publishable<double> && !Publishable<std::string> && !Publishable<std::vector<double>>);

std::vector<std::uint32_t> ThreadCounts() {
  if (MpiTestWorld().Size() == 1) return {1, 2, 4};
  return MpiTestWorld().Size() == 2 ? std::vector<std::uint32_t>{1, 2} : std::vector<std::uint32_t>{1};
}

/// A ring in which each node reads the node before it and the node `reach` before it.
Topology MakeReachingRing(NodeId num_nodes, NodeId reach) {
  std::vector<Edge> edges;
  for (NodeId node = 0; node < num_nodes; ++node) {
    edges.push_back({node, (node + 1) % num_nodes});
    edges.push_back({node, (node + reach) % num_nodes});
  }
  return {num_nodes, std::move(edges)};
}

Word First(NodeId node) { return Mix(17, node); }
Word WithEdge(Word state, Word neighbor, double weight) { return Mix(Mix(state, neighbor), static_cast<Word>(4 * weight)); }
bool IsSilent(NodeId node, Word update) { return Mix(node, update) % 3 == 0; }

/// One network of the serial reference.
struct SerialNetwork {
  const Topology& graph;
  Word period;
  std::vector<Word> shown;  // by node
};

/// Returns the values of a published field after some updates of mode 0, computed node by node on one thread.
std::vector<Word> Reference(const std::vector<std::pair<const Topology*, Word>>& of, Word num_updates, bool is_silent) {
  const NodeId num_nodes = of.front().first->NumNodes();
  std::vector<Word> own;
  for (NodeId node = 0; node < num_nodes; ++node) own.push_back(First(node));
  std::vector<Word> published = own;
  std::vector<SerialNetwork> networks;
  for (const auto& [graph, period] : of) networks.push_back({*graph, period, own});
  for (Word update = 0; update < num_updates; ++update) {
    std::vector<Word> next = own;
    for (NodeId node = 0; node < num_nodes; ++node) {
      for (const SerialNetwork& network : networks)
        for (const EdgeId edge : network.graph.InEdges(node))
          next[node] = WithEdge(next[node], network.shown[network.graph.Source(edge)], network.graph.EdgeWeight(edge));
      next[node] = Mix(next[node], NodeRandom(1, node, update)());
    }
    own = next;
    for (NodeId node = 0; node < num_nodes; ++node)
      if (!is_silent || !IsSilent(node, update)) published[node] = own[node];
    for (SerialNetwork& network : networks)
      if ((update + 1) % network.period == 0) network.shown = published;
  }
  return own;
}

struct World {
  uit::Team team;
  Mesh mesh;
  PublishedField<Word> state;

  World(std::uint32_t threads, const std::vector<NamedNetwork>& networks, const MeshOptions& options = {})
      : team(MpiTestWorld(), {.threads = threads}), mesh(team, networks, options), state(mesh.AddPublishedField<Word>(First)) {}
};

/// The same, computed by a mesh.
std::vector<Word> Computed(World& world, const std::vector<std::string>& names, Word num_updates, bool is_silent) {
  std::vector<std::pair<Network, EdgeWeights>> networks;
  for (const std::string& name : names) {
    const Network network = world.mesh.GetNetwork(name);
    networks.emplace_back(network, world.mesh.GetEdgeWeights(network));
  }
  const RunReport report = world.mesh.Run(EveryUpdate{.updates = num_updates}, [&](Node& node) {
    Word next = world.state[node];
    for (const auto& [network, weight] : networks)
      for (const auto edge : node.In(network)) next = WithEdge(next, world.state[edge], weight[edge]);
    world.state[node] = Mix(next, node.Random()());
    if (is_silent && IsSilent(node.Id(), node.Update())) node.StaySilent();
  });
  if (MpiTestWorld().IsRoot()) CHECK(report.Balanced());
  CHECK(report.ExitCode() == 0);
  return world.mesh.Gather(world.state);
}

void CheckSame(const std::vector<Word>& computed, const std::vector<Word>& reference) {
  if (MpiTestWorld().IsRoot()) CHECK(computed == reference);
}

template <typename F>
void ForEachLayout(const Topology& graph, F&& check) {
  for (const std::uint32_t threads : ThreadCounts()) {
    INFO(threads << " threads");
    check(threads, MeshOptions{});
    check(threads, MeshOptions{.placement = PlaceRandom(graph, {.processes = MpiTestWorld().Size(), .threads = threads}, 5)});
  }
}

}  // namespace

TEST_CASE("In mode 0 an edge shows what the neighbour published in the previous update, in any layout") {
  const Topology graph = MakeWeightedOddGraph(48, 1);
  const std::vector<Word> reference = Reference({{&graph, 1}}, 25, false);
  ForEachLayout(graph, [&](std::uint32_t threads, const MeshOptions& options) {
    World world(threads, {{"", graph}}, options);
    CheckSame(Computed(world, {""}, 25, false), reference);
  });
}

TEST_CASE("Neighbours of a silent node see its last publication") {
  const Topology graph = MakeWeightedOddGraph(48, 2);
  const std::vector<Word> reference = Reference({{&graph, 1}}, 25, true);
  ForEachLayout(graph, [&](std::uint32_t threads, const MeshOptions& options) {
    World world(threads, {{"", graph}}, options);
    CheckSame(Computed(world, {""}, 25, true), reference);
  });
}

TEST_CASE("An edge of a network with a period shows what was published before the period began, in any layout") {
  const Topology home = MakeWeightedOddGraph(48, 3);
  const Topology work = MakeReachingRing(home.NumNodes(), 7);
  for (const bool is_silent : {false, true}) {
    const std::vector<Word> reference = Reference({{&home, 1}, {&work, 4}}, 27, is_silent);
    ForEachLayout(home, [&](std::uint32_t threads, const MeshOptions& options) {
      World world(threads, {{"home", home}, {"work", work, {.period = 4}}}, options);
      CheckSame(Computed(world, {"home", "work"}, 27, is_silent), reference);
    });
  }
}

TEST_CASE("Successive runs of mode 0 continue from the same state, in any layout") {
  const Topology home = MakeWeightedOddGraph(48, 4);
  const std::vector<Word> reference = Reference({{&home, 1}}, 30, false);
  ForEachLayout(home, [&](std::uint32_t threads, const MeshOptions& options) {
    World world(threads, {{"", home}}, options);
    const EdgeWeights weight = world.mesh.GetEdgeWeights();
    Word before = 0;
    for (const Word num_updates : {Word{10}, Word{20}}) {
      world.mesh.Run(EveryUpdate{.updates = num_updates}, [&](Node& node) {
        Word next = world.state[node];
        for (const auto edge : node.In()) next = WithEdge(next, world.state[edge], weight[edge]);
        world.state[node] = Mix(next, NodeRandom(1, node.Id(), before + node.Update())());
      });
      before += num_updates;
    }
    CheckSame(world.mesh.Gather(world.state), reference);
  });
}

TEST_CASE("Every publication is accounted for, in every schedule, silent nodes too") {
  const Topology graph = MakeWeightedOddGraph(48, 5);
  const auto check = [&](const auto& schedule, bool is_muted) {
    World world(ThreadCounts().back(), {{"home", graph}, {"work", graph, {.period = 3}}});
    const RunReport report = world.mesh.Run(schedule, [&](Node& node) {
      for (const auto edge : node.In()) world.state[node] += world.state[edge];
      if (node.Id() % 2 == 0 && node.Update() % 2 == 1) node.StaySilent();
    });
    if (!MpiTestWorld().IsRoot()) return;
    CHECK(report.Balanced());
    const uit::Tally tally = report.Tally();
    CHECK((tally.put.muted != 0) == (is_muted && report.workers.size() > 1));
    CHECK((tally.put.attempted != 0) == (!is_muted && report.workers.size() > 1));
    for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == 12);
  };
  check(EveryUpdate{.updates = 12}, false);
  check(Rolling{.span = std::chrono::milliseconds(1), .updates = 12}, false);
  check(Fixed{.period = std::chrono::milliseconds(1), .updates = 12}, false);
  check(Free{.updates = 12}, false);
  check(Isolated{.updates = 12}, true);
}

TEST_CASE("How many values are put follows from updates, periods and silence") {
  // A ring of four nodes on two workers, and one more node for each further worker. Each worker's only node is read by the
  // next.
  const auto num_workers = static_cast<NodeId>(MpiTestWorld().Size() * 2);
  std::vector<Edge> edges;
  for (NodeId node = 0; node < num_workers; ++node) edges.push_back({node, (node + 1) % num_workers});
  const Topology ring{num_workers, edges};
  const MeshOptions options{.placement = PlaceContiguous(ring, {.processes = MpiTestWorld().Size(), .threads = 2})};
  World world(2, {{"daily", ring}, {"weekly", ring, {.period = 7}}}, options);
  const RunReport report = world.mesh.Run(Free{.updates = 20}, [&](Node& node) {
    if (node.Update() < 5) node.StaySilent();
  });
  // The daily network: 15 of 20 updates. The weekly network: the last updates before the 7th and 14th, number 6 and 13.
  if (MpiTestWorld().IsRoot()) CHECK(report.Tally().put.attempted == num_workers * (15 + 2));
}

TEST_CASE("A node can ask for the end of a run, which is no error") {
  const Topology graph = MakeWeightedOddGraph(48, 6);
  const auto check = [&](const auto& schedule) {
    World world(ThreadCounts().back(), {{"", graph}});
    const RunReport report = world.mesh.Run(schedule, [&](Node& node) {
      if (node.Id() == 7 && node.Update() == 10) node.RequestStop();
    });
    CHECK(report.stopped_by == StopReason::asked);
    CHECK(report.ExitCode() == 0);
    return report;
  };
  const RunReport synchronous = check(EveryUpdate{.duration = std::chrono::seconds(50)});
  for (const WorkerReport& worker : synchronous.workers) CHECK(worker.num_updates == 11);
  check(Rolling{.span = std::chrono::milliseconds(1), .duration = std::chrono::seconds(50)});
  check(Fixed{.period = std::chrono::milliseconds(1), .duration = std::chrono::seconds(50)});
  check(Free{.duration = std::chrono::seconds(50)});
  check(Isolated{.duration = std::chrono::seconds(50)});
}

TEST_CASE("A schedule may be a user's own type") {
  const Topology graph = MakeWeightedOddGraph(48, 9);
  World world(ThreadCounts().back(), {{"", graph}});
  const RunReport report = world.mesh.Run(Every{.k = 3, .updates = 10}, [&](Node& node) { ++world.state[node]; });
  for (const WorkerReport& worker : report.workers) {
    CHECK(worker.num_updates == 10);
    CHECK(worker.num_barriers == 4);  // after updates 3, 6 and 9, and at the end
  }
  if (MpiTestWorld().IsRoot()) CHECK(report.Balanced());
}

TEST_CASE("A private field holds any type that can be moved") {
  const Topology graph = MakeWeightedOddGraph(48, 7);
  World world(ThreadCounts().back(), {{"", graph}});
  auto names = world.mesh.AddField<std::string>([](NodeId id) { return "node " + std::to_string(id); });
  auto owned = world.mesh.AddField<std::unique_ptr<int>>();
  auto flags = world.mesh.AddField<bool>();
  world.mesh.Run(EveryUpdate{.updates = 3}, [&](Node& node) {
    names[node] += '.';
    if (!owned[node]) owned[node] = std::make_unique<int>(0);
    *owned[node] += 2;
    flags[node] = !flags[node];
  });
  std::size_t num_visited = 0;
  world.mesh.Visit([&](Node& node) {
    ++num_visited;
    CHECK(names[node] == "node " + std::to_string(node.Id()) + "...");
    CHECK(*owned[node] == 6);
    CHECK(flags[node]);
  });
  CHECK(num_visited == world.mesh.NumLocalNodes());
  const std::vector<bool> gathered = world.mesh.Gather(flags);
  if (MpiTestWorld().IsRoot()) CHECK(gathered == std::vector<bool>(graph.NumNodes(), true));
}

TEMPLATE_TEST_CASE_SIG("Messages that a run leaves unread wait for the next one", "", ((uit::Policy policy), policy), uit::every,
                       uit::summed, (uit::Policy{.consolidate = uit::Consolidate::pooled}),
                       (uit::Policy{.consolidate = uit::Consolidate::aggregated})) {
  const Topology graph = MakeWeightedOddGraph(48, 10);
  for (const bool is_first_synchronous : {false, true}) {
    for (const bool is_second_synchronous : {false, true}) {
      INFO(is_first_synchronous << is_second_synchronous);
      uit::Team team{MpiTestWorld(), {.threads = ThreadCounts().back()}};
      Mesh mesh{team, graph, {.depth = 4}};
      auto parcels = mesh.AddChannels<Word, policy>();
      auto sent = mesh.AddField<Word>();
      auto received = mesh.AddField<Word>();
      const auto run = [&](bool is_synchronous, Word num_updates, auto update) {
        return is_synchronous ? mesh.Run(EveryUpdate{.updates = num_updates}, update)
                              : mesh.Run(Free{.updates = num_updates}, update);
      };
      const RunReport first = run(is_first_synchronous, 3, [&](Node& node) {
        for (const auto edge : node.Out()) sent[node] += parcels[edge].TryPut(edge.Id() + 1) ? edge.Id() + 1 : 0;
      });
      const RunReport second = run(is_second_synchronous, 6, [&](Node& node) {
        if (node.Update() == 0) return;
        for (const auto edge : node.In())
          if (const auto parcel = parcels[edge].TryTake()) received[node] += *parcel;
      });
      const std::vector<Word> all_sent = mesh.Gather(sent);
      const std::vector<Word> all_received = mesh.Gather(received);
      if (!MpiTestWorld().IsRoot()) continue;
      CHECK(first.Balanced());
      CHECK(second.Balanced());
      uit::Tally left = first.Tally();
      for (const WorkerReport& worker : first.workers) left += worker.inside;
      CHECK(left.get.unread > 0);
      CHECK(left.get.unread == left.put.attempted - left.put.dropped);
      left = second.Tally();
      for (const WorkerReport& worker : second.workers) left += worker.inside;
      CHECK(left.get.unread == 0);
      CHECK(std::reduce(all_received.begin(), all_received.end()) == std::reduce(all_sent.begin(), all_sent.end()));
      CHECK(std::reduce(all_sent.begin(), all_sent.end()) > 0);
    }
  }
}

TEST_CASE("Both ends of an edge know its weight, and an edge field belongs to the edge") {
  const Topology graph = MakeWeightedOddGraph(48, 8);
  World world(ThreadCounts().back(), {{"", graph}});
  const EdgeWeights weight = world.mesh.GetEdgeWeights();
  auto count = world.mesh.AddEdgeField<std::uint32_t>(5);
  world.mesh.Run(Isolated{.updates = 2}, [&](Node& node) {
    for (const auto edge : node.In()) count[edge] += static_cast<std::uint32_t>(edge.Id());
  });
  world.mesh.Visit([&](Node& node) {
    std::size_t i = 0;
    for (const auto edge : node.In()) {
      CHECK(edge.Id() == graph.InEdges(node.Id())[i++]);
      CHECK(edge.Source() == graph.Source(edge.Id()));
      CHECK(weight[edge] == graph.EdgeWeight(edge.Id()));
      CHECK(count[edge] == 5 + 2 * edge.Id());
    }
    CHECK(i == node.In().size());
    i = 0;
    for (const auto edge : node.Out()) {
      CHECK(edge.Id() == graph.FirstOutEdge(node.Id()) + i++);
      CHECK(edge.Target() == graph.Target(edge.Id()));
      CHECK(weight[edge] == graph.EdgeWeight(edge.Id()));
    }
    CHECK(i == node.Out().size());
  });
}

TEST_CASE("Nodes of two networks are the same if their labels are the same") {
  Labels letters;
  for (const char* const label : {"a", "b", "c", "d"}) letters.Add(label);
  Labels others;
  for (const char* const label : {"e", "c", "a"}) others.Add(label);
  const Topology first{4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, letters};
  const Topology second{3, {{0, 1}, {1, 2}}, others};  // e to c to a
  uit::Team team{MpiTestWorld()};
  Mesh mesh{team, {{"first", first}, {"second", second}}};
  CHECK(mesh.NumNodes() == 5);
  CHECK(mesh.NumEdges() == 6);
  const Network network = mesh.GetNetwork("second");
  mesh.Visit([&](Node& node) {
    CHECK(node.Label() == std::string(1, static_cast<char>('a' + node.Id())));
    CHECK(node.In().size() == (node.Label() == "e" ? 0 : 1));
    const auto in = node.In(network);
    REQUIRE(in.size() == (node.Label() == "a" || node.Label() == "c" ? 1 : 0));
    if (node.Label() == "a") CHECK(in[0].Source() == 2);
    if (node.Label() == "c") CHECK(in[0].Source() == 4);
  });
}

TEST_CASE("If only rank 0 can tell that a mesh is impossible, all others throw that rank 0 failed") {
  uit::Team team{MpiTestWorld()};
  const auto code_of = [&](auto make) {
    try {
      make();
    } catch (...) {
      return ExitCodeOf(std::current_exception());
    }
    return 0;
  };
  CHECK(code_of([&] { const Mesh mesh{team, LoadGraph("there is no such file.edgelist")}; }) == 2);
  CHECK(code_of([&] { const Mesh mesh{team, MakeEmpty(0)}; }) == 2);
  CHECK(code_of([&] { const Mesh mesh{team, {{"a", MakeEmpty(9), {.period = 0}}}}; }) == 2);
  const Mesh mesh{team, MakeEmpty(9)};
  CHECK_THROWS_WITH(mesh.GetNetwork("b"), "the mesh has no network named 'b'");
}
