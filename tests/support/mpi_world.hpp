#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include <uit/app/session.hpp>
#include <uit/link/world.hpp>

#include "tests/support/before_finalize.hpp"

namespace uit::testing {

/// Returns the world of an MPI test, whose main has initialised MPI. The program has one world, because it has one lock.
inline World MpiTestWorld() {
  static std::optional<World> world;
  if (!world) {
    int argc = 0;
    char** argv = nullptr;
    world = mpi::Session{argc, argv}.World();
    before_finalize = [] { world.reset(); };
  }
  return *world;
}

/// Sums a value over all ranks. Collective.
template <typename V>
V SumOverRanks(V value) {
  V sum{};
  for (const V& theirs : MpiTestWorld().AllGatherValue(value)) sum += theirs;
  return sum;
}

/// Returns the number of ranks on which a condition holds. Collective.
inline std::size_t CountRanks(bool holds) {
  return static_cast<std::size_t>(std::ranges::count(MpiTestWorld().AllGatherValue(holds), true));
}

}  // namespace uit::testing
