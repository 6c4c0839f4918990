#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cell.hpp"

namespace channel_selection {

/// A graph for the serial loops: dense node ids, and the sources of each node's in-edges.
struct InNeighbours {
  std::vector<std::size_t> offsets;  // num_nodes + 1
  std::vector<std::uint32_t> sources;

  [[nodiscard]] std::size_t NumNodes() const { return offsets.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> Of(std::size_t node) const {
    return {sources.data() + offsets[node], offsets[node + 1] - offsets[node]};
  }
};

/// A torus of `rows` by `columns` nodes with 4 neighbours each: north, west, east, south. Node id = row * columns + column.
[[nodiscard]] inline InNeighbours MakeSerialTorus(std::uint32_t rows, std::uint32_t columns) {
  InNeighbours torus{.offsets = {0}, .sources = {}};
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      torus.sources.push_back((row + rows - 1) % rows * columns + column);
      torus.sources.push_back(row * columns + (column + columns - 1) % columns);
      torus.sources.push_back(row * columns + (column + 1) % columns);
      torus.sources.push_back((row + 1) % rows * columns + column);
      torus.offsets.push_back(torus.sources.size());
    }
  }
  return torus;
}

/// Graph colouring by a plain loop. Mode 0 must equal it; the other modes are compared with it.
///
/// `random(node, update)` returns the generator of a node's update. With the generator of `netuit::Node::Random` and the same
/// first colours, `UpdateAllAtOnce` computes the colours of mode 0 on any layout.
template <std::floating_point Real = float>
class SerialColoring {
 public:
  SerialColoring(const InNeighbours& graph, const LeithRule& rule)
      : graph_{graph}, cells_{graph.NumNodes(), rule}, visible_(graph.NumNodes()) {}

  [[nodiscard]] std::vector<unsigned> Colors() const { return cells_.Colors(); }

  /// First colours, `initial(node)`, seen by every neighbour from update 0 on.
  template <std::invocable<std::size_t> Initial>
  void Initialize(Initial&& initial) {
    for (std::size_t node = 0; node < visible_.size(); ++node) {
      visible_[node] = initial(node);
      cells_.Set(node, visible_[node]);
    }
  }

  /// One update of every node; each sees its neighbours' colours after the previous update (mode 0).
  template <std::invocable<std::size_t, std::uint64_t> Random>
  void UpdateAllAtOnce(std::uint64_t update, Random&& random) {
    for (std::size_t node = 0; node < visible_.size(); ++node) Learn(node, update, random);
    for (std::size_t node = 0; node < visible_.size(); ++node) visible_[node] = cells_.Color(node);
  }

  /// One update of every node in order; each sees its neighbours' newest colours (modes 1 to 4 on one thread).
  template <std::invocable<std::size_t, std::uint64_t> Random>
  void UpdateInPlace(std::uint64_t update, Random&& random) {
    for (std::size_t node = 0; node < visible_.size(); ++node) {
      Learn(node, update, random);
      visible_[node] = cells_.Color(node);
    }
  }

 private:
  template <typename Random>
  void Learn(std::size_t node, std::uint64_t update, Random&& random) {
    bool conflict = false;
    const unsigned mine = cells_.Color(node);
    for (const std::uint32_t source : graph_.Of(node)) conflict |= visible_[source] == mine;
    cells_.Learn(node, conflict, random(node, update));
  }

  const InNeighbours& graph_;
  Cells<Real> cells_;
  std::vector<unsigned> visible_;
};

/// The quality of a colouring. Each unordered pair of adjacent nodes counts once, for any number and direction of edges between
/// them. Self-loops do not count, since no colour differs from itself.
struct Score {
  std::uint64_t num_edges = 0;          ///< unordered adjacent pairs
  std::uint64_t num_conflicts = 0;      ///< pairs whose nodes have the same colour
  std::uint64_t nodes_in_conflict = 0;  ///< nodes of at least one such pair
  std::vector<std::uint8_t> in_conflict;  ///< by node: whether it is in such a pair
};

/// Scores `colors` (by node id). `neighbours(node)` returns the node ids at the other ends of a node's edges, in either direction
/// or both. Takes O(edges) on the calling thread.
template <typename Neighbours>
[[nodiscard]] Score ScoreColoring(std::span<const unsigned> colors, Neighbours&& neighbours) {
  std::vector<std::vector<std::uint32_t>> adjacent(colors.size());
  for (std::size_t node = 0; node < colors.size(); ++node) {
    for (const auto neighbour : neighbours(node)) {
      const auto other = static_cast<std::size_t>(neighbour);
      if (other != node) adjacent[std::min(node, other)].push_back(static_cast<std::uint32_t>(std::max(node, other)));
    }
  }
  Score score;
  score.in_conflict.resize(colors.size());
  for (std::size_t low = 0; low < colors.size(); ++low) {
    auto& pairs = adjacent[low];
    std::ranges::sort(pairs);
    const auto repeated = std::ranges::unique(pairs);
    pairs.erase(repeated.begin(), repeated.end());
    score.num_edges += pairs.size();
    for (const std::uint32_t high : pairs) {
      if (colors[low] != colors[high]) continue;
      ++score.num_conflicts;
      score.in_conflict[low] = score.in_conflict[high] = 1;
    }
  }
  score.nodes_in_conflict = static_cast<std::uint64_t>(std::ranges::count(score.in_conflict, 1));
  return score;
}

}  // namespace channel_selection
