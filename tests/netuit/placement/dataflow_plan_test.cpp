// What runs by Dataflow will do, without running.
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/dataflow_plan.hpp>
#include <netuit/placement/placement.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using uit::testing::CheckThrows;

namespace {

/// Deals out the rows of a grid, in blocks or in turn.
Placement ByRows(NodeId height, NodeId width, std::uint32_t num_workers, bool is_cyclic = false) {
  std::vector<std::uint32_t> workers;
  for (NodeId node = 0; node < height * width; ++node) {
    const NodeId row = node / width;
    workers.push_back(is_cyclic ? row % num_workers : row * num_workers / height);
  }
  return {{.processes = num_workers, .threads = 1}, workers};
}

}  // namespace

TEST_CASE("A wavefront keeps all workers busy, and the plan has its groups, messages and time") {
  const DataflowPlan plan{MakeGrid(8, 8), GaussSeidel(), ByRows(8, 8, 2)};
  CHECK(plan.Groups().size() == 22);         // 11 diagonals cross each half
  CHECK(plan.Messages().size() == 16);       // a node each, down and up
  CHECK(plan.NumValues() == 16);
  CHECK(plan.TimePerUpdate() == Approx(32));  // of 64 nodes
  CHECK(plan.TimePerUpdate([](NodeId) { return 2.5; }) == Approx(80));
  CHECK(DataflowPlan{MakeGrid(8, 8), GaussSeidel(), ByRows(8, 8, 1)}.TimePerUpdate() == Approx(64));
  CHECK(DataflowPlan{MakeGrid(8, 8), GaussSeidel(), ByRows(8, 8, 4)}.TimePerUpdate() < 18);
}

TEST_CASE("Where each update needs the one before as a whole, no second worker helps") {
  const Topology pair{2, {{0, 1}, {1, 0}}};
  const Placement apart{{.processes = 2, .threads = 1}, {0, 1}};
  CHECK(DataflowPlan{pair, GaussSeidel(), apart}.TimePerUpdate() == Approx(2));
  CHECK(DataflowPlan{pair, {}, apart}.TimePerUpdate() == Approx(1));
  CHECK(DataflowPlan{pair, {}, apart}.TimePerUpdate({}, 3) == Approx(4));  // a message takes longer than an update
  const EdgeDelays two = [](NodeId, NodeId) { return 2; };
  CHECK(DataflowPlan{pair, two, apart}.TimePerUpdate({}, 3) == Approx(2));  // of which two are under way
}

TEST_CASE("Colours need two messages in each direction where wavefronts need one for each node") {
  const DataflowPlan plan{MakeGrid(8, 8), GaussSeidelByColor(), ByRows(8, 8, 2)};
  CHECK(plan.Groups().size() == 4);
  CHECK(plan.Messages().size() == 4);
  CHECK(plan.NumValues() == 16);
  CHECK(plan.TimePerUpdate() == Approx(32));
}

TEST_CASE("A plan is drawn as a box for each group and an arrow for each need") {
  const Topology path{3, {{0, 1}, {1, 2}, {2, 0}}};
  const DataflowPlan plan{path, GaussSeidel(), {{.processes = 2, .threads = 1}, {0, 1, 0}}};
  std::ostringstream text;
  plan.WriteDot(text);
  CHECK(text.str() ==
        "digraph plan {\n"
        "  rankdir=LR;\n"
        "  node [shape=box];\n"
        "  g0 [label=\"worker 0\\nlevel 0: 1 node\"];\n"
        "  g1 [label=\"worker 0\\nlevel 2: 1 node\"];\n"
        "  g0 -> g1 [weight=10];\n"
        "  g2 [label=\"worker 1\\nlevel 1: 1 node\"];\n"
        "  g2 -> g1;\n"
        "  g0 -> g2;\n"
        "}\n");
}

TEST_CASE("A plan is refused for a placement of other nodes, and for a cycle without delay") {
  CheckThrows([] { DataflowPlan(MakeGrid(2, 2), {}, ByRows(3, 3, 1)); }, "the placement is of 9 nodes, the graph has 4");
  const EdgeDelays none = [](NodeId, NodeId) { return 0; };
  CheckThrows([&] { DataflowPlan(MakeGrid(2, 2), none, ByRows(2, 2, 1)); }, "edges with delay 0 form a cycle");
}
