#include <netuit/mesh/graph_in_parts.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <netuit/file/csr_file.hpp>
#include <netuit/graph/csr_rows.hpp>
#include <netuit/graph/kronecker.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/graph/uniform.hpp>
#include <netuit/mesh/exchange_items.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/on_every_rank.hpp>
#include <netuit/placement/blocks.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#include "tests/netuit/run/odd_graph.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/shared_folder.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using netuit::testing::Folder;
using netuit::testing::MakeOddGraph;
using netuit::testing::Mix;
using uit::testing::CheckThrows;
using uit::testing::MpiTestWorld;

namespace {

uit::Team TeamWith(std::uint32_t threads) { return uit::Team{MpiTestWorld(), {.threads = threads}}; }

/// With 1, 2 and 4 ranks: layouts 1x1, 1x2, 1x3, 2x1, 2x2, 2x3, 4x1 and 4x2.
std::uint32_t MostThreads() { return MpiTestWorld().Size() < 4 ? 3 : 2; }

/// Returns the first node of each worker, and at last the number of nodes. Collective.
std::vector<NodeId> FirstNodes(const Mesh& mesh) {
  std::vector<NodeId> mine;
  for (const auto& partition : mesh.Partitions()) mine.push_back(partition->graph.nodes.front());
  const auto gathered = MpiTestWorld().AllGather(std::as_bytes(std::span(mine)));
  std::vector<NodeId> first;
  for (const uit::Bytes& theirs : gathered) {
    uit::ByteReader reader{theirs};
    for (NodeId node = 0; reader.TryRead(node);) first.push_back(node);
  }
  first.push_back(mesh.NumNodes());
  return first;
}

/// Returns the placement of a mesh whose workers have blocks of nodes. Collective.
Placement PlacementOf(const Mesh& mesh) {
  const Blocks blocks({.processes = MpiTestWorld().Size(), .threads = mesh.NumThreads()}, FirstNodes(mesh));
  std::vector<std::uint32_t> worker_of;
  for (NodeId node = 0; node < mesh.NumNodes(); ++node) worker_of.push_back(blocks.WorkerOf(node));
  return {blocks.Shape(), std::move(worker_of)};
}

/// A run by mode 0 whose result depends on the weights of edges and the order of a node's outputs and inputs.
std::uint64_t HashOfRun(Mesh& mesh) {
  const auto state = mesh.AddPublishedField<std::uint64_t>([](NodeId id) { return Mix(id, 1); });
  const auto messages = mesh.AddChannels<std::uint64_t>();
  const auto weight = mesh.GetEdgeWeights();
  const RunReport report = mesh.Run(EveryUpdate{.updates = 20}, [&](Node& node) {
    std::uint64_t hash = Mix(state[node], node.Update());
    for (const auto edge : node.In()) {
      hash = Mix(hash, state[edge] + std::bit_cast<std::uint64_t>(weight[edge]));
      if (messages[edge].TryStep()) hash = Mix(hash, messages[edge].Get());
    }
    std::uint64_t output = 0;
    for (const auto edge : node.Out()) messages[edge].TryPut(Mix(hash, ++output));
    state[node] = hash;
  });
  CHECK(report.ExitCode() == 0);
  std::uint64_t hash = 0;
  for (const std::uint64_t value : mesh.Gather(state)) hash = Mix(hash, value);
  return hash;
}

void CheckSamePart(const WorkerGraph& part, const WorkerGraph& expected) {
  CHECK(part.worker == expected.worker);
  CHECK(part.nodes == expected.nodes);
  CHECK(part.first_out == expected.first_out);
  CHECK(part.targets == expected.targets);
  CHECK(part.target_workers == expected.target_workers);
  CHECK(part.out_edges == expected.out_edges);
  CHECK(part.first_in == expected.first_in);
  CHECK(part.sources == expected.sources);
  CHECK(part.source_workers == expected.source_workers);
  CHECK(part.in_edges == expected.in_edges);
  CHECK(part.out_weights == expected.out_weights);
  CHECK(part.in_weights == expected.in_weights);
  CHECK((part.out_delays.empty() && part.in_delays.empty() && part.levels.empty() && part.source_levels.empty()));
  CHECK((part.label_ends.empty() && part.labels.empty()));
}

/// Compares with a mesh that rank 0 distributes. Only rank 0 needs the topology.
void CheckSameMesh(const GraphInParts& graph, const Topology& whole) {
  for (std::uint32_t threads = 1; threads <= MostThreads(); ++threads) {
    CAPTURE(threads);
    const uit::Team team = TeamWith(threads);
    Mesh mesh{team, graph};
    Mesh expected{team, whole, {.placement = PlacementOf(mesh)}};
    CHECK(mesh.NumNodes() == expected.NumNodes());
    CHECK(mesh.NumEdges() == expected.NumEdges());
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      CheckSamePart(mesh.Partitions()[thread]->graph, expected.Partitions()[thread]->graph);
    CHECK(HashOfRun(mesh) == HashOfRun(expected));
  }
}

/// As OddGraph, with a weight for each edge.
Topology MakeWeighted(NodeId num_nodes, std::uint64_t seed) {
  const Topology odd = MakeOddGraph(num_nodes, seed);
  std::vector<Edge> edges;
  for (EdgeId edge = 0; edge < odd.NumEdges(); ++edge)
    edges.push_back({odd.Source(edge), odd.Target(edge), static_cast<double>(edge % 7) / 2});
  return {num_nodes, std::move(edges)};
}

/// Writes a graph on rank 0. Returns its path on every process. Collective.
std::string Write(const Folder& folder, const Topology& graph) {
  const std::string path = folder.Path() + "/graph.csr";
  if (MpiTestWorld().IsRoot()) {
    std::filesystem::create_directories(folder.Path());
    WriteCsr(path, graph);
  }
  MpiTestWorld().Agree("");
  return path;
}

/// Reverses the order of each node's outputs in a file with weights, so that reciprocal edges do not come first.
void ReverseRows(const std::string& path, const Topology& graph) {
  const CsrRows rows = CsrFile(path).Rows(0, graph.NumNodes());
  std::vector<NodeId> targets;
  std::vector<double> weights;
  for (NodeId node = 0; node < graph.NumNodes(); ++node) {
    for (EdgeId edge = rows.first_out[node + 1]; edge-- > rows.first_out[node];) {
      targets.push_back(rows.targets[edge]);
      weights.push_back(rows.weights[edge]);
    }
  }
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  file.seekp(32 + 8 * (static_cast<std::streamoff>(graph.NumNodes()) + 1));
  file.write(reinterpret_cast<const char*>(targets.data()), static_cast<std::streamsize>(4 * targets.size()));
  file.write(reinterpret_cast<const char*>(weights.data()), static_cast<std::streamsize>(8 * weights.size()));
}

}  // namespace

