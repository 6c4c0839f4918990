#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include <uit/app/session.hpp>
#include <uit/link/world.hpp>

#include "tests/support/before_finalize.hpp"

namespace uit::testing {

/// The world of an MPI test, whose main has initialised MPI. One for the whole program, as it has one lock.
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

/// Of the values of all ranks. A collective call.
template <typename V>
V SumOverRanks(V value) {
  V sum{};
  for (const V& theirs : MpiTestWorld().AllGatherValue(value)) sum += theirs;
  return sum;
}

/// On how many ranks something holds. A collective call.
inline std::size_t CountRanks(bool holds) {
  return static_cast<std::size_t>(std::ranges::count(MpiTestWorld().AllGatherValue(holds), true));
}

}  // namespace uit::testing
