#pragma once

#include <chrono>
#include <optional>

#include <netuit/run/schedule.hpp>

namespace netuit::testing {

/// Steals however little time the nodes take, or none.
inline std::optional<Steals> StealsIf(bool on) {
  if (!on) return std::nullopt;
  return Steals{.shortest = std::chrono::nanoseconds{0}};
}

}  // namespace netuit::testing