TEST_CASE("A mesh whose processes read a graph in parts puts reciprocal edges first, as that of the whole graph") {
  const Folder folder;
  const Topology graph = MakeWeighted(60, 3);
  const std::string path = Write(folder, graph);
  if (MpiTestWorld().IsRoot()) ReverseRows(path, graph);
  MpiTestWorld().Agree("");
  const Topology whole = ReadCsr(path);
  std::size_t num_moved = 0;
  for (EdgeId edge = 0; edge < graph.NumEdges(); ++edge) num_moved += whole.Target(edge) != graph.Target(edge) ? 1 : 0;
  CHECK(num_moved > 50);
  CheckSameMesh(ReadInParts(path), whole);
}

TEST_CASE("A mesh whose processes read a graph in parts equals that of the whole graph") {
  const Topology one_edge{12, {{0, 11, 2}}};
  for (const Topology& given : {MakeOddGraph(60, 1), MakeWeighted(60, 2), MakeTorus(8, 8), MakeEmpty(13), one_edge}) {
    const Folder folder;
    const std::string path = Write(folder, given);
    CheckSameMesh(ReadInParts(path), ReadCsr(path));
  }
}

TEST_CASE("A mesh whose processes draw a random graph in parts equals that of the whole graph") {
  CheckSameMesh(KroneckerInParts(8, 8, 3), MakeKronecker(8, 8, 3));
  CheckSameMesh(UniformInParts(203, 1000, 5), MakeUniform(203, 1000, 5));
  CheckSameMesh(UniformInParts(20, 0, 5), MakeEmpty(20));
}

