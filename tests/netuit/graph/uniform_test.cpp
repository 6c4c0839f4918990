#include <netuit/graph/uniform.hpp>

#include <algorithm>
#include <cmath>

#include <uit/support/error.hpp>

#include "tests/netuit/graph/graphs.hpp"
#include "tests/support/catch.hpp"

using namespace netuit;

TEST_CASE("a uniform graph is undirected, without loops and repeated edges, and its neighbours ascend") {
  const Topology graph = MakeUniform(1000, 8000, 3);
  CHECK(graph.NumNodes() == 1000);
  CHECK(IsSymmetric(graph));
  CHECK(IsReciprocal(graph));
  CHECK(IsSimple(graph));
  bool is_sorted = true;
  for (NodeId node = 0; node < graph.NumNodes(); ++node) is_sorted &= std::ranges::is_sorted(graph.OutNeighbors(node));
  CHECK(is_sorted);
}

TEST_CASE("a uniform graph has as many links and as equal degrees as chance says") {
  const Topology graph = MakeUniform(1000, 8000, 5);
  const double pairs = 1000.0 * 999 / 2;
  const double expected = pairs * (1 - std::exp(-8000 * (1 - 1e-3) / pairs));
  CHECK(std::abs(static_cast<double>(graph.NumEdges()) / 2 - expected) < 30);
  double chi_square = 0;
  const double mean = static_cast<double>(graph.NumEdges()) / 1000;
  for (NodeId node = 0; node < graph.NumNodes(); ++node) {
    const double difference = static_cast<double>(graph.OutNeighbors(node).size()) - mean;
    chi_square += difference * difference / mean;
  }
  CHECK(std::abs(chi_square - 1000) < 5 * std::sqrt(2000.0));  // degrees of a Poisson distribution
}

TEST_CASE("the seed determines a uniform graph") {
  CHECK(MakeUniform(50, 100, 1) == MakeUniform(50, 100, 1));
  CHECK(MakeUniform(50, 100, 1) != MakeUniform(50, 100, 2));
  CHECK(MakeUniform(50, 0, 1) == Topology(50, {}));
  CHECK(MakeUniform(0, 0, 1) == Topology());
  CHECK_THROWS_AS(MakeUniform(0, 1, 1), uit::InputError);
}
