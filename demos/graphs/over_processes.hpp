#pragma once

#include <span>
#include <string>

#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>

namespace graphs {

/// Returns on rank 0 the complaint of the lowest rank that has one. Collective.
inline std::string FirstComplaint(const uit::World& world, const std::string& mine) {
  for (const uit::Bytes& words : world.Gather(std::as_bytes(std::span(mine))))
    if (!words.empty()) return {reinterpret_cast<const char*>(words.data()), words.size()};
  return "";
}

/// Returns the sum of all processes' numbers, on every process. Collective.
inline double SumOver(const uit::World& world, double mine) {
  double sum = 0;
  for (const double theirs : world.AllGatherValue(mine)) sum += theirs;
  return sum;
}

}  // namespace graphs
