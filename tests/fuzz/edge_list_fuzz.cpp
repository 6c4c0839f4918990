// Edge lists are read, or refused with file, line and reason. Those that were read are the same after writing and reading.
#include "tests/fuzz/graph_round_trip.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace uit::fuzz;
  for (const bool directed : {false, true}) {
    std::istringstream text{TextOf(data, size)};
    netuit::Topology topology;
    if (Accepts([&] { topology = netuit::ReadEdgeList(text, "text", {.directed = directed}); }, "text:"))
      DemandEdgesComeBack(topology, directed);
  }
  return 0;
}
