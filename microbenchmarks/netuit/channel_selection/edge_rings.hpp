#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <netuit/mesh/node_random.hpp>
#include <uit/config.hpp>

#include "baselines.hpp"
#include "demos/channel_selection/cell.hpp"

namespace bench::coloring {

/// A ring of two values within one thread: the one that its reader holds, and one that waits.
class EdgeRing {
 public:
  EdgeRing() = default;
  explicit EdgeRing(unsigned first) : slots_{first, first} {}

  /// Returns false if a value already waits.
  bool TryPut(unsigned value) {
    if (tail_ != head_) return false;
    slots_[++tail_ % 2] = value;
    return true;
  }
  /// The newest value.
  [[nodiscard]] unsigned JumpGet() {
    head_ = tail_;
    return slots_[head_ % 2];
  }

 private:
  std::array<unsigned, 2> slots_{};
  std::uint32_t head_ = 0;
  std::uint32_t tail_ = 0;
};

/// The nodes of a single worker in a plain loop, with a ring per directed edge: a hand-written version of a conduit per edge.
class EdgeBlock {
 public:
  EdgeBlock() : cells_{nodes_per_worker, rule} {
    for (std::size_t node = 0; node < nodes_per_worker; ++node)
      cells_.Set(node, FirstColor(static_cast<netuit::NodeId>(node)));
    for (std::size_t node = 0; node < nodes_per_worker; ++node) {
      first_edge_.push_back(static_cast<std::uint32_t>(rings_.size()));
      const std::array neighbors = Neighbors(node);
      for (std::size_t side = 0; side < neighbors.size(); ++side) {
        rings_.emplace_back(cells_.Color(neighbors[side]));
        // A neighbour receives from this node on the opposite side: above from below, left from right.
        outgoing_.push_back(static_cast<std::uint32_t>(neighbors[side] * neighbors.size() + neighbors.size() - 1 - side));
      }
    }
    first_edge_.push_back(static_cast<std::uint32_t>(rings_.size()));
  }

  /// Updates every node once, in order: it reads its neighbours' rings and puts its colour into its own. Not inlined, as Block's.
  UIT_NOINLINE void Sweep() {
    for (std::size_t node = 0; node < nodes_per_worker; ++node) {
      const unsigned mine = cells_.Color(node);
      bool conflict = false;
      for (std::uint32_t i = first_edge_[node]; i < first_edge_[node + 1]; ++i) conflict |= rings_[i].JumpGet() == mine;
      cells_.Learn(node, conflict, netuit::NodeRandom{seed, static_cast<netuit::NodeId>(node), update_});
      const unsigned color = cells_.Color(node);
      for (std::uint32_t i = first_edge_[node]; i < first_edge_[node + 1]; ++i) rings_[outgoing_[i]].TryPut(color);
    }
    ++update_;
  }

  [[nodiscard]] unsigned Color(std::size_t node) const { return cells_.Color(node); }

 private:
  /// Above, left, right, below: as Block has them.
  static std::array<std::size_t, 4> Neighbors(std::size_t node) {
    const std::size_t row = node / width;
    const std::size_t column = node % width;
    const auto at = [](std::size_t r, std::size_t c) { return r % rows_per_worker * width + c % width; };
    return {at(row + rows_per_worker - 1, column), at(row, column + width - 1), at(row, column + 1), at(row + 1, column)};
  }

  channel_selection::Cells<float> cells_;
  std::vector<std::uint32_t> first_edge_;
  std::vector<EdgeRing> rings_;           // of incoming edges, node by node
  std::vector<std::uint32_t> outgoing_;  // likewise: the ring at the other end
  std::uint64_t update_ = 0;
};

/// Such a block, after a test that it colours as the plain loop does. Ends the program if it does not.
[[nodiscard]] inline EdgeBlock CheckedEdgeBlock() {
  Block plain{0, 1};
  EdgeBlock block;
  for (int sweep = 0; sweep < 100; ++sweep) {
    plain.Sweep();
    block.Sweep();
  }
  for (std::size_t node = 0; node < nodes_per_worker; ++node)
    if (block.Color(node) != plain.Color(node)) std::abort();
  return block;
}

}  // namespace bench::coloring
