#pragma once

#include <netuit/graph/csr_rows.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/placement/blocks.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>

namespace netuit::detail {

/// Whether any process has an edge that does not weigh 1. Collective.
bool HaveWeights(const uit::World& world, const CsrRows& rows);

/// Returns this process's part of a graph of which each process has the outputs of its own nodes. The result equals that of
/// ScatterGraph for a Topology with the same edges in the order of all rows, and a placement in the same blocks. Needs memory for
/// the edges of this process's nodes and a little for each process. Collective. Throws uit::InputError on every process if a worker
/// has more than 2^32 - 1 inputs or outputs.
ProcessGraph JoinRows(const uit::World& world, const Blocks& blocks, CsrRows rows);

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/mesh/join_rows.ipp>
#endif
