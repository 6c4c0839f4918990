// Calls to the owners of nodes: every call is handled once, where its node is updated, before Finish ends.
#include <netuit/calls/calls.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/graph_in_parts.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run.hpp>

#include "tests/netuit/calls/scattered.hpp"
#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using netuit::testing::ForEachTeam;
using netuit::testing::MakeOddGraph;
using netuit::testing::Scattered;
using uit::testing::CheckThrows;
using uit::testing::CountRanks;
using uit::testing::MpiTestWorld;
using uit::testing::SumOverRanks;
using uit::testing::WordsThrownBy;

namespace {

constexpr std::uint32_t unreached = std::numeric_limits<std::uint32_t>::max();

/// Returns the distance of each node from a root, computed on one thread.
std::vector<std::uint32_t> Distances(const Topology& graph, NodeId root) {
  std::vector<std::uint32_t> distances(graph.NumNodes(), unreached);
  std::deque<NodeId> queue{root};
  distances[root] = 0;
  for (; !queue.empty(); queue.pop_front())
    for (const NodeId target : graph.OutNeighbors(queue.front()))
      if (distances[target] == unreached) {
        distances[target] = distances[queue.front()] + 1;
        queue.push_back(target);
      }
  return distances;
}

/// Calls the node at the end of each edge of each network, and checks that it is that node.
void CheckEdges(Mesh& mesh) {
  auto num_calls = mesh.AddField<std::uint32_t>();
  auto num_wrong = mesh.AddField<std::uint32_t>();
  auto call = mesh.AddCall<NodeId>([&](Node& node, NodeId target) {
    ++num_calls[node];
    num_wrong[node] += node.Id() != target ? 1U : 0U;
  });
  const std::uint32_t num_networks = mesh.NumNetworks();
  mesh.Finish([&](Node& node) {
    for (std::uint32_t network = 0; network < num_networks; ++network)
      for (const OutEdge edge : node.Out({network})) call(edge, edge.Target());
  });
  std::uint64_t num_missed = 0;
  mesh.Visit([&](Node& node) {
    std::size_t num_inputs = 0;
    for (std::uint32_t network = 0; network < num_networks; ++network) num_inputs += node.In({network}).size();
    num_missed += num_calls[node] != num_inputs || num_wrong[node] != 0 ? 1U : 0U;
  });
  CHECK(num_missed == 0);
}

/// Finds the distances by calls, and compares them.
void CheckSearch(const uit::Team& team, const Topology& graph, NodeId root, const uit::ConveyorOptions& options) {
  Mesh mesh{team, graph, Scattered(team, graph)};
  auto distance = mesh.AddField<std::uint32_t>(unreached);
  auto visit = mesh.AddCall<std::uint32_t>([&](Node& node, std::uint32_t steps, auto& call) {
    if (distance[node] <= steps) return;
    distance[node] = steps;
    for (const OutEdge edge : node.Out())
      if (edge.Id() % 2 == 0) call(edge, steps + 1);
      else call(edge.Target(), steps + 1);
  }, options);
  const uit::ConveyorTally tally = mesh.Finish([&] {
    if (team.IsRoot()) visit(root, 0);
  });
  CHECK(tally.pushed == tally.handled);
  CHECK(tally.handled > graph.NumNodes());
  const std::vector<std::uint32_t> distances = mesh.Gather(distance);
  if (team.IsRoot()) CHECK(distances == Distances(graph, root));
}

}  // namespace

TEST_CASE("Calls from calls reach the owners of nodes, and Finish waits for all") {
  ForEachTeam([](const uit::Team& team) {
    CheckSearch(team, MakeSmallWorld(200, 6, 0.3, 3), 7, {});
    CheckSearch(team, MakeSmallWorld(200, 6, 0.3, 3), 7, {.buffer_bytes = 1, .num_between_looks = 1});
  });
}

TEST_CASE("A search may have far more calls under way than buffers have room for") {
  CheckSearch(uit::Team{MpiTestWorld(), {.threads = 2}}, MakeSmallWorld(5000, 8, 0.5, 9), 11, {.buffer_bytes = 256});
}

