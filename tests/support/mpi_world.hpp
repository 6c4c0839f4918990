#pragma once

#include <uit/mpi/session.hpp>
#include <uit/wire/world.hpp>

namespace uit::testing {

/// The world of an MPI test, whose main has initialised MPI. One for the whole program, as it has one lock.
inline World MpiTestWorld() {
  static const World world = [] {
    int argc = 0;
    char** argv = nullptr;
    return mpi::Session{argc, argv}.World();
  }();
  return world;
}

}  // namespace uit::testing
