#pragma once

#include <cstdint>

#include <netuit/mesh/mesh.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Gives a mesh the state of another one of the same graph, between runs, in memory: fields, edge fields, older values that edges
/// with delays may still show, messages that wait in channels, and the number of updates. Both meshes must have the same fields
/// and channels, added in the same order; their placements and numbers of threads may differ. Both must be on the same processes.
///
///     netuit::MeshOptions options;
///     options.placement = netuit::PlaceContiguous(graph, {.processes = team.NumProcesses(), .threads = team.NumThreads()});
///     Model second{team, options};                     // makes a mesh and adds its fields
///     netuit::MoveState(first.mesh, second.mesh);
///     second.mesh.Run(schedule, update, {.first_update = second.mesh.NumUpdates()});
///
/// The run then continues as after LoadCheckpoint: with EveryUpdate and Dataflow bit for bit as if nothing had happened. The state
/// of the first mesh does not change. In its accounts, messages that wait are unread; in those of the second, each is put once
/// more.
///
/// Returns the number of bytes of the state in this process, in which every node, edge and message of the graph occurs on one
/// process.
///
/// Collective. Throws uit::InputError on every process if the meshes differ, a message finds no room, or a field has values that
/// are neither trivially copyable nor have a codec; the state of the second mesh is then unspecified.
std::uint64_t MoveState(Mesh& from, Mesh& to);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/checkpoint/move_state.ipp>
#endif
