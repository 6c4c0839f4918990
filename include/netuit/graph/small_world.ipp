#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <unordered_set>
#include <utility>
#include <vector>

#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE Topology MakeSmallWorld(NodeId num_nodes, NodeId num_neighbors, double rewiring_probability,
                                   std::uint64_t seed) {
  if (num_neighbors > num_nodes) throw uit::InputError("a small world cannot have more neighbours than nodes");
  if (!(rewiring_probability >= 0 && rewiring_probability <= 1)) {
    throw uit::InputError("the rewiring probability must be in 0 … 1");
  }
  const NodeId reach = num_neighbors / 2;
  const auto key = [](NodeId a, NodeId b) { return std::uint64_t{std::min(a, b)} << 32U | std::max(a, b); };

  std::vector<Edge> links;
  std::unordered_set<std::uint64_t> joined;
  joined.reserve(std::size_t{num_nodes} * reach);
  std::vector<NodeId> degrees(num_nodes);
  for (NodeId step = 1; step <= reach; ++step) {
    for (NodeId node = 0; node < num_nodes; ++node) {
      const auto target = static_cast<NodeId>((std::uint64_t{node} + step) % num_nodes);
      if (target == node || !joined.insert(key(node, target)).second) continue;
      links.push_back({node, target});
      ++degrees[node];
      ++degrees[target];
    }
  }

  RandomStream random{seed};
  for (Edge& link : links) {
    if (random.Uniform() >= rewiring_probability || degrees[link.source] >= num_nodes - 1) continue;
    NodeId target = random.Below(num_nodes);
    while (target == link.source || joined.contains(key(link.source, target))) target = random.Below(num_nodes);
    joined.erase(key(link.source, link.target));
    joined.insert(key(link.source, target));
    --degrees[link.target];
    ++degrees[target];
    link.target = target;
  }

  std::vector<Edge> edges;
  edges.reserve(2 * links.size());
  for (const Edge& link : links) {
    edges.push_back(link);
    edges.push_back({link.target, link.source});
  }
  return Topology{num_nodes, std::move(edges)};
}

namespace detail {

/// A step on the square lattice.
struct Offset {
  std::int64_t down = 0;
  std::int64_t right = 0;
};

/// Draws steps on an unbounded square lattice. The Manhattan length d of a step is 1 … longest; its probability is
/// proportional to d^-exponent.
class OffsetSampler {
 public:
  OffsetSampler(std::uint32_t longest, double exponent) : up_to_{0} {
    for (std::uint32_t length = 1; length <= longest; ++length) {
      double decay = 1;
      if (exponent == std::floor(exponent)) {
        for (double power = 0; power < exponent; ++power) decay *= length;
      } else {
        decay = std::pow(length, exponent);
      }
      up_to_.push_back(up_to_.back() + length / decay);  // 4 × length nodes are at this distance
    }
  }

  /// Requires longest > 0.
  Offset Draw(RandomStream& random) const {
    const double drawn = random.Uniform() * up_to_.back();
    const std::int64_t length = std::upper_bound(up_to_.begin() + 1, up_to_.end() - 1, drawn) - up_to_.begin();
    const std::int64_t along = random.Below(static_cast<std::uint32_t>(length));
    switch (random.Below(4)) {
      case 0:
        return {along, length - along};
      case 1:
        return {length - along, -along};
      case 2:
        return {-along, along - length};
      default:
        return {along - length, along};
    }
  }

 private:
  std::vector<double> up_to_;  // by length: the cumulative weight of lengths up to it
};

}  // namespace detail

UIT_DEFINE Topology MakeNavigableSmallWorld(NodeId side, NavigableOptions options) {
  if (side > 0xFFFF) throw uit::InputError("a square must have fewer than 2^32 nodes");
  if (!(options.exponent >= 0 && options.exponent <= 64)) throw uit::InputError("the exponent must be in 0 … 64");
  const std::int64_t last = std::int64_t{side} - 1;
  const auto is_inside = [&](std::int64_t row, std::int64_t column) {
    return row >= 0 && row <= last && column >= 0 && column <= last;
  };
  const auto node_at = [&](std::int64_t row, std::int64_t column) { return static_cast<NodeId>(row * side + column); };

  const detail::OffsetSampler sampler{side == 0 ? 0 : 2 * (side - 1), options.exponent};
  const std::int64_t range = std::min<std::int64_t>(options.short_range, 2 * std::int64_t{side});
  std::vector<Edge> edges;
  for (NodeId node = 0; node < side * side; ++node) {
    const std::int64_t row = node / side;
    const std::int64_t column = node % side;
    for (std::int64_t down = -range; down <= range; ++down) {
      const std::int64_t rest = range - std::abs(down);
      for (std::int64_t right = -rest; right <= rest; ++right) {
        if ((down == 0 && right == 0) || !is_inside(row + down, column + right)) continue;
        edges.push_back({node, node_at(row + down, column + right)});
      }
    }
    RandomStream random{options.seed, node};
    for (NodeId k = 0; k < options.num_long_range && side > 1;) {
      const detail::Offset offset = sampler.Draw(random);
      if (!is_inside(row + offset.down, column + offset.right)) continue;  // drawn again until it is inside
      edges.push_back({node, node_at(row + offset.down, column + offset.right)});
      ++k;
    }
  }
  return Topology{side * side, std::move(edges)};
}

}  // namespace netuit
