#pragma once

#include <cstdint>
#include <string>

#include <netuit/checkpoint/manifest.hpp>
#include <netuit/checkpoint/value_store.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run_options.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>

namespace netuit::detail {

/// Throws unless SaveState can save the mesh. The same on every process.
void CheckSavable(const Mesh& mesh);

/// Throws uit::InputError if the mesh has what would not go to a mesh that takes its place in such a run. `kind` is the kind of
/// run, as "balanced".
void CheckReplaceable(const Mesh& mesh, const RunOptions& options, const std::string& kind);

/// Copies the state of a mesh between runs to a store: fields, edge fields, and the messages that wait in channels. Returns its
/// table of contents. Collective. Throws on every process like the store.
CheckpointManifest SaveState(Mesh& mesh, ValueStore& store);

/// Copies what this process has of the state of a mesh that has lost processes, and has run in no mode by update. `world` has those
/// that are left. Collective over them. Throws like the store.
void SaveRest(Mesh& mesh, const uit::World& world, ValueStore& store);

/// Gives a mesh of the same graph and program the state that SaveState has saved. Errors call it `name`. Collective. Throws
/// uit::InputError on every process if the mesh is another; its state is then unspecified. Returns the number of messages that this
/// process has put into its channels again.
std::uint64_t LoadState(Mesh& mesh, const CheckpointManifest& manifest, const ValueStore& store, const std::string& name);

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/checkpoint/mesh_state.ipp>
#endif