TEST_CASE("Every call is handled once, on the worker of its node, in each of several rounds") {
  const Topology graph = MakeOddGraph(60, 4);
  ForEachTeam([&](const uit::Team& team) {
    Mesh mesh{team, graph, Scattered(team, graph)};
    auto sum = mesh.AddField<std::uint64_t>();
    auto owner = mesh.AddField<std::uint32_t>();
    mesh.Visit([&](Node& node) { owner[node] = node.Worker(); });
    std::atomic<bool> is_at_home = true;
    auto give = mesh.AddCall<std::uint64_t>([&](Node& node, std::uint64_t number) {
      if (node.Worker() != owner[node]) is_at_home = false;
      sum[node] += number / (node.Id() + 1);
    }, {.buffer_bytes = 256});
    for (std::uint64_t round = 1; round <= 3; ++round) {
      const uit::ConveyorTally tally = mesh.Finish([&](Node&) {
        for (NodeId node = 0; node < graph.NumNodes(); ++node)
          for (std::uint64_t i = 1; i <= 5; ++i) give(node, i * (node + 1));
      });
      std::uint64_t num_wrong = 0;
      mesh.Visit([&](Node& node) { num_wrong += sum[node] != round * graph.NumNodes() * 15 ? 1U : 0U; });
      CHECK(num_wrong == 0);
      CHECK(tally.pushed == graph.NumNodes() * graph.NumNodes() * 5);
      CHECK(tally.handled == tally.pushed);
    }
    CHECK(is_at_home);
  });
}

TEST_CASE("A call for an edge of any network reaches the node where it ends, also in a graph in parts") {
  ForEachTeam([](const uit::Team& team) {
    const Topology graph = MakeOddGraph(200, 3);
    Mesh two{team, {{"odd", graph}, {"ring", MakeRing(200)}}, Scattered(team, graph)};
    CheckEdges(two);
    Mesh in_parts{team, UniformInParts(300, 900, 7)};
    CheckEdges(in_parts);
  });
}

TEST_CASE("Functions call each other: questions, and answers to who has asked") {
  struct Question {
    NodeId from = 0;
    std::uint32_t number = 0;
  };
  const Topology graph = MakeOddGraph(80, 6);
  ForEachTeam([&](const uit::Team& team) {
    Mesh mesh{team, graph, Scattered(team, graph)};
    auto secret = mesh.AddField<std::uint64_t>([](NodeId id) { return 1000 + id; });
    auto sum = mesh.AddField<std::uint64_t>();
    auto answer = mesh.AddCall<std::uint64_t>([&](Node& node, std::uint64_t value) { sum[node] += value; });
    auto ask = mesh.AddCall<Question>([&](Node& node, const Question& question) {
      answer(question.from, secret[node] * question.number);
    });
    mesh.Finish([&](Node& node) {
      for (std::uint32_t number = 1; number <= 2; ++number)
        for (const InEdge edge : node.In()) ask(edge.Source(), {node.Id(), number});
    });
    std::uint64_t num_wrong = 0;
    mesh.Visit([&](Node& node) {
      std::uint64_t expected = 0;
      for (const InEdge edge : node.In()) expected += 3 * (1000 + edge.Source());
      num_wrong += sum[node] != expected ? 1U : 0U;
    });
    CHECK(num_wrong == 0);
  });
}

