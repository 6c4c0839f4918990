#include <netuit/graph/topologies.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "tests/netuit/graph/graphs.hpp"
#include "tests/support/catch.hpp"

using namespace netuit;

namespace {

bool IsUndirected(const Topology& topology) { return IsSymmetric(topology) && IsReciprocal(topology); }

/// Returns a number that changes if any edge does.
std::uint64_t Fingerprint(const Topology& topology) {
  std::uint64_t print = topology.NumNodes();
  for (EdgeId edge = 0; edge < topology.NumEdges(); ++edge) {
    print = MixBits(print ^ (std::uint64_t{topology.Source(edge)} << 32U | topology.Target(edge)));
  }
  return print;
}

}  // namespace

TEST_CASE("an empty graph has nodes only") {
  CHECK(MakeEmpty(7).NumNodes() == 7);
  CHECK(MakeEmpty(7).NumEdges() == 0);
  CHECK(MakeEmpty(0).NumNodes() == 0);
}

TEST_CASE("a loop graph joins each node to itself") {
  const Topology topology = MakeLoop(5);
  CHECK(topology.NumEdges() == 5);
  CHECK(IsUndirected(topology));
  for (NodeId node = 0; node < 5; ++node) CHECK(topology.OutNeighbors(node)[0] == node);
}

TEST_CASE("a dyadic graph joins pairs, and a producer-consumer graph one way") {
  CHECK(MakeDyadic(7).NumEdges() == 6);
  CHECK(IsUndirected(MakeDyadic(7)));
  CHECK(MakeDyadic(7).OutNeighbors(5)[0] == 4);
  CHECK(MakeDyadic(7).OutNeighbors(6).empty());
  CHECK(MakeDyadic(0).NumNodes() == 0);

  const Topology one_way = MakeProducerConsumer(7);
  CHECK(one_way.NumEdges() == 3);
  CHECK(one_way.OutNeighbors(4)[0] == 5);
  CHECK(one_way.OutNeighbors(5).empty());
  CHECK(one_way.InEdges(5).size() == 1);
  CHECK_FALSE(IsSymmetric(one_way));
}

TEST_CASE("a complete graph joins all") {
  const Topology topology = MakeComplete(6);
  CHECK(topology.NumEdges() == 30);
  CHECK(CountOfDegree(topology, 5) == 6);
  CHECK(IsUndirected(topology));
  CHECK(IsSimple(topology));
  CHECK(MakeComplete(1).NumEdges() == 0);
}

TEST_CASE("a hypercube joins nodes that differ in one bit") {
  const Topology topology = MakeHypercube(5);
  CHECK(topology.NumNodes() == 32);
  CHECK(CountOfDegree(topology, 5) == 32);
  CHECK(IsUndirected(topology));
  CHECK(IsSimple(topology));
  CHECK(MakeHypercube(0).NumNodes() == 1);
  CHECK_THROWS_AS(MakeHypercube(32), uit::InputError);
}

TEST_CASE("a ring gives each node two neighbours") {
  const Topology topology = MakeRing(9);
  CHECK(CountOfDegree(topology, 2) == 9);
  CHECK(IsUndirected(topology));
  CHECK(topology.OutNeighbors(0)[0] == 8);
  CHECK(topology.OutNeighbors(0)[1] == 1);
  CHECK(MakeRing(0).NumNodes() == 0);
  CHECK(MakeRing(1).NumEdges() == 0);
  CHECK(MakeRing(2).NumEdges() == 2);
}

TEST_CASE("a torus wraps and a grid does not") {
  const Topology torus = MakeTorus(3, 4);
  CHECK(torus.NumNodes() == 12);
  CHECK(CountOfDegree(torus, 4) == 12);
  CHECK(IsUndirected(torus));
  CHECK(IsSimple(torus));
  const std::vector<NodeId> around_zero{torus.OutNeighbors(0).begin(), torus.OutNeighbors(0).end()};
  CHECK(around_zero == std::vector<NodeId>{3, 1, 8, 4});

  const Topology grid = MakeGrid(3, 4);
  CHECK(grid.NumEdges() == 2 * (2 * 4 + 3 * 3));
  CHECK(CountOfDegree(grid, 2) == 4);
  CHECK(CountOfDegree(grid, 4) == 2);
  CHECK(IsUndirected(grid));

  CHECK(MakeTorus(64, 64).NumEdges() == 4 * 64 * 64);
  CHECK(CountOfDegree(MakeTorus(3, 4, 5), 6) == 60);
  CHECK(MakeTorus(std::vector<NodeId>{3, 4}) == torus);
}

