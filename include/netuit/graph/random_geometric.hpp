#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Random points in a square, listed by grid cell, so that near points are found quickly.
///
/// Coordinates and distances are integers in units of 2^-31 of the square's side, so rounding never decides which points are
/// near.
class PointGrid {
 public:
  /// The length of the square's side.
  static constexpr std::int64_t side = std::int64_t{1} << 31U;

  /// A position in the square.
  struct Point {
    /// 0 … side - 1.
    std::int64_t x = 0;
    /// 0 … side - 1.
    std::int64_t y = 0;
  };

  /// reach: the largest distance between near points. Requires 0 <= reach < 2 × side.
  PointGrid(NodeId num_points, std::int64_t reach, std::uint64_t seed);

  /// The position of a point.
  Point operator[](NodeId point) const { return points_[point]; }

  /// Replaces `near` by the other points within reach, in ascending order.
  void FindNear(NodeId point, std::vector<NodeId>& near) const;

 private:
  bool AreNear(Point a, Point b) const;
  std::int64_t Slice(std::int64_t coordinate) const { return coordinate * num_cells_ / side; }
  std::size_t CellAt(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * num_cells_ + column);
  }
  std::size_t CellOf(Point point) const { return CellAt(Slice(point.y), Slice(point.x)); }

  std::int64_t reach_;
  std::int64_t num_cells_ = 1;
  std::vector<Point> points_;
  std::vector<std::size_t> first_;  // by cell: its first member
  std::vector<NodeId> members_;
};

/// n random nodes in a unit square with open borders. Two nodes are joined if their distance is at most the radius.
/// Undirected. The seed determines the graph. Throws uit::InputError if the radius is negative or NaN.
Topology MakeRandomGeometric(NodeId num_nodes, double radius, std::uint64_t seed);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/graph/random_geometric.ipp>
#endif
