#include <netuit/graph/kronecker.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <uit/support/error.hpp>

#include "tests/netuit/graph/graphs.hpp"
#include "tests/support/catch.hpp"

using namespace netuit;

namespace {

/// Returns the probability that one drawn link joins the nodes a and b, before nodes get their random numbers.
double Probability(unsigned scale, NodeId a, NodeId b) {
  constexpr std::array<double, 4> of_bits{0.57, 0.19, 0.19, 0.05};
  double probability = 1;
  for (unsigned bit = 0; bit < scale; ++bit) probability *= of_bits[(a >> bit & 1U) << 1U | (b >> bit & 1U)];
  return 2 * probability;  // either end may be drawn first: the probabilities are symmetric
}

/// Returns how many different links are expected.
double ExpectedLinks(unsigned scale, double num_drawn) {
  double sum = 0;
  for (NodeId a = 0; a < NodeId{1} << scale; ++a)
    for (NodeId b = a + 1; b < NodeId{1} << scale; ++b) sum += 1 - std::pow(1 - Probability(scale, a, b), num_drawn);
  return sum;
}

std::size_t LargestDegree(const Topology& graph) {
  std::size_t largest = 0;
  for (NodeId node = 0; node < graph.NumNodes(); ++node) largest = std::max(largest, graph.OutNeighbors(node).size());
  return largest;
}

}  // namespace

TEST_CASE("a Kronecker graph is undirected, without loops and repeated edges") {
  const Topology graph = MakeKronecker(10, 16, 3);
  CHECK(graph.NumNodes() == 1024);
  CHECK(IsSymmetric(graph));
  CHECK(IsReciprocal(graph));
  CHECK(IsSimple(graph));
  bool is_sorted = true;
  for (NodeId node = 0; node < graph.NumNodes(); ++node) is_sorted &= std::ranges::is_sorted(graph.OutNeighbors(node));
  CHECK(is_sorted);
}

TEST_CASE("a Kronecker graph has as many different links as its probabilities say, and some very large degrees") {
  const double expected = ExpectedLinks(10, 16 * 1024);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Topology graph = MakeKronecker(10, 16, seed);
    CHECK(std::abs(static_cast<double>(graph.NumEdges()) / 2 - expected) < 0.02 * expected);
    CHECK(LargestDegree(graph) > 300);
    CHECK(CountOfDegree(graph, 0) > 50);
  }
}

TEST_CASE("the nodes of a Kronecker graph are numbered at random") {
  // Before that, the sum of degrees falls with the number of ones in a node's number.
  const Topology graph = MakeKronecker(10, 16, 5);
  double few_ones = 0;
  for (NodeId node = 0; node < graph.NumNodes(); ++node)
    if (std::popcount(node) < 5) few_ones += static_cast<double>(graph.OutNeighbors(node).size());
  const double part = few_ones / static_cast<double>(graph.NumEdges());
  CHECK(part > 0.25);
  CHECK(part < 0.5);  // 386 of 1024 nodes
}

TEST_CASE("the seed determines a Kronecker graph") {
  CHECK(MakeKronecker(8, 8, 1) == MakeKronecker(8, 8, 1));
  CHECK(MakeKronecker(8, 8, 1) != MakeKronecker(8, 8, 2));
  CHECK(MakeKronecker(0, 8, 1).NumEdges() == 0);
  CHECK(MakeKronecker(3, 0, 1) == Topology(8, {}));
  CHECK_THROWS_AS(MakeKronecker(32, 1, 1), uit::InputError);
}
