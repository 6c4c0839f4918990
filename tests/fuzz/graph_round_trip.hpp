#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <netuit/file/decimal.hpp>
#include <netuit/file/edge_list.hpp>

#include "tests/fuzz/fuzz.hpp"

namespace uit::fuzz {

/// Returns each edge as text, in an order that does not depend on the numbering of nodes.
inline std::vector<std::string> EdgesInWords(const netuit::Topology& topology) {
  std::vector<std::string> edges;
  for (netuit::EdgeId edge = 0; edge < topology.NumEdges(); ++edge) {
    edges.push_back(topology.Label(topology.Source(edge)) + '\n' + topology.Label(topology.Target(edge)) + '\n' +
                    netuit::ShortestDecimal(topology.EdgeWeight(edge)));
  }
  std::ranges::sort(edges);
  return edges;
}

/// Checks that a topology is the same after it is written as an edge list and read. One exception: a label such as '2x' is
/// allowed only after labels that are words, and their order is not kept.
inline void DemandEdgesComeBack(const netuit::Topology& topology, bool directed) {
  std::stringstream text;
  text << "# so that no label is taken for a byte-order mark\n";
  netuit::WriteEdgeList(text, topology, {.directed = directed});
  if (topology.NumEdges() == 0) return;
  netuit::Topology again;
  std::string complaint;
  const bool is_read = Accepts([&] { again = netuit::ReadEdgeList(text, "again", {.directed = directed}); }, "again:", true,
                               complaint);
  if (!is_read) {
    Demand(complaint.find("is not a whole number, but all labels before it are") != std::string::npos,
           "what was written can be read: " + complaint);
    return;
  }
  Demand(EdgesInWords(topology) == EdgesInWords(again), "edges come back as they were");
}

}  // namespace uit::fuzz
