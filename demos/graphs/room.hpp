#pragma once

#include <netuit/mesh/mesh_core.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>

namespace graphs {

/// Options of calls that functions make along edges without waiting for anything: room for about three for each edge of a process,
/// because a node may learn of several better results. They must be the same on every process, so they follow the mean.
inline uit::ConveyorOptions RoomForEdges(const netuit::MeshCore& mesh) {
  uit::ConveyorOptions options;
  options.budget_bytes += 60 * (mesh.NumEdges() / mesh.GetWorld().Size());
  return options;
}

}  // namespace graphs
