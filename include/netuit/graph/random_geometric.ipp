#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include <netuit/graph/random_geometric.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE PointGrid::PointGrid(NodeId num_points, std::int64_t reach, std::uint64_t seed)
    : reach_{reach} {
  points_.reserve(num_points);
  for (NodeId point = 0; point < num_points; ++point) {
    RandomStream random{seed, point};
    const auto x = static_cast<std::int64_t>(random.Next() >> 33U);
    points_.push_back({x, static_cast<std::int64_t>(random.Next() >> 33U)});
  }
  const auto one_point_each = static_cast<std::int64_t>(std::sqrt(static_cast<double>(num_points))) + 1;
  num_cells_ = std::clamp<std::int64_t>(side / std::max<std::int64_t>(reach, 1), 1, one_point_each);
  first_.resize(CellAt(num_cells_, 0) + 1);
  for (const Point& point : points_) ++first_[CellOf(point) + 1];
  for (std::size_t cell = 1; cell < first_.size(); ++cell) first_[cell] += first_[cell - 1];
  members_.resize(num_points);
  std::vector<std::size_t> next = first_;
  for (NodeId point = 0; point < num_points; ++point) members_[next[CellOf(points_[point])]++] = point;
}

UIT_DEFINE void PointGrid::FindNear(NodeId point, std::vector<NodeId>& near) const {
  near.clear();
  const auto [x, y] = points_[point];
  const std::int64_t left = std::max<std::int64_t>(0, Slice(x) - 1);
  const std::int64_t right = std::min(num_cells_ - 1, Slice(x) + 1);
  const std::int64_t bottom = std::min(num_cells_ - 1, Slice(y) + 1);
  for (std::int64_t row = std::max<std::int64_t>(0, Slice(y) - 1); row <= bottom; ++row) {
    for (std::size_t i = first_[CellAt(row, left)]; i < first_[CellAt(row, right) + 1]; ++i) {
      if (members_[i] != point && AreNear(points_[members_[i]], {x, y})) near.push_back(members_[i]);
    }
  }
  std::sort(near.begin(), near.end());
}

UIT_DEFINE bool PointGrid::AreNear(Point a, Point b) const {
  const auto squared = [](std::int64_t length) {
    const auto size = static_cast<std::uint64_t>(std::abs(length));
    return size * size;
  };
  return squared(a.x - b.x) + squared(a.y - b.y) <= squared(reach_);
}

UIT_DEFINE Topology MakeRandomGeometric(NodeId num_nodes, double radius, std::uint64_t seed) {
  if (!(radius >= 0)) throw uit::InputError("the radius must not be negative or NaN");
  const double reach = std::floor(std::min(radius, 1.5) * static_cast<double>(PointGrid::side));
  const PointGrid grid{num_nodes, static_cast<std::int64_t>(reach), seed};
  std::vector<Edge> edges;
  std::vector<NodeId> near;
  for (NodeId node = 0; node < num_nodes; ++node) {
    grid.FindNear(node, near);
    for (const NodeId neighbor : near) edges.push_back({node, neighbor});
  }
  return Topology{num_nodes, std::move(edges)};
}

}  // namespace netuit
