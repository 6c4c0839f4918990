#include <netuit/mesh/mesh.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <netuit/app/exit_code.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/on_root.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/link/world.hpp>
#include <uit/support/error.hpp>
#include <uit/tally.hpp>
#include <uit/team/team.hpp>

#include "tests/netuit/run/chaos.hpp"
#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using netuit::testing::MakeOddGraph;
using netuit::testing::TeamWith;
using netuit::testing::WorkersWith;
using uit::testing::CountRanks;
using uit::testing::MpiTestWorld;
using uit::testing::WordsThrownBy;

namespace {

/// The nodes of this process.
std::size_t SumOf(Mesh& mesh, const Field<std::size_t>& field) {
  std::size_t sum = 0;
  mesh.Visit([&](Node& node) { sum += field[node]; });
  return sum;
}

/// Returns the numbers of nodes that METIS gives to two threads of this process, ascending.
std::vector<std::size_t> SortedNodeCounts(const std::vector<NamedNetwork>& networks) {
  const uit::Team alone{uit::World{}, {.threads = 2}};
  Mesh mesh{alone, networks};
  const RunReport report = mesh.Run(EveryUpdate{.updates = 1}, [](Node&) {});
  std::vector<std::size_t> nodes;
  for (const WorkerReport& worker : report.workers) nodes.push_back(worker.num_nodes);
  std::ranges::sort(nodes);
  return nodes;
}

}  // namespace

TEST_CASE("Nodes of a process are numbered without gaps, by thread and then by id, and keep their labels") {
  Labels labels;
  for (int node = 0; node < 12; ++node) labels.Add("(" + std::to_string(node / 4) + ", " + std::to_string(node % 4) + ")");
  std::vector<Edge> edges;
  for (NodeId node = 0; node + 1 < 12; ++node) edges.push_back({node, node + 1});
  const Topology topology{12, edges, std::move(labels)};
  const Placement placement = PlaceRoundRobin(topology, WorkersWith(2));
  Mesh mesh{TeamWith(2), topology, {.placement = placement}};
  CHECK(mesh.NumNodes() == 12);
  CHECK(mesh.NumEdges() == 11);
  CHECK(mesh.NumThreads() == 2);
  std::vector<NodeId> expected;
  for (std::uint32_t thread = 0; thread < 2; ++thread) {
    const auto nodes = placement.NodesAt({static_cast<std::uint32_t>(MpiTestWorld().Rank()), thread});
    expected.insert(expected.end(), nodes.begin(), nodes.end());
  }
  REQUIRE(mesh.NumLocalNodes() == expected.size());
  std::size_t local = 0;
  mesh.Visit([&](Node& node) {
    CHECK(node.Index() == local);
    CHECK(node.Id() == expected[local]);
    CHECK(node.Label() == topology.Label(expected[local]));
    CHECK(mesh.Id(local) == node.Id());
    CHECK(mesh.Label(local) == node.Label());
    ++local;
  });
  CHECK(local == expected.size());
}

TEST_CASE("A gather brings a value per node to rank 0, by id") {
  const Topology topology = MakeOddGraph(40, 2);
  Mesh mesh{TeamWith(2), topology, {.placement = PlaceRandom(topology, WorkersWith(2), 2)}};
  const auto values = mesh.AddField<double>([](NodeId id) { return id * 0.5; });
  mesh.Visit([&](Node& node) { values[node] += 100; });
  const std::vector<double> all = mesh.Gather(values);
  if (!MpiTestWorld().IsRoot()) {
    CHECK(all.empty());
    return;
  }
  REQUIRE(all.size() == 40);
  for (std::size_t node = 0; node < 40; ++node) CHECK(all[node] == 100 + static_cast<double>(node) * 0.5);
}

