#pragma once

#include <cstdint>
#include <limits>

#include <netuit/graph/drawn_links.hpp>
#include <netuit/graph/kronecker.hpp>
#include <netuit/graph/random_permutation.hpp>
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

}  // namespace detail

UIT_DEFINE DrawnLinks KroneckerLinks(unsigned scale, NodeId edge_factor, std::uint64_t seed) {
  if (scale > 31) throw uit::InputError("a Kronecker graph cannot have more than 2^31 nodes");
  const NodeId num_nodes = NodeId{1} << scale;
  constexpr std::uint64_t stream_of_numbers = std::numeric_limits<std::uint64_t>::max();  // no link has it
  const RandomPermutation number{num_nodes, RandomStream{seed, stream_of_numbers}};
  return {.num_nodes = num_nodes,
          .num_drawn = std::uint64_t{num_nodes} * edge_factor,
          .draw = [scale, seed, number](std::uint64_t drawn) {
            const Edge link = detail::DrawKroneckerLink(scale, RandomStream{seed, drawn});
            return Edge{number(link.source), number(link.target)};
          }};
}

UIT_DEFINE Topology MakeKronecker(unsigned scale, NodeId edge_factor, std::uint64_t seed) {
  return MakeTopology(KroneckerLinks(scale, edge_factor, seed));
}

}  // namespace netuit
