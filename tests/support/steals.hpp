#pragma once

#include <chrono>
#include <optional>

#include <netuit/run/schedule.hpp>

/// Steals however little time the nodes take, or none.
inline std::optional<netuit::Steals> StealsIf(bool on) {
  if (!on) return std::nullopt;
  return netuit::Steals{.shortest = std::chrono::nanoseconds{0}};
}
