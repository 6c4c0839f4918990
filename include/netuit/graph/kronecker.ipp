#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <netuit/graph/kronecker.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

namespace detail {

/// Draws the ends of a link, before nodes get their random numbers.
inline Edge DrawKroneckerLink(unsigned scale, RandomStream random) {
  Edge link;
  for (unsigned bit = 0; bit < scale; ++bit) {
    const double drawn = random.Uniform();
    link.source = link.source << 1U | (drawn >= 0.57 + 0.19 ? 1U : 0U);
    link.target = link.target << 1U | (drawn >= 0.57 + 0.19 + 0.19 || (drawn >= 0.57 && drawn < 0.57 + 0.19) ? 1U : 0U);
  }
  return link;
}

/// Numbers below `count` in random order (Fisher and Yates).
inline std::vector<NodeId> Shuffled(NodeId count, RandomStream random) {
  std::vector<NodeId> numbers(count);
  std::iota(numbers.begin(), numbers.end(), NodeId{0});
  for (NodeId left = count; left > 1; --left) std::swap(numbers[left - 1], numbers[random.Below(left)]);
  return numbers;
}

}  // namespace detail

UIT_DEFINE Topology MakeKronecker(unsigned scale, NodeId edge_factor, std::uint64_t seed) {
  if (scale > 31) throw uit::InputError("a Kronecker graph cannot have more than 2^31 nodes");
  const NodeId num_nodes = NodeId{1} << scale;
  constexpr std::uint64_t stream_of_numbers = std::numeric_limits<std::uint64_t>::max();  // no link has it
  const std::vector<NodeId> numbers = detail::Shuffled(num_nodes, RandomStream{seed, stream_of_numbers});
  const std::uint64_t num_drawn = std::uint64_t{num_nodes} * edge_factor;
  std::vector<std::uint64_t> both_ways;  // source and target of each edge, as one number
  both_ways.reserve(2 * num_drawn);
  for (std::uint64_t drawn = 0; drawn < num_drawn; ++drawn) {
    const Edge link = detail::DrawKroneckerLink(scale, RandomStream{seed, drawn});
    if (link.source == link.target) continue;
    const NodeId source = numbers[link.source];
    const NodeId target = numbers[link.target];
    both_ways.push_back(std::uint64_t{source} << 32U | target);
    both_ways.push_back(std::uint64_t{target} << 32U | source);
  }
  std::sort(both_ways.begin(), both_ways.end());
  both_ways.erase(std::unique(both_ways.begin(), both_ways.end()), both_ways.end());
  std::vector<Edge> edges;
  edges.reserve(both_ways.size());
  for (const std::uint64_t edge : both_ways) edges.push_back({static_cast<NodeId>(edge >> 32U), static_cast<NodeId>(edge)});
  return Topology{num_nodes, std::move(edges)};
}

}  // namespace netuit
