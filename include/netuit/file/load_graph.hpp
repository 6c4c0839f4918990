#pragma once

#include <filesystem>
#include <string>

#include <netuit/file/adjacency_list.hpp>
#include <netuit/file/edge_list.hpp>
#include <netuit/file/graph_builder.hpp>
#include <netuit/file/metis_graph.hpp>
#include <netuit/graph/topology.hpp>

namespace netuit {

/// Reads a graph in the format that its file's extension tells: .graph (METIS), .adjlist,
/// .multiline_adjlist or .madjlist, else an edge list. Throws uit::InputError "file:line: reason".
inline Topology LoadGraph(const std::filesystem::path& path, const GraphOptions& options = {}) {
  const std::string extension = path.extension().string();
  if (extension == ".graph") return LoadMetisGraph(path, options);
  if (extension == ".adjlist") return LoadAdjacencyList(path, options);
  if (extension == ".multiline_adjlist" || extension == ".madjlist") return LoadMultilineAdjacencyList(path, options);
  return LoadEdgeList(path, options);
}

}  // namespace netuit
