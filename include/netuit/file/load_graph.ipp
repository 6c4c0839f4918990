#pragma once

#include <filesystem>
#include <fstream>
#include <istream>
#include <memory>
#include <system_error>

#include <netuit/file/adjacency_list.hpp>
#include <netuit/file/csr_file.hpp>
#include <netuit/file/edge_list.hpp>
#include <netuit/file/graph_format.hpp>
#include <netuit/file/line_reader.hpp>
#include <netuit/file/load_graph.hpp>
#include <netuit/file/metis_graph.hpp>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>
#if UIT_WITH_ZLIB
#include <netuit/file/gzip_stream.hpp>
#endif

namespace netuit {

namespace detail {

/// Opens a graph file, which may be compressed.
UIT_DEFINE std::unique_ptr<std::istream> OpenGraph(const std::filesystem::path& path) {
  auto stream = std::make_unique<std::ifstream>(OpenInput(path));
#if UIT_WITH_ZLIB
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) {  // a pipe cannot be opened twice
    if (stream->get() == 0x1F && stream->get() == 0x8B) return std::make_unique<GzipStream>(path);
    stream->clear();
    stream->seekg(0);
  }
#endif
  return stream;
}

}  // namespace detail

UIT_DEFINE Topology ReadGraph(const std::filesystem::path& path, const GraphOptions& options) {
  if (detail::IsCsrFile(path)) return ReadCsr(path, options);
  const std::unique_ptr<std::istream> stream = detail::OpenGraph(path);
  LineReader reader{*stream, path.string(), options.max_line_bytes};
  switch (RecogniseFormat(reader, path)) {
    case GraphFormat::metis: return ReadMetisGraph(reader, options);
    case GraphFormat::adjacency_list: return ReadAdjacencyList(reader, options);
    case GraphFormat::multiline_adjacency_list: return ReadMultilineAdjacencyList(reader, options);
    case GraphFormat::edge_list: break;
  }
  return ReadEdgeList(reader, options);
}

UIT_DEFINE Graph LoadGraph(const std::filesystem::path& path, const GraphOptions& options) {
  return Graph{[path, options] { return ReadGraph(path, options); }};
}

}  // namespace netuit
