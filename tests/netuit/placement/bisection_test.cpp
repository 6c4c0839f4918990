#include <netuit/placement/bisection.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include <netuit/graph/topologies.hpp>

#include "tests/netuit/graph/graphs.hpp"
#include "tests/support/catch.hpp"

using namespace netuit;

namespace {

using Weighted = PartitionGraph<std::int32_t>;
using Sides = std::optional<std::vector<std::int32_t>>;

/// Returns whether a partitioner accepts this graph: at least two nodes, symmetric with equal weights above 0, no loops, no
/// parallel edges.
bool IsProper(const Weighted& graph) {
  if (graph.NumNodes() < 2 || graph.first.size() != graph.node_weights.size() + 1) return false;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> weights;
  for (std::int32_t node = 0; node < graph.NumNodes(); ++node) {
    const auto at = static_cast<std::size_t>(node);
    for (auto entry = static_cast<std::size_t>(graph.first[at]); entry < static_cast<std::size_t>(graph.first[at + 1]);
         ++entry) {
      const std::int32_t neighbor = graph.neighbors[entry];
      if (neighbor < 0 || neighbor >= graph.NumNodes() || neighbor == node || graph.edge_weights[entry] <= 0)
        return false;
      if (!weights.emplace(std::pair{node, neighbor}, graph.edge_weights[entry]).second) return false;
    }
  }
  for (const auto& [ends, weight] : weights) {
    const auto reverse = weights.find({ends.second, ends.first});
    if (reverse == weights.end() || reverse->second != weight) return false;
  }
  return true;
}

Topology RandomTopology(RandomStream& random) {
  const NodeId num_nodes = 1 + random.Below(30);
  std::vector<double> node_weights(num_nodes);
  for (double& weight : node_weights) weight = random.Below(4) == 0 ? 0 : random.Uniform() * 100;
  return Topology{num_nodes, RandomEdges(num_nodes, random.Below(60), random), {}, node_weights};
}

}  // namespace

TEST_CASE("whatever a bisector answers, every worker has a node") {
  const std::vector<std::function<Sides(const Weighted&)>> answers{
      [](const Weighted&) { return Sides{}; },
      [](const Weighted&) { return Sides{std::vector<std::int32_t>{}}; },
      [](const Weighted& graph) { return Sides{std::vector<std::int32_t>(graph.node_weights.size(), 0)}; },
      [](const Weighted& graph) { return Sides{std::vector<std::int32_t>(graph.node_weights.size(), 1)}; },
      [](const Weighted& graph) { return Sides{std::vector<std::int32_t>(graph.node_weights.size(), 2)}; },
      [](const Weighted& graph) { return Sides{std::vector<std::int32_t>(graph.node_weights.size(), -1)}; },
      [](const Weighted& graph) { return Sides{std::vector<std::int32_t>(graph.node_weights.size() + 1, 0)}; },
  };
  RandomStream random{9};
  bool is_proper = true;
  for (int round = 0; round < 1000; ++round) {
    const Topology topology = RandomTopology(random);
    const auto processes = 1 + random.Below(6);
    const auto threads = 1 + random.Below(4);
    if (processes * threads > topology.NumNodes()) continue;
    const auto& answer = answers[random.Below(static_cast<std::uint32_t>(answers.size()))];
    const auto bisect = [&](const Weighted& graph, double share, double tolerance) {
      is_proper = is_proper && IsProper(graph) && share > 0 && share < 1 && tolerance >= 1;
      return answer(graph);
    };
    RecursiveBisection<std::int32_t, decltype(bisect)> bisection{bisect, {processes, threads}, 1.001};
    const auto counts = bisection.Place(topology).NumNodesByWorker();
    REQUIRE(std::ranges::find(counts, NodeId{0}) == counts.end());
    REQUIRE(is_proper);
  }
}

TEST_CASE("what is mended is reported") {
  const auto place = [](auto bisect) {
    RecursiveBisection<std::int32_t, decltype(bisect)> bisection{bisect, {.processes = 4}, 1.001};
    bisection.Place(MakeRing(8));
    return bisection.Report();
  };
  const auto refuse = [](const Weighted&, double, double) { return Sides{}; };
  CHECK(place(refuse).num_fallbacks == 3);
  CHECK(place(refuse).num_moved == 0);
  const auto all_left = [](const Weighted& graph, double, double) {
    return Sides{std::vector<std::int32_t>(graph.node_weights.size(), 0)};
  };
  CHECK(place(all_left).num_fallbacks == 0);
  CHECK(place(all_left).num_moved == 2 + 1 + 1);
}

