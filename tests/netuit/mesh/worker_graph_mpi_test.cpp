#include <netuit/mesh/worker_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/link/world.hpp>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tests/netuit/run/odd_graph.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using netuit::testing::MakeOddGraph;
using uit::testing::MpiTestWorld;

TEST_CASE("A process has its own part of the graph and no other") {
  const Topology topology = MakeOddGraph(50, 1);
  const Placement placement = PlaceRandom(topology, {.processes = MpiTestWorld().Size(), .threads = 3}, 1);
  const uit::World world = MpiTestWorld();
  // Arguments of other ranks are ignored.
  const ProcessGraph part = world.IsRoot() ? ScatterGraph(topology, placement, world) : ScatterGraph({}, {}, world);
  CHECK(part.num_nodes == 50);
  CHECK(part.num_edges == topology.NumEdges());
  CHECK(part.num_processes == world.Size());
  REQUIRE(part.workers.size() == 3);
  for (std::uint32_t thread = 0; thread < 3; ++thread) {
    const WorkerGraph& mine = part.workers[thread];
    const WorkerId here{static_cast<std::uint32_t>(world.Rank()), thread};
    CHECK(mine.worker == world.Rank() * 3 + thread);
    CHECK(mine.nodes == placement.NodesAt(here));
    std::vector<NodeId> targets;
    std::vector<EdgeId> out_edges;
    std::vector<NodeId> sources;
    std::vector<EdgeId> in_edges;
    for (const NodeId node : mine.nodes) {
      for (std::size_t k = 0; k < topology.OutNeighbors(node).size(); ++k) {
        targets.push_back(topology.OutNeighbors(node)[k]);
        out_edges.push_back(topology.FirstOutEdge(node) + k);
      }
      for (const EdgeId edge : topology.InEdges(node)) {
        sources.push_back(topology.Source(edge));
        in_edges.push_back(edge);
      }
    }
    CHECK(mine.targets == targets);
    CHECK(mine.out_edges == out_edges);
    CHECK(mine.sources == sources);
    CHECK(mine.in_edges == in_edges);
    for (std::size_t i = 0; i < targets.size(); ++i) CHECK(mine.target_workers[i] == placement.WorkerOf(targets[i]));
    for (std::size_t i = 0; i < sources.size(); ++i) CHECK(mine.source_workers[i] == placement.WorkerOf(sources[i]));
    CHECK(mine.first_out.size() == mine.nodes.size() + 1);
    CHECK(mine.first_in.size() == mine.nodes.size() + 1);
  }
}

namespace {

/// The processes of the test. It counts their exchanges.
class Counting final : public uit::WorldModel {
 public:
  std::size_t Rank() const override { return world_.Rank(); }
  std::size_t Size() const override { return world_.Size(); }
  uit::BytesByRank ExchangeSparsely(uit::BytesByRank outgoing) override {
    ++num_exchanges;
    return world_.ExchangeSparsely(std::move(outgoing));
  }
  uit::Bytes Broadcast(uit::Bytes from_root, std::size_t root) override { return world_.Broadcast(std::move(from_root), root); }
  void Max(std::span<std::uint64_t> values) override { world_.Max(values); }
  uit::AnyLink OpenLink(std::size_t peer, int stream, const uit::LinkOptions& options) override {
    return world_.OpenLink(peer, stream, options);
  }
  std::shared_ptr<WorldModel> Duplicate() override { return nullptr; }
  bool Release(uit::Deadline) override { return true; }

  int num_exchanges = 0;

 private:
  uit::World world_ = MpiTestWorld();
};

}  // namespace

TEST_CASE("A graph of moderate size is scattered in one exchange") {
  const auto counting = std::make_shared<Counting>();
  const uit::World world{counting};
  const Topology topology = MakeOddGraph(50, 1);
  ScatterGraph(topology, PlaceRandom(topology, {.processes = world.Size(), .threads = 3}, 1), world);
  CHECK(counting->num_exchanges == (world.Size() == 1 ? 0 : 1));
}
