// Placements and node weights of a small torus are read, or refused with file, line and reason. Those that were read are the
// same after writing and reading.
#include <algorithm>
#include <cmath>
#include <sstream>

#include <netuit/file/decimal.hpp>
#include <netuit/file/node_weights.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/placement/placement_file.hpp>

#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace uit::fuzz;
  static const netuit::Topology torus = netuit::MakeTorus(3, 4);
  constexpr netuit::Workers workers{.processes = 2, .threads = 2};

  std::istringstream text{TextOf(data, size)};
  netuit::Placement placement;
  if (Accepts([&] { placement = netuit::ReadPlacement(text, "text", torus, workers); }, "text:")) {
    Demand(placement.NumNodes() == torus.NumNodes(), "each node has its place");
    std::stringstream written;
    for (netuit::NodeId node = 0; node < placement.NumNodes(); ++node) {
      Demand(placement.Of(node).process < workers.processes && placement.Of(node).thread < workers.threads,
             "nodes are placed where there is a worker");
      written << placement.WorkerOf(node) << '\n';
    }
    Demand(netuit::ReadPlacement(written, "again", torus, workers) == placement, "a placement comes back as it was");
  }

  std::istringstream same{TextOf(data, size)};
  std::vector<double> weights;
  if (Accepts([&] { weights = netuit::ReadNodeWeights(same, "text", torus); }, "text:")) {
    Demand(weights.size() == torus.NumNodes(), "each node has its weight");
    Demand(std::ranges::all_of(weights, [](double weight) { return weight >= 0 && std::isfinite(weight); }), "weights are finite");
    std::stringstream written;
    for (const double weight : weights) written << netuit::ShortestDecimal(weight) << '\n';
    Demand(netuit::ReadNodeWeights(written, "again", torus) == weights, "weights come back as they were");
  }
  return 0;
}