TEST_CASE("Until a message arrives an edge shows what it was initialised to, and edges stand in the topology's order") {
  const Topology topology = MakeOddGraph(60, 3);
  Mesh mesh{TeamWith(2), topology, {.placement = PlaceRandom(topology, WorkersWith(2), 3)}};
  const auto value = mesh.AddPublishedField<std::uint64_t>([](NodeId node) { return 1000 + node; });
  const auto packet = mesh.AddChannels<std::uint64_t>({}, [](NodeId node) { return 2000 + node; });
  const auto num_faults = mesh.AddField<std::size_t>();
  const auto num_calls = mesh.AddField<std::size_t>();
  const auto mode = GENERATE(AsyncMode::every_update, AsyncMode::no_barrier);
  mesh.Run(ScheduleOf(mode, {.updates = 1}), [&](Node& node) {
    std::size_t& faults = num_faults[node];
    ++num_calls[node];
    const auto in = node.In();
    const auto out = node.Out();
    const auto in_edges = topology.InEdges(node.Id());
    const auto targets = topology.OutNeighbors(node.Id());
    faults += mesh.Id(node.Index()) != node.Id();
    faults += in.size() != in_edges.size() || out.size() != targets.size();
    std::size_t input = 0;
    for (const auto edge : in) {
      const NodeId source = topology.Source(in_edges[input]);
      faults += edge.Source() != source || edge.Id() != in_edges[input] || in[input].Id() != edge.Id();
      faults += value[edge] != 1000 + source;
      faults += packet[edge].TryStep() || packet[edge].Get() != 2000 + source;
      ++input;
    }
    std::size_t output = 0;
    for (const auto edge : out) {
      faults += edge.Target() != targets[output] || edge.Id() != topology.FirstOutEdge(node.Id()) + output;
      faults += out[output++].Id() != edge.Id();
    }
    // If all edges are reciprocal, input i and output i have the same neighbour.
    for (std::size_t k = 0; k < targets.size() && topology.IsReciprocal(node.Id(), k); ++k)
      faults += in[k].Source() != out[k].Target();
  });
  CHECK(SumOf(mesh, num_faults) == 0);
  mesh.Visit([&](Node& node) { CHECK(num_calls[node] == 1); });
}

TEST_CASE("The weights of nodes count for the placement, also of several networks") {
  using Counts = std::vector<std::size_t>;
  const auto nodes_by_worker = [](const Topology& near, const Topology& far) {
    return SortedNodeCounts({{"near", near}, {"far", far, {.period = 2}}});
  };
  const Topology plain = MakeRing(8);
  const Topology heavy = plain.WithNodeWeights({7, 1, 1, 1, 1, 1, 1, 1});
  CHECK(nodes_by_worker(plain, plain) == Counts{4, 4});
  CHECK(nodes_by_worker(heavy, plain) == Counts{1, 7});
  CHECK(nodes_by_worker(plain, heavy) == Counts{1, 7});
  CHECK(nodes_by_worker(heavy, plain.WithNodeWeights({1, 1, 1, 1, 7, 1, 1, 1})) == Counts{4, 4});
}

TEST_CASE("A node that a network lacks weighs nothing there, or 1 if no network with weights has it") {
  const auto path = [](NodeId first, NodeId last, std::vector<double> weights) {
    std::vector<Edge> edges;
    Labels labels;
    for (NodeId node = first; node < last; ++node) {
      labels.Add("n" + std::to_string(node));
      if (node > first) edges.push_back({node - first - 1, node - first}), edges.push_back({node - first, node - first - 1});
    }
    return Topology{last - first, std::move(edges), std::move(labels), std::move(weights)};
  };
  using Counts = std::vector<std::size_t>;
  // Nodes 0 to 7 weigh 0.5 in one network and nothing in the other. Nodes 8 to 13, which only "all" has, weigh 1.
  const NamedNetwork low{"low", path(0, 4, {0.5, 0.5, 0.5, 0.5})};
  const NamedNetwork high{"high", path(4, 8, {0.5, 0.5, 0.5, 0.5})};
  CHECK(SortedNodeCounts({low, high, {"all", path(0, 8, {})}}) == Counts{4, 4});
  CHECK(SortedNodeCounts({low, high, {"all", path(0, 14, {})}}) == Counts{5, 9});
}

