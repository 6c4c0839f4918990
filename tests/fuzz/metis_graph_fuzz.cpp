// METIS graph files are read, or refused with file, line and reason. Those that were read are symmetric, and the same after
// writing and reading.
#include <sstream>

#include <netuit/file/atomic_file.hpp>
#include <netuit/file/decimal.hpp>
#include <netuit/file/metis_graph.hpp>

#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace uit::fuzz;

std::string Write(const netuit::Topology& topology) {
  std::ostringstream text;
  std::size_t num_ends = topology.NumEdges();
  for (netuit::EdgeId edge = 0; topology.NumEdges() % 2 != 0 && edge < topology.NumEdges(); ++edge)
    num_ends += topology.Source(edge) == topology.Target(edge) ? 1 : 0;  // a self-loop is listed once
  text << topology.NumNodes() << ' ' << num_ends / 2 << " 011\n";
  for (netuit::NodeId node = 0; node < topology.NumNodes(); ++node) {
    text << netuit::ShortestDecimal(topology.NodeWeight(node));
    for (std::size_t k = 0; k < topology.OutNeighbors(node).size(); ++k) {
      text << ' ' << topology.OutNeighbors(node)[k] + 1 << ' '
           << netuit::ShortestDecimal(topology.EdgeWeight(topology.FirstOutEdge(node) + k));
    }
    text << '\n';
  }
  return text.str();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream text{TextOf(data, size)};
  netuit::Topology topology;
  if (!Accepts([&] { topology = netuit::ReadMetisGraph(text, "text"); }, "text:")) return 0;
  const std::string written = Write(topology);
  std::istringstream stream{written};
  netuit::Topology again;
  std::string complaint;
  Demand(Accepts([&] { again = netuit::ReadMetisGraph(stream, "again"); }, "again:", true, complaint),
         "what was written can be read: " + complaint);
  Demand(Write(again) == written, "a graph comes back as it was");
  return 0;
}
