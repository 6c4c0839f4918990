// Delays of edges, colours and levels.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/support/error.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using uit::testing::CheckThrows;

namespace {

using Delays = std::vector<std::uint16_t>;

}  // namespace

TEST_CASE("The ends of every edge have different colours, and a grid has two") {
  for (const Topology& graph : {MakeSmallWorld(80, 6, 0.4, 3), MakeComplete(5), MakeGrid(7, 5), MakeGrid(3, 3, 3)}) {
    const std::vector<std::uint32_t> colors = ColorNodes(graph);
    for (EdgeId edge = 0; edge < graph.NumEdges(); ++edge) {
      if (graph.Source(edge) != graph.Target(edge)) CHECK(colors[graph.Source(edge)] != colors[graph.Target(edge)]);
    }
  }
  CHECK(std::ranges::max(ColorNodes(MakeGrid(7, 5))) == 1);
  CHECK(std::ranges::max(ColorNodes(MakeGrid(3, 3, 3))) == 1);
  CHECK(std::ranges::max(ColorNodes(MakeComplete(5))) == 4);
  // Two paths that meet: first fit in order of number would take three colours.
  CHECK(std::ranges::max(ColorNodes(Topology{4, {{0, 3}, {1, 2}, {2, 3}}})) == 1);
  CHECK(ColorNodes(Topology{2, {{0, 0}, {0, 1}}}) == std::vector<std::uint32_t>{0, 1});  // a loop does not count
}

TEST_CASE("Delays are by edge, and nothing if all are one") {
  const Topology path{3, {{0, 1}, {1, 2}, {2, 1}}};
  CHECK(EdgeDelays{}.Of(path).empty());
  CHECK(EdgeDelays{[](NodeId, NodeId) { return 1; }}.Of(path).empty());
  CHECK(EdgeDelays{[](NodeId source, NodeId target) { return 10 * source + target; }}.Of(path) == Delays{1, 12, 21});
  CHECK(GaussSeidel().Of(path) == Delays{0, 0, 1});
  CHECK(GaussSeidelByColor().Of(path) == Delays{0, 1, 0});
}

TEST_CASE("A node's level is its longest path of edges without delay, over all networks") {
  const Topology one{5, {{0, 1}, {1, 2}, {0, 2}, {3, 4}}};
  const Topology other{5, {{2, 3}, {4, 0}}};
  CHECK(FindLevels({&one, &other}, {{0, 0, 0, 0}, {}}) == std::vector<std::uint32_t>{0, 1, 2, 0, 1});
  CHECK(FindLevels({&one, &other}, {{0, 0, 0, 0}, {0, 1}}) == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  CHECK(FindLevels({&one, &other}, {{}, {}}).empty());
  CHECK(FindLevels({&one, &other}, {{2, 1, 1, 1}, {1, 3}}).empty());
  CheckThrows([&] { FindLevels({&one, &other}, {{0, 0, 0, 0}, {0, 0}}); },
              "edges with delay 0 form a cycle, so none of its nodes can be updated first: 0 -> 2 -> 3 -> 4 -> 0");
  CheckThrows([] { const Topology loop{1, {{0, 0}}}; FindLevels({&loop}, {{0}}); }, "updated first: 0 -> 0");
}

TEST_CASE("A long cycle is named in part") {
  std::vector<Edge> edges;
  for (NodeId node = 0; node < 20; ++node) edges.push_back({node, (node + 1) % 20});
  const Topology ring{20, edges};
  CheckThrows([&] { FindLevels({&ring}, {Delays(20, 0)}); },
              "updated first: 0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> … (12 more) -> 0");
}
