#pragma once

#include <filesystem>

#include <netuit/file/graph_options.hpp>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Reads a graph in the format that its file's extension tells; see LoadGraph.
Topology ReadGraph(const std::filesystem::path& path, const GraphOptions& options = {});

/// The graph in a file, in the format that the file's extension tells: .graph (METIS), .adjlist, .multiline_adjlist or
/// .madjlist, else an edge list. It is read when it is first asked for; then uit::InputError "file:line: reason" is thrown if
/// that cannot be.
Graph LoadGraph(const std::filesystem::path& path, const GraphOptions& options = {});

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/file/load_graph.ipp>
#endif
