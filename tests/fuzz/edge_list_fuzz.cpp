// Edge lists are read, or refused with file, line and reason. Those that were read are the same after writing and reading. The
// format of any text is recognised, or refused in the same way.
#include <netuit/file/graph_format.hpp>

#include "tests/fuzz/graph_round_trip.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace uit::fuzz;
  std::istringstream any{TextOf(data, size)};
  netuit::LineReader reader{any, "text"};
  Accepts([&] { netuit::RecogniseFormat(reader, "text"); }, "text:");
  for (const bool directed : {false, true}) {
    std::istringstream text{TextOf(data, size)};
    netuit::Topology topology;
    if (Accepts([&] { topology = netuit::ReadEdgeList(text, "text", {.directed = directed}); }, "text:"))
      DemandEdgesComeBack(topology, directed);
  }
  return 0;
}
