#pragma once

#include <cstdint>
#include <functional>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh_options.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/team/team.hpp>

#include "tests/support/mpi_world.hpp"

namespace netuit::testing {

/// Calls `test(team)` for teams of 1 and 2 threads per process.
inline void ForEachTeam(const std::function<void(const uit::Team&)>& test) {
  for (const std::uint32_t threads : {1U, 2U}) test(uit::Team{uit::testing::MpiTestWorld(), {.threads = threads}});
}

/// A placement that is good for nothing, so that most calls go elsewhere.
inline MeshOptions Scattered(const uit::Team& team, const Topology& graph) {
  return {.placement = PlaceRandom(graph, {.processes = team.NumProcesses(), .threads = team.NumThreads()}, 5)};
}

}  // namespace netuit::testing
