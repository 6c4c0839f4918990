// Calls whose arguments are combined: sums are exact, and functions may make them, too.
#include <netuit/calls/combine.hpp>

#include <atomic>
#include <cstdint>
#include <functional>

#include <netuit/calls/calls.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>

#include "tests/netuit/calls/scattered.hpp"
#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using netuit::testing::ForEachTeam;
using netuit::testing::MakeOddGraph;
using netuit::testing::Scattered;
using uit::testing::SumOverRanks;

TEST_CASE("Arguments of calls for the same node are combined, and their sums are exact in each round") {
  const Topology graph = MakeOddGraph(60, 4);
  ForEachTeam([&](const uit::Team& team) {
    Mesh mesh{team, graph, Scattered(team, graph)};
    auto sum = mesh.AddField<std::uint64_t>();
    auto count = mesh.AddField<std::uint64_t>();
    auto give = mesh.AddCall<std::uint64_t>([&](Node& node, std::uint64_t value) {
      sum[node] += value;
      ++count[node];
    }, uit::Combine{std::plus<>{}});
    std::uint64_t num_handled = 0;
    for (std::uint64_t round = 1; round <= 3; ++round) {
      const uit::ConveyorTally tally = mesh.Finish([&](Node&) {
        for (NodeId node = 0; node < graph.NumNodes(); ++node)
          for (std::uint64_t i = 1; i <= 5; ++i) give(node, i * (node + 1));
      });
      CHECK(tally.pushed == graph.NumNodes() * graph.NumNodes() * 5);
      CHECK(tally.pushed == tally.handled + tally.combined);
      CHECK(tally.combined >= graph.NumNodes() * graph.NumNodes() * 4);
      num_handled += tally.handled;
      std::uint64_t num_wrong = 0;
      mesh.Visit([&](Node& node) { num_wrong += sum[node] != round * graph.NumNodes() * 15 * (node.Id() + 1) ? 1U : 0U; });
      CHECK(num_wrong == 0);
    }
    std::uint64_t num_counted = 0;
    for (const std::uint64_t one : mesh.Gather(count)) num_counted += one;
    if (team.IsRoot()) CHECK(num_counted == num_handled);
  });
}

TEST_CASE("Combined calls for edges reach the nodes where they end") {
  const Topology graph = MakeOddGraph(60, 4);
  ForEachTeam([&](const uit::Team& team) {
    Mesh mesh{team, graph, Scattered(team, graph)};
    auto sum = mesh.AddField<std::uint64_t>();
    auto give = mesh.AddCall<std::uint64_t>([&](Node& node, std::uint64_t value) { sum[node] += value; }, uit::Combine{std::plus<>{}});
    std::atomic<std::uint64_t> num_taken = 0;
    mesh.Finish([&](Node& node) {
      for (const OutEdge edge : node.Out()) {
        if (give.Try(edge, 1000)) ++num_taken;
        give(edge, node.Id());
      }
    });
    std::uint64_t num_wrong = 0;
    mesh.Visit([&](Node& node) {
      std::uint64_t expected = 1000 * node.In().size();
      for (const InEdge edge : node.In()) expected += edge.Source();
      num_wrong += sum[node] != expected ? 1U : 0U;
    });
    CHECK(num_wrong == 0);
    const std::uint64_t taken = SumOverRanks(num_taken.load());
    CHECK(taken == mesh.NumEdges());
  });
}

TEST_CASE("A combined call that must not wait is taken or counted as refused") {
  const Topology graph = MakeRing(8);
  ForEachTeam([&](const uit::Team& team) {
    Mesh mesh{team, graph};
    auto sum = mesh.AddField<std::uint64_t>();
    auto give = mesh.AddCall<std::uint64_t>([&](Node& node, std::uint64_t value) { sum[node] += value; },
                                            uit::Combine<std::plus<>>{.table_bytes = 64, .conveyor = {.buffer_bytes = 64}});
    std::atomic<std::uint64_t> num_taken = 0;
    const uit::ConveyorTally tally = mesh.Finish([&](Node& node) {
      for (NodeId i = 0; i < 10'000; ++i) num_taken += give.Try((node.Id() + i) % 8, 1) ? 1U : 0U;
    });
    const std::uint64_t taken = SumOverRanks(num_taken.load());
    CHECK(tally.pushed == taken);
    CHECK(tally.pushed == tally.handled + tally.combined);
    CHECK(tally.refused == 80'000 - taken);
    CHECK(tally.refused > 0);
    CHECK(tally.combined > 0);
    std::uint64_t given = 0;
    for (const std::uint64_t part : mesh.Gather(sum)) given += part;
    if (team.IsRoot()) CHECK(given == taken);
  });
}

TEST_CASE("A function may make combined calls through its handle, and Finish waits for all") {
  const Topology graph = MakeRing(16);
  ForEachTeam([&](const uit::Team& team) {
    Mesh mesh{team, graph, Scattered(team, graph)};
    auto kept = mesh.AddField<std::uint64_t>();
    // Each node keeps one of what it gets, and passes on the rest.
    auto pass = mesh.AddCall<std::uint64_t>([&](Node& node, std::uint64_t amount, auto& call) {
      ++kept[node];
      if (amount > 1) call((node.Id() + 1) % 16, amount - 1);
    }, uit::Combine<std::plus<>>{.table_bytes = 64});
    const uit::ConveyorTally tally = mesh.Finish([&] { pass(0, 100); });
    CHECK(tally.pushed == tally.handled + tally.combined);
    std::uint64_t sum = 0;
    for (const std::uint64_t one : mesh.Gather(kept)) sum += one;
    if (team.IsRoot()) CHECK(sum == 100 * team.NumProcesses());
  });
}