TEST_CASE("A call that must not wait is taken or counted as refused") {
  const Topology graph = MakeRing(8);
  ForEachTeam([&](const uit::Team& team) {
    Mesh mesh{team, graph};
    auto count = mesh.AddField<std::uint64_t>();
    auto give = mesh.AddCall<std::uint64_t>([&](Node& node, std::uint64_t) { ++count[node]; }, {.buffer_bytes = 64});
    std::atomic<std::uint64_t> num_taken = 0;
    const uit::ConveyorTally tally = mesh.Finish([&](Node& node) {
      for (int i = 0; i < 10'000; ++i) num_taken += give.Try((node.Id() + 1) % 8, 1) ? 1U : 0U;
    });
    const std::uint64_t taken = SumOverRanks(num_taken.load());
    CHECK(tally.pushed == taken);
    CHECK(tally.handled == taken);
    CHECK(tally.refused == 80'000 - taken);
    CHECK(tally.refused > 0);  // nobody handles a call within a body that never waits
    CHECK(taken > 0);
    const std::vector<std::uint64_t> counts = mesh.Gather(count);
    std::uint64_t counted = 0;
    for (const std::uint64_t one : counts) counted += one;
    if (team.IsRoot()) CHECK(counted == taken);
    // What Finish returns is of its own time.
    const uit::ConveyorTally next = mesh.Finish([&](Node& node) { give((node.Id() + 1) % 8, 1); });
    CHECK(next.pushed == 8);
    CHECK(next.handled == 8);
    CHECK(next.refused == 0);
    CHECK(next.most_spilled == 0);
  });
}

TEST_CASE("Neighbours see in the next run what calls have written, even of nodes that wanted to be silent") {
  const Topology graph = MakeRing(8);
  ForEachTeam([&](const uit::Team& team) {
    Mesh mesh{team, graph, Scattered(team, graph)};
    auto value = mesh.AddPublishedField<std::uint64_t>();
    auto seen = mesh.AddField<std::uint64_t>();
    auto set = mesh.AddCall<std::uint64_t>([&](Node& node, std::uint64_t number) {
      value[node] = number;
      node.StaySilent();
    });
    mesh.Finish([&](Node& node) { set((node.Id() + 3) % 8, 100 + node.Id()); });
    const auto update = [&](Node& node) {
      seen[node] = 0;
      for (const InEdge edge : node.In()) seen[node] += value[edge];
    };
    mesh.Run(EveryUpdate{.updates = 3}, update);
    std::uint64_t num_wrong = 0;
    mesh.Visit([&](Node& node) {
      std::uint64_t expected = 0;
      for (const InEdge edge : node.In()) expected += 100 + (edge.Source() + 5) % 8;
      num_wrong += seen[node] != expected ? 1U : 0U;
    });
    CHECK(num_wrong == 0);
  });
}

TEST_CASE("Calls that cannot be made are refused") {
  const Topology graph = MakeOddGraph(60, 5);
  const uit::Team team{MpiTestWorld(), {.threads = 1}};
  const auto tells = [&](const std::string& words, const std::function<void()>& f) {
    const std::string failure = WordsThrownBy(f);
    INFO(failure);
    CHECK((failure.find(words) != std::string::npos || (!team.IsRoot() && failure.ends_with("failed"))));
  };
  Mesh mesh{team, graph};
  auto give = mesh.AddCall<std::uint64_t>([](Node&, std::uint64_t) {});
  auto fail = mesh.AddCall<std::uint64_t>([](Node&, std::uint64_t) { throw std::runtime_error("a function fails"); });
  Mesh other{team, graph};
  if (team.IsRoot()) {
    CheckThrows([&] { give(0, 1); }, "only while its mesh is in Finish");
    CheckThrows([&] { give.Try(0, 1); }, "only while its mesh is in Finish");
  }
  tells("a call is for node 60, but the mesh has only 60 nodes", [&] {
    mesh.Finish([&] {
      if (team.IsRoot()) give(60, 1);
    });
  });
  tells("only while its mesh is in Finish", [&] {
    other.Finish([&] {
      if (team.IsRoot()) give(0, 1);
    });
  });
  const std::string nested = "a run cannot begin inside another";
  tells(nested, [&] {
    mesh.Finish([&] { mesh.Finish([] {}); });
  });
  tells(nested, [&] {
    mesh.Finish([&] { other.Finish([] {}); });
  });
  auto finish = mesh.AddCall<std::uint64_t>([&](Node&, std::uint64_t) { mesh.Finish([] {}); });
  tells(nested, [&] {
    mesh.Finish([&] { finish(static_cast<NodeId>(team.Rank()), 1); });
  });
  CHECK_FALSE(WordsThrownBy([&] { mesh.Finish([&] { fail(static_cast<NodeId>(team.Rank()), 1); }); }).empty());
  // The mesh can make calls afterwards.
  CHECK(mesh.Finish([&] { give(1, 1); }).handled == team.NumProcesses());
}

TEST_CASE("Processes whose functions take arguments of another size than those of the root are told") {
  const uit::Team team{MpiTestWorld(), {.threads = 1}};
  if (team.NumProcesses() == 1) return;
  Mesh mesh{team, MakeRing(8)};
  if (team.IsRoot()) mesh.AddCall<std::uint64_t>([](Node&, std::uint64_t) {});
  else mesh.AddCall<std::uint32_t>([](Node&, std::uint32_t) {});
  const std::string failure = WordsThrownBy([&] { mesh.Finish([] {}); });
  INFO(failure);
  CHECK(CountRanks(failure.find("cannot exchange with rank") != std::string::npos) > 0);
  CHECK_FALSE(failure.empty());
}
