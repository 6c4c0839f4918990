#pragma once

#include <istream>
#include <ostream>
#include <string>
#include <utility>

#include <netuit/file/decimal.hpp>
#include <netuit/file/edge_data.hpp>
#include <netuit/file/graph_builder.hpp>
#include <netuit/file/line_cursor.hpp>
#include <netuit/file/line_reader.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// Reads an edge list from a reader that has returned no line yet; see the overload for a stream.
inline Topology ReadEdgeList(LineReader& reader, const GraphOptions& options = {}) {
  GraphBuilder builder{reader, options};
  while (const auto line = reader.Next()) {
    LineCursor cursor{reader, *line};
    if (cursor.IsAtEnd()) continue;
    const NodeId source = builder.AddNode(cursor.TakeLabel());
    if (cursor.IsAtEnd()) cursor.Fail("one label, where an edge has two");
    const NodeId target = builder.AddNode(cursor.TakeLabel());
    builder.AddEdge(source, target, TakeEdgeData(cursor));
  }
  return std::move(builder).Build();
}

/// Reads an edge list as NetworkX writes it: on each line two labels, then a dictionary whose 'weight' is used, or a number, or
/// nothing.
///
/// Nodes are numbered in order of first appearance. A label is a word, or any text in round or square brackets or in quotes. It
/// is kept as written. Comments start at '#'. An edge that is listed twice becomes two parallel edges. Throws uit::InputError
/// "name:line: reason".
inline Topology ReadEdgeList(std::istream& stream, std::string name, const GraphOptions& options = {}) {
  LineReader reader{stream, std::move(name), options.max_line_bytes};
  return ReadEdgeList(reader, options);
}

/// How WriteEdgeList lists edges.
struct EdgeListOptions {
  /// Whether to write each directed edge; otherwise a reciprocal pair is one line.
  bool directed = false;
};

/// Writes an edge list for NetworkX's read_edgelist and for ReadEdgeList. Omits isolated nodes, as NetworkX does. Throws
/// uit::InputError if the list is undirected and some edge has no reciprocal of the same weight.
inline void WriteEdgeList(std::ostream& stream, const Topology& topology, EdgeListOptions options = {}) {
  const auto fail = [&](EdgeId edge) {
    throw uit::InputError("the edge from " + topology.Label(topology.Source(edge)) + " to " +
                          topology.Label(topology.Target(edge)) + " has no reciprocal of the same weight");
  };
  for (NodeId node = 0; node < topology.NumNodes(); ++node) {
    for (std::size_t k = 0; k < topology.OutNeighbors(node).size(); ++k) {
      const EdgeId edge = topology.FirstOutEdge(node) + k;
      if (!options.directed) {
        if (!topology.IsReciprocal(node, k)) fail(edge);
        const EdgeId reverse = topology.InEdges(node)[k];
        if (topology.EdgeWeight(edge) != topology.EdgeWeight(reverse)) fail(edge);
        if (reverse < edge) continue;
      }
      stream << topology.Label(node) << ' ' << topology.Label(topology.Target(edge));
      if (topology.HasEdgeWeights()) stream << " {'weight': " << ShortestDecimal(topology.EdgeWeight(edge)) << '}';
      stream << '\n';
    }
  }
}

}  // namespace netuit
