#pragma once

#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Names the parts of a new placement such that many nodes stay with their worker: first the processes, then the threads of each.
/// Requires placements of the same nodes and workers.
Placement KeepNames(const Placement& present, const Placement& next);

/// Changes a placement such that workers have about the same load, for nodes that are expensive to move. Node weights are loads.
///
/// PlaceByDiffusion moves few nodes. If workers still have an imbalance above `goal` then, because a worker with too much load has
/// no neighbour with too little or nodes are too heavy, and METIS finds a better placement, the result is that, by KeepNames.
/// METIS does not see the present placement, so it may then move most of the nodes.
Placement PlaceNear(const Topology& topology, const Placement& present, double goal);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/placement/place_near.ipp>
#endif
