#pragma once

#include <cmath>
#include <cstdint>
#include <netuit/file/graph_builder.hpp>
#include <string>
#include <uit/support/error.hpp>

namespace demo {

/// A 2-D torus of `side` x `width` nodes.
struct TorusShape {
  std::uint64_t side = 0;   ///< rows
  std::uint64_t width = 0;  ///< columns; not fewer
};

/// The torus of `num_nodes` nodes that is closest to a square. Messages name the command-line `option`, and call the nodes
/// `nodes`. Throws uit::InputError if a side is less than 3, or if the torus has more nodes than a graph file may have.
[[nodiscard]] inline TorusShape SquarishTorus(const std::string& option, std::uint64_t num_nodes, const std::string& nodes) {
  constexpr std::uint64_t most = netuit::GraphOptions{}.max_nodes;
  if (num_nodes > most) throw uit::InputError(option + ": more than " + std::to_string(most) + ' ' + nodes);
  auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(num_nodes)));
  while (side > 2 && num_nodes % side != 0) --side;
  if (side < 3)
    throw uit::InputError(option + ": " + std::to_string(num_nodes) + ' ' + nodes +
                          " in all make no torus with sides of 3 or more");
  return {.side = side, .width = num_nodes / side};
}

}  // namespace demo
