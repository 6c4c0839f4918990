// Adjacency lists of both kinds are read, or refused with file, line and reason. Those that were read are equal to the edge
// lists written from them.
#include <netuit/file/adjacency_list.hpp>

#include "tests/fuzz/graph_round_trip.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace uit::fuzz;
  using Read = netuit::Topology(std::istream&, std::string, const netuit::GraphOptions&);
  for (Read* const read :
       {static_cast<Read*>(&netuit::ReadAdjacencyList), static_cast<Read*>(&netuit::ReadMultilineAdjacencyList)}) {
    std::istringstream text{TextOf(data, size)};
    netuit::Topology topology;
    if (Accepts([&] { topology = read(text, "text", {}); }, "text:")) DemandEdgesComeBack(topology, false);
  }
  return 0;
}
