#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>
#include <utility>

#include <netuit/file/edge_data.hpp>
#include <netuit/file/graph_builder.hpp>
#include <netuit/file/line_cursor.hpp>
#include <netuit/file/line_reader.hpp>
#include <netuit/graph/topology.hpp>

namespace netuit {

/// Reads an adjacency list as NetworkX writes it: a label a line, then those it is joined to. An
/// undirected edge stands in one of its two lines only. Labels, comments and errors are as in
/// ReadEdgeList.
inline Topology ReadAdjacencyList(std::istream& stream, std::string name, const GraphOptions& options = {}) {
  LineReader reader{stream, std::move(name), options.max_line_bytes};
  GraphBuilder builder{reader, options};
  while (const auto line = reader.Next()) {
    LineCursor cursor{reader, *line};
    if (cursor.IsAtEnd()) continue;
    const NodeId source = builder.AddNode(cursor.TakeLabel());
    while (!cursor.IsAtEnd()) builder.AddEdge(source, builder.AddNode(cursor.TakeLabel()));
  }
  return std::move(builder).Build();
}

/// ReadAdjacencyList from a file.
inline Topology LoadAdjacencyList(const std::filesystem::path& path, const GraphOptions& options = {}) {
  std::ifstream stream = OpenInput(path);
  return ReadAdjacencyList(stream, path.string(), options);
}

/// Reads a multiline adjacency list as NetworkX writes it: a line with a label and a number, then that
/// many lines with a neighbour each and what ReadEdgeList takes for an edge's data. An undirected edge
/// stands with one of its two ends only. Labels, comments and errors are as in ReadEdgeList.
inline Topology ReadMultilineAdjacencyList(std::istream& stream, std::string name, const GraphOptions& options = {}) {
  LineReader reader{stream, std::move(name), options.max_line_bytes};
  GraphBuilder builder{reader, options};
  NodeId source = 0;
  std::uint64_t num_left = 0;
  while (const auto line = reader.Next()) {
    LineCursor cursor{reader, *line};
    if (cursor.IsAtEnd()) continue;
    const NodeId node = builder.AddNode(cursor.TakeLabel());
    if (num_left > 0) {
      builder.AddEdge(source, node, TakeEdgeData(cursor));
      --num_left;
    } else {
      if (cursor.IsAtEnd()) cursor.Fail("the number of neighbours is missing");
      source = node;
      num_left = cursor.TakeCount();
      cursor.ExpectEnd();
    }
  }
  if (num_left > 0) reader.Fail("the file ends " + std::to_string(num_left) + " neighbours too early");
  return std::move(builder).Build();
}

/// ReadMultilineAdjacencyList from a file.
inline Topology LoadMultilineAdjacencyList(const std::filesystem::path& path, const GraphOptions& options = {}) {
  std::ifstream stream = OpenInput(path);
  return ReadMultilineAdjacencyList(stream, path.string(), options);
}

}  // namespace netuit
