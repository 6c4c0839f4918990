#pragma once

#include <optional>

#include <uit/mpi/session.hpp>
#include <uit/wire/world.hpp>

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

}  // namespace uit::testing
