#include <netuit/placement/metis.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include <unistd.h>

#include <netuit/graph/topologies.hpp>

#include "tests/netuit/graph/graphs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"

using namespace netuit;

namespace {

/// Captures standard output at the file descriptor, because METIS writes below C++ streams.
class StandardOutput {
 public:
  StandardOutput() : saved_{::dup(1)}, file_{std::tmpfile()} {
    std::fflush(stdout);
    ::dup2(::fileno(file_), 1);
  }
  ~StandardOutput() {
    Restore();
    std::fclose(file_);
  }
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  /// Returns the number of bytes written.
  long Restore() {
    std::fflush(stdout);
    if (saved_ >= 0) {
      ::dup2(saved_, 1);
      ::close(saved_);
      saved_ = -1;
    }
    std::fseek(file_, 0, SEEK_END);
    return std::ftell(file_);
  }

 private:
  int saved_;
  std::FILE* file_;
};

std::vector<double> Loads(const Topology& topology, const Placement& placement) {
  std::vector<double> loads(placement.Shape().Count());
  for (NodeId node = 0; node < topology.NumNodes(); ++node)
    loads[placement.WorkerOf(node)] += topology.NodeWeight(node);
  return loads;
}

Topology MakeStar(NodeId num_nodes) {
  std::vector<Edge> edges;
  for (NodeId node = 1; node < num_nodes; ++node) {
    edges.push_back({0, node});
    edges.push_back({node, 0});
  }
  return Topology{num_nodes, edges};
}

Topology AnyTopology(RandomStream& random) {
  const NodeId size = 1 + random.Below(24);
  switch (random.Below(9)) {
    case 0:
      return MakeEmpty(size);
    case 1:
      return MakeLoop(size);
    case 2:
      return MakeStar(size);
    case 3:
      return MakeTorus(1, size);
    case 4:
      return MakeTorus(1 + random.Below(5), 1 + random.Below(5));
    case 5:
      return MakeDyadic(size);
    case 6:
      return MakeProducerConsumer(size);
    case 7:
      return MakeComplete(size);
    default:
      return Topology{size, RandomEdges(size, random.Below(80), random)};
  }
}

/// Returns weights of several kinds: equal, some 0, all 0, of very different size, with fractions.
Topology WithAnyWeights(const Topology& topology, RandomStream& random) {
  std::vector<double> weights(topology.NumNodes(), 1);
  const std::uint32_t kind = random.Below(6);
  for (double& weight : weights) {
    if (kind == 1) weight = random.Below(2);
    if (kind == 2) weight = 0;
    if (kind == 3) weight = random.Below(4) == 0 ? 1e12 : 1e-12;
    if (kind == 4) weight = random.Uniform();
    if (kind == 5) weight = 1 + random.Below(1000000000);
  }
  return topology.WithNodeWeights(weights);
}

bool HasLoop(const Topology& topology) {
  for (EdgeId edge = 0; edge < topology.NumEdges(); ++edge) {
    if (topology.Source(edge) == topology.Target(edge)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("any small graph is placed on any number of workers with no empty worker") {
  StandardOutput output;
  RandomStream random{1};
  std::size_t num_placed = 0;
  std::size_t num_empty = 0;
  std::size_t num_different = 0;
  std::size_t num_fallbacks = 0;
  std::size_t num_of_one = 0;
  std::size_t num_of_each = 0;
  std::size_t num_asymmetric = 0;
  std::size_t num_of_loops = 0;
  const int num_rounds = uit::testing::PerCommitOrNight(4000, 24000);
  for (int round = 0; round < num_rounds; ++round) {
    const Topology topology = WithAnyWeights(AnyTopology(random), random);
    const Workers workers{1 + random.Below(16), round % 2 == 0 ? 1 : 1 + random.Below(4)};
    if (workers.Count() > topology.NumNodes()) continue;
    PartitionReport report;
    const MetisOptions options{.imbalance = random.Below(3), .seed = random.Next(), .report = &report};
    const Placement placement = PlaceByMetis(topology, workers, options);
    const auto counts = placement.NumNodesByWorker();
    num_empty += counts.size() != workers.Count() || std::ranges::find(counts, NodeId{0}) != counts.end() ? 1U : 0U;
    num_different += round % 8 == 0 && PlaceByMetis(topology, workers, options) != placement ? 1U : 0U;
    num_fallbacks += report.num_fallbacks;
    num_of_one += workers.Count() == 1 ? 1U : 0U;
    num_of_each += workers.Count() == topology.NumNodes() ? 1U : 0U;
    num_asymmetric += IsSymmetric(topology) ? 0U : 1U;
    num_of_loops += HasLoop(topology) ? 1U : 0U;
    ++num_placed;
  }
  CHECK(output.Restore() == 0);
  CHECK(num_placed > static_cast<std::size_t>(num_rounds) / 2);
  for (const std::size_t count : {num_of_one, num_of_each, num_asymmetric, num_of_loops}) CHECK(count > num_placed / 50);
  CHECK(num_empty == 0);
  CHECK(num_different == 0);
  CHECK(num_fallbacks == 0);
}

TEST_CASE("graphs for which METIS leaves parts empty are placed with no empty worker") {
  for (const auto& [rows, columns, parts] :
       {std::array<NodeId, 3>{1, 2, 2}, {1, 3, 3}, {2, 2, 4}, {2, 3, 6}, {3, 3, 8}, {4, 4, 16}}) {
    const Topology torus = MakeTorus(rows, columns);
    const auto counts = PlaceByMetis(torus, {.processes = parts}).NumNodesByWorker();
    CHECK(std::ranges::min(counts) >= 1);
    CHECK(std::ranges::max(counts) <= 2);
  }
}

TEST_CASE("the 64 × 64 torus is balanced and little of it is cut") {
  const Topology torus = MakeTorus(64, 64);
  for (const Workers workers : {Workers{4, 1}, Workers{2, 2}, Workers{1, 4}}) {
    const Placement placement = PlaceByMetis(torus, workers);
    const auto counts = placement.NumNodesByWorker();
    CHECK(std::ranges::max(counts) <= 1025);
    CHECK(std::ranges::min(counts) >= 1023);
    const Cut cut = EdgeCut(torus, placement);
    CHECK(cut.processes + cut.threads <= 2 * 300);  // 2 × 256 is the minimum
  }
  const Cut cut = EdgeCut(torus, PlaceByMetis(torus, {.processes = 2, .threads = 2}));
  CHECK(cut.processes <= 2 * 150);  // 2 × 128 is the minimum
}

TEST_CASE("any number of workers carry equal loads") {
  const Topology torus = MakeTorus(60, 60);
  const Topology small_world = MakeSmallWorld(2000, 6, 0.2, 1);
  for (const Workers workers : {Workers{3, 1}, Workers{5, 1}, Workers{6, 1}, Workers{7, 1}, Workers{1, 3}, Workers{1, 5}, Workers{3, 2},
                                Workers{2, 3}, Workers{13, 1}, Workers{4, 4}}) {
    CAPTURE(workers.processes, workers.threads);
    const auto counts = PlaceByMetis(torus, workers).NumNodesByWorker();
    CHECK(std::ranges::min(counts) == 3600 / workers.Count());
    CHECK(std::ranges::max(counts) == (3600 + workers.Count() - 1) / workers.Count());
    for (unsigned seed = 1; seed <= 6; ++seed) {
      const double share = 2000.0 / workers.Count();
      const auto loads = Loads(small_world, PlaceByMetis(small_world, workers, {.seed = seed}));
      CHECK(std::ranges::min(loads) >= 0.999 * share - 1);  // METIS does not always find the best
      CHECK(std::ranges::max(loads) <= 1.001 * share + 1);
    }
  }
}

TEST_CASE("expected load is what is balanced") {
  RandomStream random{2};
  std::vector<double> weights(4096);
  for (double& weight : weights) weight = 1 + random.Below(10);
  for (NodeId node = 0; node < 1024; ++node) weights[node] *= 7.5;
  const Topology torus = MakeTorus(64, 64).WithNodeWeights(weights);
  const double share = std::accumulate(weights.begin(), weights.end(), 0.0) / 4;
  for (const Workers workers : {Workers{4, 1}, Workers{2, 2}}) {
    const auto loads = Loads(torus, PlaceByMetis(torus, workers));
    CHECK(std::ranges::max(loads) <= 1.005 * share);
    const auto unaware = Loads(torus, PlaceByMetis(MakeTorus(64, 64), workers));
    CHECK(std::ranges::max(unaware) > 1.2 * share);
  }
}

TEST_CASE("a heavy node has a worker to itself") {
  std::vector<double> weights(20, 1);
  weights[7] = 100;
  const Topology ring = MakeRing(20).WithNodeWeights(weights);
  const Placement placement = PlaceByMetis(ring, {.processes = 2});
  CHECK(placement.NumNodesByWorker()[placement.WorkerOf(7)] == 1);
}

TEST_CASE("heavy edges are not cut") {
  // The shortest cut of a 32 × 16 torus crosses the edges between rows, so these get large weights.
  const Topology plain = MakeTorus(32, 16);
  std::vector<Edge> edges;
  for (EdgeId edge = 0; edge < plain.NumEdges(); ++edge) {
    const bool is_within_row = plain.Source(edge) / 16 == plain.Target(edge) / 16;
    edges.push_back({plain.Source(edge), plain.Target(edge), is_within_row ? 0.001 : 1e6});
  }
  const Topology torus{plain.NumNodes(), edges};
  const Placement placement = PlaceByMetis(torus, {.processes = 2});
  CHECK(EdgeCut(torus, placement).processes <= 2 * 80);  // 2 × 64 is the minimum
  for (NodeId node = 16; node < torus.NumNodes(); ++node)
    CHECK(placement.WorkerOf(node) == placement.WorkerOf(node - 16));
}

TEST_CASE("a looser balance is an option, and the seed decides") {
  const Topology world = MakeSmallWorld(2000, 6, 0.2, 1);
  const auto cut = [&](unsigned imbalance) {
    return EdgeCut(world, PlaceByMetis(world, {.processes = 4}, {.imbalance = imbalance})).processes;
  };
  CHECK(cut(200) < cut(1));
  CHECK(PlaceByMetis(world, {.processes = 4}, {.seed = 1}) == PlaceByMetis(world, {.processes = 4}, {.seed = 1}));
  CHECK_FALSE(PlaceByMetis(world, {.processes = 4}, {.seed = 1}) == PlaceByMetis(world, {.processes = 4}, {.seed = 2}));
}

TEST_CASE("impossible partitions are refused before METIS sees them") {
  CHECK_THROWS_WITH(PlaceByMetis(MakeRing(3), {.processes = 4}), "more workers (4) than nodes (3)");
  CHECK_THROWS_WITH(PlaceByMetis(MakeEmpty(0), {.processes = 1}), "more workers (1) than nodes (0)");
  CHECK_THROWS_WITH(PlaceByMetis(MakeRing(3), {.processes = 0}), "there must be at least one process and one thread");
}
