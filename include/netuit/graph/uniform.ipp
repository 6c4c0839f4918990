#pragma once

#include <cstdint>

#include <netuit/graph/drawn_links.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/graph/uniform.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE DrawnLinks UniformLinks(NodeId num_nodes, std::uint64_t num_links, std::uint64_t seed) {
  if (num_nodes == 0 && num_links != 0) throw uit::InputError("a graph without nodes cannot have links");
  return {.num_nodes = num_nodes, .num_drawn = num_links, .draw = [num_nodes, seed](std::uint64_t drawn) {
            RandomStream random{seed, drawn};
            const NodeId source = random.Below(num_nodes);
            return Edge{source, random.Below(num_nodes)};
          }};
}

UIT_DEFINE Topology MakeUniform(NodeId num_nodes, std::uint64_t num_links, std::uint64_t seed) {
  return MakeTopology(UniformLinks(num_nodes, num_links, seed));
}

}  // namespace netuit
