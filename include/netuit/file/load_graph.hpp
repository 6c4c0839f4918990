#pragma once

#include <filesystem>

#include <netuit/file/graph_options.hpp>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Reads a graph at once; see LoadGraph.
Topology ReadGraph(const std::filesystem::path& path, const GraphOptions& options = {});

/// The graph in a file: an edge list, an adjacency list of one or of several lines a node, as NetworkX writes them, or a METIS
/// graph. The extension .edgelist, .adjlist, .multiline_adjlist, .madjlist or .graph says which. Without one of them, the
/// beginning of the file decides between the first three; see RecogniseFormat. A file that gzip has compressed is unpacked, if
/// the program is built with zlib (UIT_WITH_ZLIB). The file is read at the first Graph::Get. If it cannot be read, Get throws
/// uit::InputError "file:line: reason". For a file of another format, the reason is a line of Python that converts it.
///
/// A binary CsrFile is read, too. Of the options, it has only max_nodes and max_edges; its edges are directed.
Graph LoadGraph(const std::filesystem::path& path, const GraphOptions& options = {});

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/file/load_graph.ipp>
#endif
