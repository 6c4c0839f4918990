#pragma once

#include <cstdint>

#include <netuit/graph/edge_delays.hpp>

#include "tests/netuit/run/odd_graph.hpp"

namespace netuit::testing {

/// Delays from 0 to `longest` that depend on the edge's ends only. Edges with delay 0 lead up in an order drawn with the seed, so
/// they form no cycle.
inline EdgeDelays RandomDelays(std::uint64_t seed, std::uint64_t longest) {
  return [=](NodeId source, NodeId target) {
    const bool leads_up = Mix(source, seed) < Mix(target, seed);
    const std::uint64_t delay = Mix(Mix(source, seed + 1), target) % (longest + 1);
    return delay == 0 && !leads_up ? 1 : delay;
  };
}

}  // namespace netuit::testing
