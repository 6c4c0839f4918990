#include <netuit/placement/placement.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include <netuit/graph/topologies.hpp>

#include "tests/support/catch.hpp"

using namespace netuit;

namespace {

std::vector<std::uint32_t> WorkersOf(const Placement& placement) {
  std::vector<std::uint32_t> workers;
  for (NodeId node = 0; node < placement.NumNodes(); ++node) workers.push_back(placement.WorkerOf(node));
  return workers;
}

}  // namespace

TEST_CASE("contiguous blocks and round robin") {
  const Topology ring = MakeRing(7);
  CHECK(WorkersOf(PlaceContiguous(ring, {.processes = 3})) == std::vector<std::uint32_t>{0, 0, 0, 1, 1, 2, 2});
  CHECK(WorkersOf(PlaceRoundRobin(ring, {.processes = 3})) == std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2, 0});
}

TEST_CASE("worker w is thread w % threads of process w / threads") {
  const Placement placement = PlaceRoundRobin(MakeRing(7), {.processes = 2, .threads = 3});
  CHECK(placement.Of(0) == WorkerId{0, 0});
  CHECK(placement.Of(2) == WorkerId{0, 2});
  CHECK(placement.Of(3) == WorkerId{1, 0});
  CHECK(placement.Of(5) == WorkerId{1, 2});
  CHECK(placement.Of(6) == WorkerId{0, 0});
  CHECK(placement.NodesAt({0, 0}) == std::vector<NodeId>{0, 6});
  CHECK(placement.NodesAt({1, 2}) == std::vector<NodeId>{5});
  CHECK(placement.NumNodesByWorker() == std::vector<NodeId>{2, 1, 1, 1, 1, 1});
  CHECK(placement.Shape() == Workers{2, 3});
}

TEST_CASE("plain placements give every worker as many nodes but for one") {
  for (NodeId num_nodes = 1; num_nodes < 40; ++num_nodes) {
    const Topology ring = MakeRing(num_nodes);
    for (std::size_t processes = 1; processes <= 4; ++processes) {
      for (std::size_t threads = 1; threads <= 4 && processes * threads <= num_nodes; ++threads) {
        const Workers workers{processes, threads};
        for (const Placement& placement :
             {PlaceContiguous(ring, workers), PlaceRoundRobin(ring, workers), PlaceRandom(ring, workers, 3)}) {
          const auto counts = placement.NumNodesByWorker();
          REQUIRE(placement.NumNodes() == num_nodes);
          REQUIRE(counts.size() == processes * threads);
          const auto [least, most] = std::ranges::minmax(counts);
          REQUIRE(most - least <= 1);
          REQUIRE(least >= 1);
        }
        const auto blocks = WorkersOf(PlaceContiguous(ring, workers));
        REQUIRE(std::ranges::is_sorted(blocks));
      }
    }
  }
}

TEST_CASE("a random placement depends on the seed alone") {
  const Topology ring = MakeRing(1000);
  const Workers workers{.processes = 4, .threads = 2};
  CHECK(PlaceRandom(ring, workers, 1) == PlaceRandom(ring, workers, 1));
  CHECK_FALSE(PlaceRandom(ring, workers, 1) == PlaceRandom(ring, workers, 2));
  CHECK_FALSE(PlaceRandom(ring, workers, 1) == PlaceRoundRobin(ring, workers));
  const Cut cut = EdgeCut(ring, PlaceRandom(ring, workers, 1));
  CHECK(cut.processes > 1300);
  CHECK(cut.processes < 1700);
}

TEST_CASE("every random placement is equally likely") {
  std::map<std::vector<std::uint32_t>, int> counts;  // by the worker of each node
  const Topology ring = MakeRing(4);
  for (std::uint64_t seed = 0; seed < 4800; ++seed) ++counts[WorkersOf(PlaceRandom(ring, {.processes = 4}, seed))];
  CHECK(counts.size() == 24);
  // 200 plus or minus five standard deviations
  for (const auto& [workers, count] : counts) CHECK((count > 130 && count < 270));
}

TEST_CASE("the cut counts directed edges between processes and between threads of one") {
  const Topology ring = MakeRing(8);
  CHECK(EdgeCut(ring, PlaceContiguous(ring, {})) == Cut{0, 0});
  CHECK(EdgeCut(ring, PlaceContiguous(ring, {.processes = 2})) == Cut{4, 0});
  CHECK(EdgeCut(ring, PlaceContiguous(ring, {.threads = 2})) == Cut{0, 4});
  CHECK(EdgeCut(ring, PlaceContiguous(ring, {.processes = 2, .threads = 2})) == Cut{4, 4});
  const Topology one_way = MakeProducerConsumer(4);
  CHECK(EdgeCut(one_way, PlaceRoundRobin(one_way, {.processes = 2})) == Cut{2, 0});
}

TEST_CASE("impossible placements are refused") {
  const Topology ring = MakeRing(4);
  CHECK_THROWS_WITH(PlaceContiguous(ring, {.processes = 5}), "more workers (5) than nodes (4)");
  CHECK_THROWS_WITH(PlaceRoundRobin(ring, {.processes = 3, .threads = 2}), "more workers (6) than nodes (4)");
  CHECK_THROWS_WITH(PlaceRandom(ring, {.processes = 0}, 1), "there must be at least one process and one thread");
  CHECK_THROWS_WITH(PlaceContiguous(ring, {.threads = 0}), "there must be at least one process and one thread");
  CHECK_THROWS_WITH(PlaceContiguous(ring, {.processes = std::numeric_limits<std::size_t>::max(), .threads = 2}),
                    "too many workers");
  CHECK_THROWS_WITH((Placement{{.processes = 2}, {0, 1, 2}}), "node 2 is placed on worker 2, but there are 2");
  CHECK_THROWS_AS(PlaceContiguous(Topology{}, {}), uit::InputError);
}
