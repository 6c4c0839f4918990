// Placements with another load: workers have about the same, and few nodes move.
#include <netuit/placement/diffusion.hpp>

#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/placement/metis.hpp>
#include <netuit/placement/place_near.hpp>

#include "tests/netuit/graph/graphs.hpp"
#include "tests/netuit/placement/moved.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using uit::testing::CheckThrows;

namespace {

/// Loads of a 16 × 16 torus: `heavy` in the rows from `first` on, and 1 elsewhere.
std::vector<double> HeavyRows(NodeId first, NodeId num_rows, double heavy) {
  std::vector<double> loads(256, 1);
  for (NodeId row = first; row < first + num_rows; ++row)
    for (NodeId column = 0; column < 16; ++column) loads[(row % 16) * 16 + column] = heavy;
  return loads;
}

}  // namespace

TEST_CASE("Imbalance is the largest load of a worker over the mean") {
  const Placement placement({.processes = 2, .threads = 1}, {0, 0, 1, 1});
  CHECK(LoadByWorker({1, 2, 3, 4}, placement) == std::vector<double>{3, 7});
  CHECK(Imbalance({1, 2, 3, 4}, placement) == 1.4);
  CHECK(Imbalance({0, 0, 0, 0}, placement) == 1);
  CheckThrows([&] { Imbalance({1, 2}, placement); }, "2 loads for a placement of 4 nodes");
}

TEST_CASE("Diffusion balances a load that has drifted, and moves little more than it must") {
  for (const Workers workers : {Workers{2, 1}, Workers{1, 4}, Workers{4, 2}}) {
    const Topology torus = MakeTorus(16, 16);
    const Placement before = PlaceByMetis(torus, workers);
    for (const NodeId first : {0U, 3U, 9U}) {
      const std::vector<double> loads = HeavyRows(first, 3, 8);
      const Placement after = PlaceByDiffusion(torus.WithNodeWeights(loads), before);
      CAPTURE(workers.Count(), first, Imbalance(loads, before));
      CHECK(Imbalance(loads, after) < 1.1);
      CHECK(NumMoved(before, after) <= 160);
      CHECK(PlaceByDiffusion(torus.WithNodeWeights(loads), before) == after);
    }
  }
}

TEST_CASE("Between two workers, diffusion moves no more load than half of the difference and a node") {
  const Topology torus = MakeTorus(16, 16);
  const Placement before = PlaceByMetis(torus, {.processes = 2, .threads = 1});
  const std::vector<double> loads = HeavyRows(2, 4, 5);
  const Placement after = PlaceByDiffusion(torus.WithNodeWeights(loads), before);
  const auto difference = [&](const Placement& placement) {
    const std::vector<double> of = LoadByWorker(loads, placement);
    return of[0] > of[1] ? of[0] - of[1] : of[1] - of[0];
  };
  double moved = 0;
  for (NodeId node = 0; node < 256; ++node) moved += before.WorkerOf(node) != after.WorkerOf(node) ? loads[node] : 0;
  CHECK(moved <= difference(before) / 2 + 5);
  CHECK(EdgeCut(torus, after).processes <= 2 * EdgeCut(torus, before).processes);
}

TEST_CASE("Whatever the graph, loads and placement, diffusion never makes the largest load larger, and each worker keeps a node") {
  RandomStream random{7};
  for (int trial = 0; trial < 300; ++trial) {
    const NodeId num_nodes = 6 + random.Below(30);
    std::vector<double> loads(num_nodes);
    for (double& load : loads) load = random.Below(3) == 0 ? 0 : random.Uniform() * 100;
    const Topology graph{num_nodes, RandomEdges(num_nodes, random.Below(60), random), {}, loads};
    const Workers workers{.processes = 1 + random.Below(3), .threads = 1 + random.Below(2)};
    const Placement before = PlaceRandom(graph, workers, random.Below(1000));
    for (const Placement& after : {PlaceByDiffusion(graph, before), PlaceNear(graph, before, 1.1)}) {
      CAPTURE(trial);
      CHECK(Imbalance(loads, after) <= Imbalance(loads, before) * (1 + 1e-6));
      for (const NodeId count : after.NumNodesByWorker()) CHECK(count >= 1);
      CHECK(after.Shape() == before.Shape());
    }
  }
}

TEST_CASE("If the load cannot flow over neighbours, METIS places the nodes, and most stay with their worker") {
  // One of the rings has most of the load, and two of the four workers.
  std::vector<double> loads(64, 1);
  for (NodeId node = 0; node < 32; ++node) loads[node] = 3;
  const Topology graph = TwoRings(32).WithNodeWeights(loads);
  const Placement before = PlaceContiguous(graph, {.processes = 2, .threads = 2});
  CHECK(Imbalance(loads, PlaceByDiffusion(graph, before)) == 1.5);
  const Placement after = PlaceNear(graph, before, 1.1);
  CHECK(Imbalance(loads, after) < 1.1);
  CHECK(NumMoved(before, after) <= 32);
}

TEST_CASE("Parts keep the names of the workers with which they share most nodes") {
  const Workers workers{.processes = 2, .threads = 2};
  const Placement before(workers, {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3});
  const Placement permuted(workers, {3, 3, 3, 2, 2, 2, 1, 1, 1, 0, 0, 0});
  CHECK(KeepNames(before, permuted) == before);
  const Placement other(workers, {2, 2, 2, 2, 3, 3, 0, 1, 1, 1, 1, 1});
  CHECK(KeepNames(before, other) == Placement(workers, {0, 0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 3}));
}

TEST_CASE("Diffusion refuses a placement of another graph, and a goal that nothing can reach") {
  const Topology torus = MakeTorus(4, 4);
  const Placement placement = PlaceContiguous(MakeTorus(4, 5), {.processes = 2, .threads = 1});
  CheckThrows([&] { PlaceByDiffusion(torus, placement); }, "the placement is of 20 nodes, and the graph has 16");
  CheckThrows([&] { PlaceByDiffusion(MakeTorus(4, 5), placement, {.goal = 0.5}); }, "DiffusionOptions::goal must be at least 1");
}
