// Tasks that get values from the owners of nodes.
#include <netuit/calls/fetch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>

#include "tests/netuit/calls/scattered.hpp"
#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"

using namespace netuit;
using netuit::testing::ForEachTeam;
using netuit::testing::MakeOddGraph;
using netuit::testing::Scattered;

TEST_CASE("Tasks for each node get values of other nodes, and keep their own node meanwhile") {
  const Topology graph = MakeOddGraph(300, 2);
  ForEachTeam([&](const uit::Team& team) {
    Mesh mesh{team, graph, Scattered(team, graph)};
    auto secret = mesh.AddField<std::uint64_t>([](NodeId id) { return 1000 + id; });
    auto sum = mesh.AddField<std::uint64_t>();
    auto read = AddRead(mesh, secret);
    auto product = mesh.AddFetch<std::uint32_t>([&](Node& node, std::uint32_t factor) { return secret[node] * factor; });
    const uit::ConveyorTally tally = mesh.Finish([&](Node node) -> uit::Task {
      for (const InEdge edge : node.In()) sum[node] += co_await read(edge.Source());
      for (const InEdge edge : node.In()) sum[node] += co_await product(edge.Source(), 2);
      for (const OutEdge edge : node.Out()) sum[node] += co_await read(edge);
      for (const OutEdge edge : node.Out()) sum[node] += co_await product(edge, 2);
    });
    std::uint64_t num_wrong = 0;
    mesh.Visit([&](Node& node) {
      std::uint64_t expected = 0;
      for (const InEdge edge : node.In()) expected += 3 * (1000 + edge.Source());
      for (const OutEdge edge : node.Out()) expected += 3 * (1000 + edge.Target());
      num_wrong += sum[node] != expected ? 1U : 0U;
    });
    CHECK(num_wrong == 0);
    CHECK(tally.pushed == 4 * mesh.NumEdges());
    CHECK(tally.handled == tally.pushed);
  });
}

TEST_CASE("A sum that many tasks add to gives each of them another number") {
  const Topology graph = MakeRing(40);
  ForEachTeam([&](const uit::Team& team) {
    Mesh mesh{team, graph, Scattered(team, graph)};
    auto counter = mesh.AddField<std::uint64_t>();
    auto drawn = mesh.AddField<std::uint64_t>();
    auto add = AddFetchAdd(mesh, counter);
    mesh.Finish([&](Node node) -> uit::Task { drawn[node] = co_await add(7, 1); });
    std::vector<std::uint64_t> numbers = mesh.Gather(drawn);
    std::ranges::sort(numbers);
    if (team.IsRoot()) {
      for (std::size_t i = 0; i < numbers.size(); ++i) CHECK(numbers[i] == i);
      CHECK(numbers.size() == 40);
    }
  });
}

TEST_CASE("Functions that are tasks fetch values, too, and one task of a process may do all the work") {
  const Topology graph = MakeRing(30);
  ForEachTeam([&](const uit::Team& team) {
    Mesh mesh{team, graph, Scattered(team, graph)};
    auto value = mesh.AddField<std::uint64_t>([](NodeId id) { return id; });
    auto twice = mesh.AddField<std::uint64_t>();
    auto read = AddRead(mesh, value);
    auto write = AddWrite(mesh, value);
    auto copy = mesh.AddCall<NodeId>([&](Node node, NodeId from) -> uit::Task { twice[node] = 2 * co_await read(from); });
    mesh.Finish([&]() -> uit::Task {
      if (!team.IsRoot()) co_return;
      for (NodeId id = 0; id < 30; ++id) write(id, 100 + co_await read(id));
    });
    mesh.Finish([&]() -> uit::Task {
      if (!team.IsRoot()) co_return;
      for (NodeId id = 0; id < 30; ++id) copy(id, 29 - id);
    });
    std::uint64_t num_wrong = 0;
    mesh.Visit([&](Node& node) { num_wrong += twice[node] != 2 * (129 - node.Id()) ? 1U : 0U; });
    CHECK(num_wrong == 0);
  });
}
