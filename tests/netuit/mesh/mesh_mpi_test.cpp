#include <netuit/mesh/mesh.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <netuit/netuit.hpp>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using netuit::testing::MakeOddGraph;
using uit::testing::CountRanks;
using uit::testing::MpiTestWorld;

namespace {

struct Value : Multicast<std::uint64_t> {};
struct Packet : Unicast<std::uint64_t> {};

Workers WorkersWith(std::size_t threads) { return {.processes = MpiTestWorld().Size(), .threads = threads}; }

/// What f throws, in words.
template <typename F>
std::string WordsOf(F&& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("Nodes of a process are numbered without gaps, by thread and then by id, and keep their labels") {
  Labels labels;
  for (int node = 0; node < 12; ++node) labels.Add("(" + std::to_string(node / 4) + ", " + std::to_string(node % 4) + ")");
  std::vector<Edge> edges;
  for (NodeId node = 0; node + 1 < 12; ++node) edges.push_back({node, node + 1});
  const Topology topology{12, edges, std::move(labels)};
  const Placement placement = PlaceRoundRobin(topology, WorkersWith(2));
  const uit::World world = MpiTestWorld();
  const TaggedMesh<Value> mesh{topology, placement, world};
  CHECK(mesh.NumNodes() == 12);
  CHECK(mesh.NumEdges() == 11);
  CHECK(mesh.NumThreads() == 2);
  std::vector<NodeId> expected;
  for (std::uint32_t thread = 0; thread < 2; ++thread) {
    const auto nodes = placement.NodesAt({static_cast<std::uint32_t>(world.Rank()), thread});
    expected.insert(expected.end(), nodes.begin(), nodes.end());
  }
  REQUIRE(mesh.NumLocalNodes() == expected.size());
  for (std::size_t local = 0; local < expected.size(); ++local) {
    CHECK(mesh.Id(local) == expected[local]);
    CHECK(mesh.Label(local) == topology.Label(expected[local]));
  }
}

TEST_CASE("A gather brings a value per node to rank 0, by id") {
  const Topology topology = MakeOddGraph(40, 2);
  const TaggedMesh<Value> mesh{topology, PlaceRandom(topology, WorkersWith(2), 2), MpiTestWorld()};
  std::vector<double> values;
  for (std::size_t local = 0; local < mesh.NumLocalNodes(); ++local) values.push_back(mesh.Id(local) * 0.5);
  const std::vector<double> all = mesh.Gather(std::span<const double>(values));
  if (!MpiTestWorld().IsRoot()) {
    CHECK(all.empty());
    return;
  }
  REQUIRE(all.size() == 40);
  for (std::size_t node = 0; node < 40; ++node) CHECK(all[node] == static_cast<double>(node) * 0.5);
}

TEST_CASE("Until a message arrives an input reads what it was initialised to, and inputs stand in the "
          "topology's order") {
  const Topology topology = MakeOddGraph(60, 3);
  const Placement placement = PlaceRandom(topology, WorkersWith(2), 3);
  TaggedMesh<Value, Packet> mesh{topology, placement, MpiTestWorld()};
  mesh.Initialize<Value>([](NodeId node) { return 1000 + node; });
  mesh.Initialize<Packet>([](NodeId node) { return 2000 + node; });
  const auto mode = GENERATE(AsyncMode::every_update, AsyncMode::no_barrier);
  std::vector<std::size_t> num_faults(mesh.NumLocalNodes());
  std::vector<std::size_t> num_calls(mesh.NumLocalNodes());
  Run(mesh, {.mode = mode, .num_updates = 1}, [&](auto& node) {
    std::size_t& faults = num_faults[node.Index()];
    ++num_calls[node.Index()];
    const auto in_edges = topology.InEdges(node.Id());
    const auto targets = topology.OutNeighbors(node.Id());
    const auto values = node.template In<Value>();
    const auto outlets = node.template In<Packet>();
    faults += mesh.Id(node.Index()) != node.Id();
    faults += node.NumInputs() != in_edges.size() || node.NumOutputs() != targets.size();
    faults += values.size() != in_edges.size() || outlets.size() != in_edges.size();
    faults += node.template Out<Packet>().size() != targets.size();
    std::size_t input = 0;
    for (const std::uint64_t value : values) faults += value != 1000 + topology.Source(in_edges[input++]);
    for (input = 0; input < outlets.size(); ++input) {
      faults += outlets[input].TryStep() != 0;
      faults += outlets[input].Get() != 2000 + topology.Source(in_edges[input]);
      faults += values[input] != 1000 + topology.Source(in_edges[input]);
      faults += node.Sources()[input] != topology.Source(in_edges[input]);
    }
    faults += !std::ranges::equal(node.Targets(), targets);
    // Input i and output i face the same neighbour, as far as edges are reciprocal.
    for (std::size_t k = 0; k < targets.size() && topology.IsReciprocal(node.Id(), k); ++k)
      faults += node.Sources()[k] != node.Targets()[k];
  });
  CHECK(std::accumulate(num_faults.begin(), num_faults.end(), std::size_t{0}) == 0);
  CHECK(std::ranges::count(num_calls, 1) == static_cast<std::ptrdiff_t>(num_calls.size()));
}

TEST_CASE("A message put to output k of a node arrives at the input that faces it") {
  const Topology topology = MakeOddGraph(60, 4);
  TaggedMesh<Packet> mesh{topology, PlaceRandom(topology, WorkersWith(2), 4), MpiTestWorld()};
  const auto mode = GENERATE(AsyncMode::every_update, AsyncMode::no_barrier, AsyncMode::rolling);
  std::vector<std::size_t> num_faults(mesh.NumLocalNodes());
  std::vector<std::size_t> num_messages(mesh.NumLocalNodes());
  for (const AsyncMode mode_of_run : {mode, AsyncMode::no_communication, mode}) {
    Run(mesh, {.mode = mode_of_run, .num_updates = 3}, [&](auto& node) {
      EdgeId edge = topology.FirstOutEdge(node.Id());
      for (auto& inlet : node.template Out<Packet>()) inlet.TryPut(edge++);
      std::size_t input = 0;
      for (auto& outlet : node.template In<Packet>()) {
        while (outlet.TryStep() != 0) {
          ++num_messages[node.Index()];
          num_faults[node.Index()] += outlet.Get() != topology.InEdges(node.Id())[input];
        }
        ++input;
      }
    });
  }
  CHECK(std::accumulate(num_faults.begin(), num_faults.end(), std::size_t{0}) == 0);
  CHECK(std::accumulate(num_messages.begin(), num_messages.end(), std::size_t{0}) > 0);
}

TEST_CASE("A placement that does not fit is refused on every process with the same message") {
  const uit::World world = MpiTestWorld();
  const Topology topology = MakeTorus(4, 4);
  const auto make = [&](const Placement& placement) {
    return WordsOf([&] { const TaggedMesh<Value> mesh{topology, placement, world}; });
  };
  CHECK(make(PlaceContiguous(MakeTorus(4, 5), WorkersWith(1))) == "the placement is of 20 nodes, the graph has 16");
  const std::size_t too_many = world.Size() + 1;
  CHECK(make(PlaceContiguous(topology, {.processes = too_many, .threads = 2})) ==
        "the placement is for " + std::to_string(too_many) + " processes, and there are " + std::to_string(world.Size()));
  CHECK(make(PlaceContiguous(topology, WorkersWith(2))).empty());
}

TEST_CASE("Options that cannot be are refused on every process, whether it has edges or not") {
  const uit::World world = MpiTestWorld();
  const Topology topology{16, {{0, 1}}};
  const Placement placement = PlaceContiguous(topology, WorkersWith(1));
  for (const MeshOptions& options : {MeshOptions{.depth = 0}, MeshOptions{.depth = std::size_t{1} << 40},
                                    MeshOptions{.num_slots = 0}, MeshOptions{.num_slots = 1'000'000}})
    CHECK_THROWS_AS((TaggedMesh<Packet>{topology, placement, world, options}), uit::InputError);
  TaggedMesh<Packet> mesh{topology, placement, world};
  const auto run = [&](const RunOptions& options) { Run(mesh, options, [](auto&) {}); };
  CHECK_THROWS_AS(run({.mode = static_cast<AsyncMode>(5), .num_updates = 1}), uit::InputError);
  CHECK_THROWS_AS(run({.duration = std::chrono::seconds(-1)}), uit::InputError);
  CHECK_THROWS_AS(run({.num_updates = 1, .peer_timeout = std::chrono::seconds(0)}), uit::InputError);
  CHECK_THROWS_AS(run({.mode = AsyncMode::rolling, .num_updates = 1, .rolling_span = std::chrono::seconds(0)}), uit::InputError);
  CHECK_THROWS_AS(run({.mode = AsyncMode::fixed, .num_updates = 1, .fixed_period = std::chrono::seconds(0)}), uit::InputError);
  CHECK_NOTHROW(run({.num_updates = 1}));
  CHECK(mesh.Close());
  CHECK(mesh.Close());
  CHECK_THROWS_AS(run({.num_updates = 1}), uit::Error);
}

TEST_CASE("If rank 0 cannot do its part, all throw, and rank 0 alone says why") {
  const uit::World world = MpiTestWorld();
  const auto fail = [&](auto error) { return OnRoot(world, [&]() -> int { throw error; }); };
  const std::string words = WordsOf([&] { fail(uit::InputError("graph:7: no such thing")); });
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
  const uit::World world = MpiTestWorld();
  const Topology topology = MakeTorus(4, 4);
  const Placement placement = PlaceRoundRobin(topology, WorkersWith(2));
  TaggedMesh<Value> lasting{topology, placement, world};
  for (int i = 0; i < 20; ++i) {
    TaggedMesh<Packet, Value> passing{topology, placement, world};
    const auto update = [&](auto& node) { node.template Out<Value>().TryPut(node.Id()); };
    Run(passing, {.mode = i % 2 == 0 ? AsyncMode::every_update : AsyncMode::no_barrier, .num_updates = 2}, update);
    Run(lasting, {.num_updates = 2}, update);
    CHECK(passing.Close());
  }
  CHECK(lasting.Close());
}

TEST_CASE("A mesh of isolated nodes runs") {
  TaggedMesh<Value, Packet> mesh{MakeEmpty(9), PlaceContiguous(MakeEmpty(9), WorkersWith(2)), MpiTestWorld()};
  for (const int mode : {0, 1, 2, 3, 4}) {
    const RunReport report = Run(mesh, {.mode = static_cast<AsyncMode>(mode), .num_updates = 5, .fixed_period = std::chrono::milliseconds(1)},
                                 [](auto& node) { node.template Out<Value>().TryPut(1); });
    CHECK(report.stopped_by == StopReason::count);
    CHECK(report.Tally() == uit::Tally{});
    if (MpiTestWorld().IsRoot()) CHECK(report.workers.size() == 2 * MpiTestWorld().Size());
    for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == 5);
  }
}
