#pragma once

#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>

/// Returns how many nodes have another worker in the second placement.
inline netuit::NodeId NumMoved(const netuit::Placement& before, const netuit::Placement& after) {
  netuit::NodeId count = 0;
  for (netuit::NodeId node = 0; node < before.NumNodes(); ++node) count += before.WorkerOf(node) != after.WorkerOf(node) ? 1 : 0;
  return count;
}