TEST_CASE("In<k> has the edges of In if every node of the worker has k, and otherwise throws") {
  const uit::Team alone{uit::World{}, {.threads = 2}};
  const Topology even = MakeTorus(4, 4);
  std::vector<Edge> edges{{0, 7}, {0, 15}};  // the last node of each worker has one more
  for (NodeId node = 0; node < 16; ++node) edges.push_back({node, (node + 1) % 16});
  Mesh mesh{alone, std::vector<NamedNetwork>{{"even", even}, {"uneven", Topology{16, edges}}},
            {.placement = PlaceContiguous(even, {.processes = 1, .threads = 2})}};
  const Network uneven = mesh.GetNetwork("uneven");
  mesh.Visit([&](Node& node) {
    const std::string last = std::to_string(node.Worker() == 0 ? 7 : 15);
    const auto all = node.In();
    const auto four = node.In<4>();
    REQUIRE(four.size() == all.size());
    for (std::size_t i = 0; i < 4; ++i) CHECK(four[i].Index() == all[i].Index());
    CHECK(WordsThrownBy([&] { node.In<3>(); }).ends_with(" has 4"));
    CHECK(WordsThrownBy([&] { node.In<1>(uneven); }) ==
          "In<1> needs 1 in-edges at every node, but node " + last + " has 2");
  });
  const RunReport report = mesh.Run(Free{.updates = 2}, [&](Node& node) { static_cast<void>(node.In<1>(uneven)); });
  CHECK(report.stopped_by == StopReason::thrown);
  CHECK(report.message.find("threw: In<1> needs 1 in-edges at every node, but node ") != std::string::npos);
}

TEST_CASE("A message put to output k of a node arrives at the input that faces it") {
  const Topology topology = MakeOddGraph(60, 4);
  Mesh mesh{TeamWith(2), topology, {.placement = PlaceRandom(topology, WorkersWith(2), 4)}};
  const auto packet = mesh.AddChannels<std::uint64_t>();
  const auto num_faults = mesh.AddField<std::size_t>();
  const auto num_messages = mesh.AddField<std::size_t>();
  const auto mode = GENERATE(AsyncMode::every_update, AsyncMode::no_barrier, AsyncMode::rolling);
  for (const AsyncMode mode_of_run : {mode, AsyncMode::no_communication, mode}) {
    mesh.Run(ScheduleOf(mode_of_run, {.updates = 3}), [&](Node& node) {
      EdgeId number = topology.FirstOutEdge(node.Id());
      for (const auto edge : node.Out()) packet[edge].TryPut(number++);
      std::size_t input = 0;
      for (const auto edge : node.In()) {
        while (packet[edge].TryStep()) {
          ++num_messages[node];
          num_faults[node] += packet[edge].Get() != topology.InEdges(node.Id())[input];
        }
        ++input;
      }
    });
  }
  CHECK(SumOf(mesh, num_faults) == 0);
  CHECK(SumOf(mesh, num_messages) > 0);
}

TEST_CASE("A placement that does not fit is refused on every process with the same message") {
  const std::size_t num_processes = MpiTestWorld().Size();
  const Topology topology = MakeTorus(4, 4);
  const auto make = [&](const Placement& placement) {
    return WordsThrownBy([&] { const Mesh mesh{TeamWith(2), topology, {.placement = placement}}; });
  };
  CHECK(make(PlaceContiguous(MakeTorus(4, 5), WorkersWith(2))) == "the placement is of 20 nodes, the graph has 16");
  CHECK(make(PlaceContiguous(topology, {.processes = num_processes + 1, .threads = 2})) ==
        "the placement is for " + std::to_string(num_processes + 1) + " processes, and there are " +
            std::to_string(num_processes));
  CHECK(make(PlaceContiguous(topology, WorkersWith(2))).empty());
  CHECK(make(PlaceContiguous(topology, WorkersWith(3))) ==
        "the placement is for 3 threads of each process, and the team has 2");
}

