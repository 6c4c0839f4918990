#pragma once

#include <filesystem>
#include <string>

#include <netuit/file/adjacency_list.hpp>
#include <netuit/file/edge_list.hpp>
#include <netuit/file/graph_builder.hpp>
#include <netuit/file/metis_graph.hpp>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/topology.hpp>

namespace netuit {

/// Reads a graph in the format that its file's extension tells; see LoadGraph.
inline Topology ReadGraph(const std::filesystem::path& path, const GraphOptions& options = {}) {
  const std::string extension = path.extension().string();
  if (extension == ".graph") return LoadMetisGraph(path, options);
  if (extension == ".adjlist") return LoadAdjacencyList(path, options);
  if (extension == ".multiline_adjlist" || extension == ".madjlist") return LoadMultilineAdjacencyList(path, options);
  return LoadEdgeList(path, options);
}

/// The graph in a file, in the format that the file's extension tells: .graph (METIS), .adjlist, .multiline_adjlist or
/// .madjlist, else an edge list. It is read when it is first asked for; then uit::InputError "file:line: reason" is thrown if
/// that cannot be.
inline Graph LoadGraph(const std::filesystem::path& path, const GraphOptions& options = {}) {
  return Graph{[path, options] { return ReadGraph(path, options); }};
}

}  // namespace netuit