TEST_CASE("lattices of one and two nodes a side have no loops and no parallel edges, as in NetworkX") {
  for (NodeId rows = 0; rows < 5; ++rows) {
    for (NodeId columns = 0; columns < 5; ++columns) {
      const Topology torus = MakeTorus(rows, columns);
      CHECK(torus.NumNodes() == rows * columns);
      CHECK(IsSimple(torus));
      CHECK(IsUndirected(torus));
      const auto links = [](NodeId side) { return side < 2 ? 0U : side == 2 ? 1U : side; };
      CHECK(torus.NumEdges() == 2 * (links(rows) * columns + links(columns) * rows));
      CHECK(IsUndirected(MakeGrid(rows, columns)));
    }
  }
  CHECK_THROWS_AS(MakeTorus(-1, 4), uit::InputError);
  CHECK_THROWS_AS(MakeGrid(1 << 16, 1 << 16), uit::InputError);
}

TEST_CASE("a small world keeps its number of links and stays simple") {
  const Topology ring = MakeSmallWorld(50, 4, 0, 1);
  CHECK(CountOfDegree(ring, 4) == 50);
  for (const double probability : {0.0, 0.1, 1.0}) {
    const Topology topology = MakeSmallWorld(500, 6, probability, 3);
    CHECK(topology.NumEdges() == 3000);
    CHECK(IsSimple(topology));
    CHECK(IsUndirected(topology));
  }
  CHECK(MakeSmallWorld(6, 6, 0.5, 1).NumEdges() == 30);
  CHECK(MakeSmallWorld(5, 5, 1, 1).NumEdges() == 20);
  CHECK(MakeSmallWorld(9, 5, 0, 1).NumEdges() == 36);
  CHECK_THROWS_AS(MakeSmallWorld(4, 5, 0, 1), uit::InputError);
  CHECK_THROWS_AS(MakeSmallWorld(4, 2, 1.5, 1), uit::InputError);
  CHECK_THROWS_AS(MakeSmallWorld(4, 2, std::nan(""), 1), uit::InputError);

  const Topology rewired = MakeSmallWorld(10000, 4, 0.1, 5);
  std::size_t num_long = 0;
  for (EdgeId edge = 0; edge < rewired.NumEdges(); ++edge) {
    const auto distance = std::abs(std::int64_t{rewired.Source(edge)} - std::int64_t{rewired.Target(edge)});
    num_long += distance > 2 && distance < 9998 ? 1U : 0U;
  }
  CHECK(num_long > 3600);
  CHECK(num_long < 4400);
}

TEST_CASE("a navigable small world has a grid and long links of the wanted lengths") {
  const Topology topology = MakeNavigableSmallWorld(40);
  CHECK(topology.NumEdges() == 4 * 40 * 39 + 1600);
  CHECK(MakeNavigableSmallWorld(5, {.short_range = 2, .num_long_range = 0}).OutNeighbors(12).size() == 12);
  CHECK(IsUndirected(MakeNavigableSmallWorld(9, {.short_range = 3, .num_long_range = 0})));
  CHECK(MakeNavigableSmallWorld(0).NumNodes() == 0);
  CHECK(MakeNavigableSmallWorld(1).NumEdges() == 0);
  CHECK_THROWS_AS(MakeNavigableSmallWorld(5, {.exponent = -1}), uit::InputError);
  CHECK_THROWS_AS(MakeNavigableSmallWorld(1 << 16), uit::InputError);

  // A node at the centre of the square has n(d) nodes at distance d. With exponent r, length d has probability proportional
  // to n(d) d^-r.
  constexpr NodeId side = 11;
  constexpr NodeId num_links = 2000;
  constexpr NodeId middle = side * (side / 2) + side / 2;
  for (const double exponent : {0.0, 1.0, 2.0, 2.5}) {
    const Topology many =
        MakeNavigableSmallWorld(side, {.short_range = 0, .num_long_range = num_links, .exponent = exponent});
    std::vector<double> expected(side);
    std::vector<double> found(side);
    double total = 0;
    const auto length_to = [&](NodeId node) {
      return static_cast<std::size_t>(std::abs(std::int64_t{node / side} - side / 2) +
                                      std::abs(std::int64_t{node % side} - side / 2));
    };
    for (NodeId node = 0; node < side * side; ++node) {
      if (node == middle) continue;
      const double weight = std::pow(static_cast<double>(length_to(node)), -exponent);
      expected[length_to(node)] += weight;
      total += weight;
    }
    for (const NodeId target : many.OutNeighbors(middle)) found[length_to(target)] += 1;
    for (std::size_t length = 1; length < side; ++length) {
      const double mean = num_links * expected[length] / total;
      CHECK(std::abs(found[length] - mean) < 5 * std::sqrt(mean) + 5);
    }
  }
}