TEST_CASE("Graphs in parts that are drawn are placed in blocks of equal size") {
  const uit::Team team = TeamWith(2);
  const Mesh mesh{team, UniformInParts(101, 300, 1)};
  CHECK(PlacementOf(mesh) == PlaceContiguous(MakeEmpty(101), {.processes = MpiTestWorld().Size(), .threads = 2}));
}

TEST_CASE("Graphs in parts that are read are placed in blocks with about as many nodes and outputs") {
  const Folder folder;
  const Topology graph = MakeKronecker(10, 16, 1);
  const uit::Team team = TeamWith(2);
  const Mesh mesh{team, ReadInParts(Write(folder, graph))};
  std::size_t most_outputs = 0;
  for (NodeId node = 0; node < graph.NumNodes(); ++node) most_outputs = std::max(most_outputs, graph.OutNeighbors(node).size());
  const double mean = static_cast<double>(graph.NumNodes() + graph.NumEdges()) / static_cast<double>(2 * MpiTestWorld().Size());
  for (const auto& partition : mesh.Partitions()) {
    const double work = static_cast<double>(partition->NumNodes() + partition->graph.targets.size());
    CHECK(std::abs(work - mean) <= static_cast<double>(most_outputs + 1));
  }
}

TEST_CASE("Edges of a graph in parts get weights unless they have some") {
  const auto weigh = [](NodeId source, NodeId target) { return 1.0 + std::min(source, target) % 5; };
  const auto weighted = [&](const Topology& from) {
    std::vector<Edge> edges;
    for (EdgeId edge = 0; edge < from.NumEdges(); ++edge)
      edges.push_back({from.Source(edge), from.Target(edge), weigh(from.Source(edge), from.Target(edge))});
    return Topology{from.NumNodes(), std::move(edges)};
  };
  CheckSameMesh(KroneckerInParts(6, 8, 3).WithWeights(weigh), weighted(MakeKronecker(6, 8, 3)));
  const Folder folder;
  const std::string path = Write(folder, MakeWeighted(60, 2));
  CheckSameMesh(ReadInParts(path).WithWeights(weigh), ReadCsr(path));
  CheckThrows([&] {
    Mesh{TeamWith(1), KroneckerInParts(6, 8, 3).WithWeights([](NodeId, NodeId) { return -1.0; })};
  }, MpiTestWorld().IsRoot() ? " has a weight that is negative or not finite" : "rank 0 failed");
}

TEST_CASE("A file that one process cannot read ends the set-up of a mesh on every process, and one names it") {
  const Folder folder;
  const uit::Team team = TeamWith(1);
  const auto read = [&](const std::string& path) { Mesh{team, ReadInParts(path)}; };
  const bool is_root = MpiTestWorld().IsRoot();
  CheckThrows([&] { read("/nowhere/graph.csr"); }, is_root ? "/nowhere/graph.csr: cannot be opened" : "rank 0 failed");
  const std::string path = Write(folder, MakeTorus(8, 8));
  if (is_root) {  // the target of the last edge, which the last process reads
    std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(-1, std::ios::end);
    file.put('\x7F');
  }
  MpiTestWorld().Agree("");
  const std::size_t last = MpiTestWorld().Size() - 1;
  const std::string elsewhere = "rank " + std::to_string(last) + " failed";
  CheckThrows([&] { read(path); }, MpiTestWorld().Rank() == last ? path + ": edge 63 -> " : elsewhere);
  // a process that has another file than rank 0
  const std::string own = folder.Path() + "/" + std::to_string(MpiTestWorld().Rank()) + ".csr";
  if (MpiTestWorld().Rank() == last) WriteCsr(own, MakeTorus(4, 4));
  else WriteCsr(own, MakeTorus(8, 8));
  if (MpiTestWorld().Size() > 1)
    CheckThrows([&] { read(own); }, MpiTestWorld().Rank() == last ? own + ": is another file than on rank 0" : " failed");
  MpiTestWorld().Agree("");
}