TEST_CASE("Impossible options are refused on every process, with or without edges") {
  const Topology topology{16, {{0, 1}}};
  const Placement placement = PlaceContiguous(topology, WorkersWith(1));
  for (const auto& [depth, num_slots] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 16}, {std::size_t{1} << 40, 16}, {2, 0}, {2, 1'000'000}})
    CHECK_THROWS_AS((Mesh{TeamWith(1), topology, {.placement = placement, .depth = depth, .num_slots = num_slots}}),
                    uit::InputError);
  CHECK_THROWS_AS(TeamWith(0), uit::InputError);
  Mesh mesh{TeamWith(1), topology, {.placement = placement}};
  mesh.AddChannels<std::uint64_t>();
  const auto run = [&](const auto& schedule, const RunOptions& options = {}) { mesh.Run(schedule, [](Node&) {}, options); };
  const std::chrono::seconds none{0};
  CHECK_THROWS_AS(ScheduleOf(static_cast<AsyncMode>(6), {.updates = 1}), uit::InputError);
  CHECK_THROWS_AS(run(Free{.duration = std::chrono::seconds(-1)}), uit::InputError);
  CHECK_THROWS_AS(run(Free{.updates = 1, .clock_every = 0}), uit::InputError);
  CHECK_THROWS_AS(run(Free{.updates = 1}, {.peer_timeout = none}), uit::InputError);
  CHECK_THROWS_AS(run(Rolling{.span = none, .updates = 1}), uit::InputError);
  CHECK_THROWS_AS(run(Fixed{.period = none, .updates = 1}), uit::InputError);
  CHECK_NOTHROW(run(Free{.updates = 1}));
  CHECK(mesh.Close());
  CHECK(mesh.Close());
  CHECK_THROWS_AS(run(Free{.updates = 1}), uit::Error);
}

TEST_CASE("If rank 0 cannot do its part, all throw, and rank 0 alone says why") {
  const uit::World world = MpiTestWorld();
  const auto fail = [&](auto error) { return OnRoot(world, [&]() -> int { throw error; }); };
  const std::string words = WordsThrownBy([&] { fail(uit::InputError("graph:7: no such thing")); });
  CHECK(words == (world.IsRoot() ? "graph:7: no such thing" : "rank 0 failed"));
  const auto code = [&](auto error) {
    try {
      fail(error);
    } catch (...) {
      return ExitCodeOf(std::current_exception());
    }
    return 0;
  };
  CHECK(code(uit::InputError("bad input")) == 2);
  CHECK(code(uit::OutputError("disk full")) == 5);
  CHECK(code(std::runtime_error("anything else")) == 1);
  CHECK(OnRoot(world, [] { return 7; }) == (world.IsRoot() ? 7 : 0));
  CHECK(CountRanks(true) == world.Size());
}

TEST_CASE("Meshes are created and destroyed beside one another") {
  const Topology topology = MakeTorus(4, 4);
  const Placement placement = PlaceRoundRobin(topology, WorkersWith(2));
  Mesh lasting{TeamWith(2), topology, {.placement = placement}};
  const auto value = lasting.AddPublishedField<std::uint64_t>();
  for (std::uint64_t i = 1; i <= 20; ++i) {
    Mesh passing{TeamWith(2), topology, {.placement = placement}};
    const auto packet = passing.AddChannels<std::uint64_t>();
    const auto other = passing.AddPublishedField<std::uint64_t>();
    passing.Run(ScheduleOf(i % 2 == 0 ? AsyncMode::every_update : AsyncMode::no_barrier, {.updates = 2}), [&](Node& node) {
      for (const auto edge : node.Out()) packet[edge].TryPut(i);
      other[node] = i;
    });
    lasting.Run(EveryUpdate{.updates = 2}, [&](Node& node) { value[node] = i; });
    lasting.Visit([&](Node& node) { for (const auto edge : node.In()) CHECK(value[edge] == i); });
    passing.Visit([&](Node& node) { for (const auto edge : node.In()) CHECK(other[edge] == i); });
    CHECK(passing.Close());
  }
  CHECK(lasting.Close());
}

TEST_CASE("A mesh of isolated nodes runs") {
  Mesh mesh{TeamWith(2), MakeEmpty(9), {.placement = PlaceContiguous(MakeEmpty(9), WorkersWith(2))}};
  const auto value = mesh.AddPublishedField<std::uint64_t>();
  mesh.AddChannels<std::uint64_t>();
  for (const std::uint32_t mode : {0U, 1U, 2U, 3U, 4U}) {
    const RunPlan plan = ScheduleOf(static_cast<AsyncMode>(mode), {.updates = 5, .period = std::chrono::milliseconds(1)});
    const RunReport report = mesh.Run(plan, [&](Node& node) { value[node] = 1; });
    CHECK(report.stopped_by == StopReason::count);
    CHECK(report.Tally() == uit::Tally{});
    if (MpiTestWorld().IsRoot()) CHECK(report.workers.size() == 2 * MpiTestWorld().Size());
    for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == 5);
  }
}
