#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace demo {

/// A 2-D torus of `side` x `width` nodes.
struct TorusShape {
  std::uint64_t side = 0;   ///< rows
  std::uint64_t width = 0;  ///< columns; not fewer
};

/// The most nearly square torus of so many nodes; none if it has a side of less than 3.
[[nodiscard]] inline std::optional<TorusShape> SquarishTorus(std::uint64_t num_nodes) {
  auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(num_nodes)));
  while (side > 2 && num_nodes % side != 0) --side;
  if (side < 3) return std::nullopt;
  return TorusShape{.side = side, .width = num_nodes / side};
}

}  // namespace demo