TEST_CASE("What a graph in parts cannot have is refused in one line") {
  const uit::Team team = TeamWith(1);
  const Workers workers{.processes = MpiTestWorld().Size(), .threads = 1};
  CheckThrows([&] { Mesh{team, UniformInParts(8, 8, 1), {.placement = PlaceContiguous(MakeEmpty(8), workers)}}; },
              "a graph in parts is placed in blocks, so MeshOptions::placement must not be set");
  CheckThrows([&] { Mesh{team, KroneckerInParts(32, 1, 1)}; }, MpiTestWorld().IsRoot() ? "more than 2^31 nodes" : "rank 0 failed");
  CheckThrows([&] { Mesh{team, UniformInParts(0, 0, 1)}; }, MpiTestWorld().IsRoot() ? "than nodes (0)" : "rank 0 failed");
}

TEST_CASE("Links that cannot be drawn end the set-up of a mesh on every process") {
  const uit::Team team = TeamWith(1);
  const auto draws = [&](std::uint64_t bad, Edge link) {
    return DrawInParts([=] {
      return DrawnLinks{10, 40, [=](std::uint64_t number) {
        if (number == bad && link.source == link.target) throw uit::InputError("no such link");
        return number == bad ? link : Edge{static_cast<NodeId>(number % 10), static_cast<NodeId>(number % 9 + 1)};
      }};
    });
  };
  const std::size_t last = MpiTestWorld().Size() - 1;
  const auto words = [&](const std::string& own) {
    return MpiTestWorld().Rank() == last ? own : "rank " + std::to_string(last) + " failed";
  };
  CheckThrows([&] { Mesh{team, draws(39, {0, 0})}; }, words("no such link"));
  CheckThrows([&] { Mesh{team, draws(39, {10, 0})}; }, words("drawn link 39 has an end that is no node of the graph"));
  CheckThrows([&] { Mesh{team, draws(39, {0, 4'000'000'000U})}; }, words("drawn link 39 has an end that is no node of the graph"));
}

TEST_CASE("Items are exchanged in rank order, whole, in pieces of any size") {
  const uit::World world = MpiTestWorld();
  for (const std::size_t max_at_once : {std::size_t{1}, std::size_t{100}, std::size_t{1} << 20U}) {
    std::vector<std::vector<std::uint64_t>> outgoing(world.Size());
    std::vector<std::uint64_t> expected;
    for (std::size_t rank = 0; rank < world.Size(); ++rank) {
      for (std::uint64_t i = 0; i < 10 * rank + world.Rank(); ++i) outgoing[rank].push_back(100 * world.Rank() + i);
      for (std::uint64_t i = 0; i < 10 * world.Rank() + rank; ++i) expected.push_back(100 * rank + i);
    }
    CHECK(detail::ExchangeItems(world, std::move(outgoing), max_at_once) == expected);
  }
}

TEST_CASE("The lowest rank that fails throws the cause, and all others that it failed") {
  const uit::World world = MpiTestWorld();
  CHECK(OnEveryRank(world, [&] { return world.Rank(); }) == world.Rank());
  const std::size_t failing = world.Size() / 2;  // and all above
  CheckThrows([&] {
    OnEveryRank(world, [&] {
      if (world.Rank() >= failing) throw uit::InputError("here");
      return 1;
    });
  }, world.Rank() == failing ? "here" : "rank " + std::to_string(failing) + " failed");
}
