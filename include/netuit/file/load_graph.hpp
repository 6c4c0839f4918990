#pragma once

#include <filesystem>

#include <netuit/file/graph_options.hpp>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Reads a graph at once. The file's extension selects the format; see LoadGraph.
Topology ReadGraph(const std::filesystem::path& path, const GraphOptions& options = {});

/// The graph in a file. Its extension selects the format: .graph (METIS), .adjlist, .multiline_adjlist or .madjlist; any
/// other is an edge list. The file is read at the first Graph::Get. If it cannot be read, Get throws uit::InputError
/// "file:line: reason".
Graph LoadGraph(const std::filesystem::path& path, const GraphOptions& options = {});

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/file/load_graph.ipp>
#endif
