#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <netuit/file/line_cursor.hpp>
#include <netuit/file/line_reader.hpp>
#include <netuit/graph/label_index.hpp>
#include <netuit/graph/topology.hpp>

namespace netuit {

/// Reads the expected load of each node: either one number per line, in node order, or a label and a number per line, in any
/// order. The first line decides.
///
///     topology = topology.WithNodeWeights(netuit::LoadNodeWeights("graph.weights", topology));
///
/// Empty lines and comments after '#' are skipped. Throws uit::InputError "name:line: reason" if a node
/// is unknown, missing, or named twice.
inline std::vector<double> ReadNodeWeights(std::istream& stream, std::string name, const Topology& topology) {
  LineReader reader{stream, std::move(name)};
  LabelIndex index;
  std::vector<double> weights(topology.NumNodes(), 1);
  std::vector<bool> is_known(topology.NumNodes());
  NodeId num_known = 0;
  bool has_labels = false;
  while (const auto line = reader.Next()) {
    LineCursor cursor{reader, *line};
    if (cursor.IsAtEnd()) continue;
    const std::string_view first = cursor.TakeLabel();
    if (num_known == 0 && !cursor.IsAtEnd()) {
      has_labels = true;
      for (NodeId node = 0; node < topology.NumNodes(); ++node) index.FindOrAdd(topology.Label(node));
    }
    NodeId node = num_known;
    if (has_labels) {
      const auto found = index.Find(first);
      if (!found) cursor.Fail("the graph has no node " + Quoted(first));
      node = *found;
      if (is_known[node]) cursor.Fail("a second weight for node " + Quoted(first));
    } else if (node == topology.NumNodes()) {
      cursor.Fail("more weights than the " + std::to_string(topology.NumNodes()) + " nodes");
    }
    weights[node] = has_labels ? cursor.TakeWeight() : cursor.ParseWeight(first);
    cursor.ExpectEnd();
    is_known[node] = true;
    ++num_known;
  }
  for (NodeId node = 0; node < topology.NumNodes(); ++node) {
    if (!is_known[node]) reader.Fail("no weight for node " + Quoted(topology.Label(node)));
  }
  return weights;
}

/// ReadNodeWeights from a file.
inline std::vector<double> LoadNodeWeights(const std::filesystem::path& path, const Topology& topology) {
  std::ifstream stream = OpenInput(path);
  return ReadNodeWeights(stream, path.string(), topology);
}

}  // namespace netuit
