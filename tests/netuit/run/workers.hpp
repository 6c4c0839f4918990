#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <netuit/mesh/node.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/team/team.hpp>

#include "tests/support/mpi_world.hpp"

namespace netuit::testing {

/// All processes of the test, with so many threads each.
inline Workers WorkersWith(std::size_t threads) { return {.processes = uit::testing::MpiTestWorld().Size(), .threads = threads}; }
inline uit::Team TeamWith(std::uint32_t threads) { return uit::Team{uit::testing::MpiTestWorld(), {.threads = threads}}; }

/// Makes a node slow in one of so many updates: it computes for `span`. Each node is slow at its own times.
inline void BeSlowAtTimes(const Node& node, std::uint32_t one_in, std::chrono::nanoseconds span) {
  if (node.Random().Below(one_in) != 0) return;
  const auto end = std::chrono::steady_clock::now() + span;
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace netuit::testing
