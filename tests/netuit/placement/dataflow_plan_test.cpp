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

/// Describes a critical cycle: each group as worker:level, then the time and the number of updates.
std::string Describe(const DataflowPlan& plan, const DataflowPlan::Cycle& cycle) {
  std::ostringstream text;
  for (const std::size_t group : cycle.groups) text << plan.Groups()[group].worker << ':' << plan.Groups()[group].level << ' ';
  text << cycle.time << " / " << cycle.num_updates;
  return text.str();
}

}  // namespace

TEST_CASE("A wavefront keeps all workers busy, and the plan has its groups, messages and time") {
  const DataflowPlan plan{MakeGrid(8, 8), GaussSeidel(), ByRows(8, 8, 2)};
  CHECK(plan.Groups().size() == 22);         // 11 diagonals cross each half
  CHECK(plan.Messages().size() == 16);       // a node each, down and up
  CHECK(plan.NumValues() == 16);
  CHECK(plan.NumBytes(8) == 16 * (32 + 8));   // each with a header
  CHECK(plan.TimePerUpdate() == Approx(32));  // of 64 nodes
  CHECK(plan.TimePerUpdate([](NodeId) { return 2.5; }) == Approx(80));
  CHECK(DataflowPlan{MakeGrid(8, 8), GaussSeidel(), ByRows(8, 8, 1)}.TimePerUpdate() == Approx(64));
  CHECK(DataflowPlan{MakeGrid(8, 8), GaussSeidel(), ByRows(8, 8, 4)}.TimePerUpdate() == Approx(16));
}

TEST_CASE("The critical cycle is that of the slower half, or that of messages which take long") {
  const DataflowPlan plan{MakeGrid(8, 8), GaussSeidel(), ByRows(8, 8, 2)};
  const auto slow_half = plan.CriticalCycle([](NodeId node) { return node < 32 ? 1 : 2; });
  CHECK(Describe(plan, slow_half) == "1:4 1:5 1:6 1:7 1:8 1:9 1:10 1:11 1:12 1:13 1:14 64 / 1");
  // A value goes down in the same update and up in the next, between two groups of 4 nodes each.
  const DataflowPlan::Cycle far = plan.CriticalCycle({}, 1000);
  REQUIRE(far.groups.size() == 2);
  const DataflowPlan::Group& upper = plan.Groups()[far.groups[0]];
  const DataflowPlan::Group& lower = plan.Groups()[far.groups[1]];
  CHECK(upper.worker == 0);
  CHECK(lower.worker == 1);
  CHECK(lower.level == upper.level + 1);
  CHECK(far.time == Approx(2008));
  CHECK(far.num_updates == 1);
}

TEST_CASE("A critical cycle goes round a ring with one late edge, unless a worker alone takes longer") {
  const Topology ring{3, {{0, 1}, {1, 2}, {2, 0}}};
  const EdgeDelays late = [](NodeId source, NodeId) { return source == 2 ? 2 : 0; };
  const DataflowPlan plan{ring, late, {{.processes = 3, .threads = 1}, {0, 1, 2}}};
  CHECK(Describe(plan, plan.CriticalCycle({}, 1.5)) == "0:0 1:1 2:2 7.5 / 2");
  CHECK(plan.TimePerUpdate({}, 1.5) == Approx(3.75));
  CHECK(Describe(plan, plan.CriticalCycle([](NodeId node) { return node == 1 ? 7 : 1; })) == "1:1 7 / 1");
  CHECK(plan.CriticalCycle([](NodeId) { return 0; }).TimePerUpdate() == 0);
  CHECK(DataflowPlan{Topology{}, {}, Placement{}}.CriticalCycle().groups.empty());
}

TEST_CASE("Networks of a plan share levels, and each has messages of its own") {
  const Topology down{3, {{0, 1}, {1, 2}}};
  const Topology up{3, {{2, 0}, {1, 0}}};
  const Placement apart{{.processes = 3, .threads = 1}, {0, 1, 2}};
  const EdgeDelays none = [](NodeId, NodeId) { return 0; };
  const DataflowPlan plan{{&down, &up}, {none, {}}, apart};
  REQUIRE(plan.Groups().size() == 3);
  CHECK(plan.Groups()[2].level == 2);
  std::ostringstream messages;
  for (const DataflowPlan::Message& message : plan.Messages())
    messages << message.network << ':' << message.group << '>' << message.to << ' ';
  CHECK(messages.str() == "0:0>1 0:1>2 1:1>0 1:2>0 ");
  CHECK(Describe(plan, plan.CriticalCycle()) == "0:0 1:1 2:2 3 / 1");
  CHECK(plan.NumBytes(8) == 4 * 40);
  CHECK(DataflowPlan{{&down, &up}, {{}, {}}, apart}.NumBytes(8) == 4 * 56);  // frames have a note
  CheckThrows([&] { DataflowPlan({&down, &up}, {none, none}, apart); }, "edges with delay 0 form a cycle");
  CheckThrows([&] { DataflowPlan({&down, &up}, {none}, apart); }, "there are 2 networks and delays for 1");
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