TEST_CASE("without a usable answer the blocks are contiguous and of equal weight") {
  const auto refuse = [](const Weighted&, double, double) { return Sides{}; };
  RecursiveBisection<std::int32_t, decltype(refuse)> bisection{refuse, {.processes = 3, .threads = 2}, 1.001};
  CHECK(bisection.Place(MakeRing(12)) == PlaceContiguous(MakeRing(12), {.processes = 3, .threads = 2}));
  RecursiveBisection<std::int32_t, decltype(refuse)> in_two{refuse, {.processes = 2}, 1.001};
  const Placement placement = in_two.Place(MakeRing(6).WithNodeWeights({5, 1, 1, 1, 1, 1}));
  CHECK(placement.NumNodesByWorker() == std::vector<NodeId>{1, 5});
  // A node whose middle is the middle of all goes to the second side.
  const Placement tied = in_two.Place(MakeRing(3).WithNodeWeights({1, 2, 1}));
  CHECK(tied.NumNodesByWorker() == std::vector<NodeId>{1, 2});
}

TEST_CASE("one worker needs no bisector") {
  const auto fail = [](const Weighted&, double, double) -> Sides { throw std::logic_error{"asked"}; };
  RecursiveBisection<std::int32_t, decltype(fail)> bisection{fail, {}, 1.001};
  CHECK(bisection.Place(MakeRing(3)) == PlaceContiguous(MakeRing(3), {}));
  RecursiveBisection<std::int32_t, decltype(fail)> too_many{fail, {.processes = 4}, 1.001};
  CHECK_THROWS_WITH(too_many.Place(MakeRing(3)), "more workers (4) than nodes (3)");
}

TEST_CASE("both directions and parallel edges add up and loops vanish") {
  const auto graph = MakePartitionGraph<std::int32_t>(
      Topology{3, {{0, 1, 2}, {1, 0, 3}, {0, 1, 5}, {1, 1, 7}, {2, 1, 11}, {0, 2, 0}}, {}, {4, 0, 1}});
  CHECK(graph.first == std::vector<std::int32_t>{0, 1, 3, 4});
  CHECK(graph.neighbors == std::vector<std::int32_t>{1, 0, 2, 1});
  CHECK(graph.edge_weights == std::vector<std::int32_t>{10, 10, 11, 11});
  CHECK(graph.node_weights == std::vector<std::int32_t>{4, 0, 1});
}

TEST_CASE("the heaviest edge and the heaviest node keep their share, wherever they stand") {
  constexpr std::int64_t limit = std::int64_t{1} << 28U;
  for (const std::size_t heaviest : {0U, 1U, 2U}) {
    CAPTURE(heaviest);
    std::vector<double> weights(3, 1);
    weights[heaviest] = 1e12;
    const Topology topology{3, {{0, 1, weights[0]}, {0, 2, weights[1]}, {1, 2, weights[2]}}, {}, weights};
    const auto graph = MakePartitionGraph<std::int32_t>(topology);
    for (std::size_t i = 0; i < 3; ++i) CHECK(graph.node_weights[i] == (i == heaviest ? limit : 1));
    CHECK(std::ranges::count(graph.edge_weights, limit) == 2);  // once in each direction
    CHECK(std::ranges::count(graph.edge_weights, 1) == 4);
  }
}

TEST_CASE("integer scales keep whole numbers that fit and never overflow") {
  IntegerScale whole{1000};
  for (const double weight : {1.0, 0.0, 900.0, 99.0}) whole.Add(weight);
  CHECK(whole(900) == 900);
  CHECK(whole(0) == 0);

  IntegerScale zero{1000};
  zero.Add(0);
  CHECK(zero(0) == 1);

  RandomStream random{4};
  for (int round = 0; round < 300; ++round) {
    IntegerScale scale{1000000};
    std::vector<double> weights(1 + random.Below(50));
    for (double& weight : weights) {
      weight = random.Uniform() * std::pow(10.0, static_cast<int>(random.Below(600)) - 300);
      scale.Add(weight);
    }
    std::int64_t total = 0;
    for (const double weight : weights) {
      REQUIRE(scale(weight) >= (weight > 0 ? 1 : 0));
      total += scale(weight);
    }
    REQUIRE(total <= 1000000 + 51);
    REQUIRE(total >= 1000000 - 51);
  }
}
