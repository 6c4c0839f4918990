#pragma once

#include <filesystem>
#include <string>

#include <netuit/file/adjacency_list.hpp>
#include <netuit/file/edge_list.hpp>
#include <netuit/file/load_graph.hpp>
#include <netuit/file/metis_graph.hpp>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE Topology ReadGraph(const std::filesystem::path& path, const GraphOptions& options) {
  const std::string extension = path.extension().string();
  if (extension == ".graph") return LoadMetisGraph(path, options);
  if (extension == ".adjlist") return LoadAdjacencyList(path, options);
  if (extension == ".multiline_adjlist" || extension == ".madjlist") return LoadMultilineAdjacencyList(path, options);
  return LoadEdgeList(path, options);
}

UIT_DEFINE Graph LoadGraph(const std::filesystem::path& path, const GraphOptions& options) {
  return Graph{[path, options] { return ReadGraph(path, options); }};
}

}  // namespace netuit