TEST_CASE("a long link from the corner of a small square is of any length up to the other corner") {
  constexpr NodeId num_links = 2000;
  for (const NodeId side : {NodeId{2}, NodeId{3}, NodeId{4}}) {
    CAPTURE(side);
    const Topology topology =
        MakeNavigableSmallWorld(side, {.short_range = 0, .num_long_range = num_links, .exponent = 0});
    std::vector<int> counts(side * side);
    for (const NodeId target : topology.OutNeighbors(0)) ++counts[target];
    const double mean = num_links / (side * side - 1.0);  // with exponent 0 every node is equally likely
    CHECK(counts[0] == 0);
    for (NodeId node = 1; node < side * side; ++node) {
      CAPTURE(node);
      CHECK(counts[node] > mean / 2);
      CHECK(counts[node] < mean * 2);
    }
  }
}

TEST_CASE("a random geometric graph joins exactly the near ones") {
  for (const double radius : {0.03, 0.2, 0.9}) {
    const Topology topology = MakeRandomGeometric(500, radius, 11);
    CHECK(IsUndirected(topology));
    const auto reach = static_cast<std::int64_t>(radius * static_cast<double>(PointGrid::side));
    const PointGrid grid{500, reach, 11};
    for (NodeId node = 0; node < 500; ++node) {
      std::vector<NodeId> near;
      for (NodeId other = 0; other < 500; ++other) {
        const double distance = std::hypot(static_cast<double>(grid[node].x - grid[other].x),
                                           static_cast<double>(grid[node].y - grid[other].y));
        if (other != node && distance <= static_cast<double>(reach)) near.push_back(other);
      }
      CHECK(std::vector<NodeId>(topology.OutNeighbors(node).begin(), topology.OutNeighbors(node).end()) == near);
    }
  }
  CHECK(MakeRandomGeometric(50, 2, 1).NumEdges() == 50 * 49);
  CHECK(MakeRandomGeometric(50, 0, 1).NumEdges() == 0);
  CHECK(MakeRandomGeometric(0, 0.1, 1).NumNodes() == 0);
  CHECK_THROWS_AS(MakeRandomGeometric(5, -0.1, 1), uit::InputError);
}

TEST_CASE("random graphs are the same on every platform") {
  CHECK(Fingerprint(MakeSmallWorld(300, 4, 0.2, 1)) == 0xf307a4eda952ddf0U);
  CHECK(Fingerprint(MakeSmallWorld(10, 6, 1, 1)) == 0x2014fcb8bd215396U);
  CHECK(Fingerprint(MakeNavigableSmallWorld(20)) == 0x07f38ab9b7af7164U);
  CHECK(Fingerprint(MakeKronecker(8, 8, 1)) == 0x5d3cdcaffaaeb32cU);
  CHECK(Fingerprint(MakeRandomGeometric(300, 0.1, 1)) == 0x97f9ae471dc4a095U);
  CHECK(Fingerprint(MakeSmallWorld(300, 4, 0.2, 2)) != Fingerprint(MakeSmallWorld(300, 4, 0.2, 1)));
  CHECK(Fingerprint(MakeNavigableSmallWorld(20, {.seed = 2})) != Fingerprint(MakeNavigableSmallWorld(20)));
  CHECK(Fingerprint(MakeRandomGeometric(300, 0.1, 2)) != Fingerprint(MakeRandomGeometric(300, 0.1, 1)));
}

TEST_CASE("a random stream is even and depends on seed and stream alone") {
  RandomStream random{1, 2};
  RandomStream again{1, 2};
  RandomStream other_seed{2, 2};
  RandomStream other_stream{1, 3};
  int num_same = 0;
  bool is_repeated = true;
  std::vector<int> counts(7);
  double sum = 0;
  for (int draw = 0; draw < 70000; ++draw) {
    const std::uint64_t value = random.Next();
    is_repeated = is_repeated && value == again.Next();
    num_same += value == other_seed.Next() || value == other_stream.Next() ? 1 : 0;
    ++counts[again.Below(7)];
    random.Next();
    sum += RandomStream{static_cast<std::uint64_t>(draw)}.Uniform();
  }
  CHECK(is_repeated);
  CHECK(num_same == 0);
  for (const int count : counts) CHECK(std::abs(count - 10000) < 500);
  CHECK(std::abs(sum / 70000 - 0.5) < 0.01);
}
