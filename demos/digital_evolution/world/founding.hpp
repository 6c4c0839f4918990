#pragma once

#include <cstdint>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <optional>

#include "demos/digital_evolution/machine/genome.hpp"
#include "demos/digital_evolution/world/resource.hpp"

namespace digital_evolution {

/// How a world begins.
struct Founding {
  Genome ancestor;                   ///< of the founders
  std::optional<Genome> rival{};     ///< of half of them, for a competition
  netuit::NodeId num_founders = 0;   ///< spread evenly over the nodes; the rest is empty. 0: all nodes
  Resource stockpile = one_resource; ///< that a founder has on average
};

/// The genome of a place's founder: 0 the ancestor, 1 the rival; none if the place is empty. Of each two consecutive founders,
/// one, chosen at random, has the rival's genome, so each genome has half of them. The same on every process.
inline std::optional<std::uint8_t> FounderOf(const Founding& founding, std::uint64_t seed, netuit::NodeId node,
                                             netuit::NodeId num_nodes) {
  const std::uint64_t num_founders = founding.num_founders == 0 ? num_nodes : founding.num_founders;
  const std::uint64_t number = (node * num_founders + num_nodes - 1) / num_nodes;  // of the first founder at or behind it
  if (number >= num_founders || number * num_nodes / num_founders != node) return {};
  if (!founding.rival) return 0;
  const std::uint32_t coin = netuit::RandomStream{seed, ~(number / 2)}.Below(2);
  return static_cast<std::uint8_t>((number + coin) % 2);
}

}  // namespace digital_evolution
