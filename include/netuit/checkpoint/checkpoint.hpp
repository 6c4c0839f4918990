#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include <netuit/mesh/mesh.hpp>
#include <uit/config.hpp>

namespace netuit {

/// What a checkpoint says of itself.
struct CheckpointInfo {
  std::uint64_t num_updates = 0;               ///< made when it was saved; see MeshCore::NumUpdates
  std::map<std::string, std::string> notes{};  ///< as given when it was saved
};

/// Saves the whole state of a mesh between runs: fields, edge fields, and the messages that wait in channels.
/// LoadCheckpoint gives it to another mesh of the same graph, on any number of processes and threads.
///
///     netuit::SaveCheckpoint(mesh, "run.ckpt");
///
/// The checkpoint is a folder: `checkpoint.json` lists its contents, and a subfolder has an .npy file for each field, in order of
/// node or edge, which numpy.load reads. Processes write their parts of each file at the same time; all must see the same folder.
/// An older checkpoint in the folder is replaced in one step. If this fails or the job is killed, the older one stays whole.
///
/// After a run by Dataflow with edge delays above 1, edges may still show older values of a published field. They are in two more
/// files: `theta.older.npy` has them node after node, each node's from that of two updates before to the oldest, and
/// `theta.older.counts.npy` has their number by node.
///
/// Values of a type that is not trivially copyable are saved by their codec, such as cereal's; see uit::codec_for. Values of a
/// trivially copyable type are saved as bytes, so pointers in them are not valid later. Data outside the mesh is not saved;
/// `notes` has room for small facts.
///
/// Collective. Throws uit::OutputError on every process if a file cannot be written or another job is writing the checkpoint, and
/// uit::InputError if a field has neither trivially copyable values nor a codec.
void SaveCheckpoint(Mesh& mesh, const std::filesystem::path& folder, const std::map<std::string, std::string>& notes = {});

/// Gives a mesh the state that SaveCheckpoint has saved. The mesh must have the same graph, and the same fields and channels, added
/// in the same order.
///
///     const auto saved = netuit::LoadCheckpoint(mesh, "run.ckpt");
///     mesh.Run(netuit::EveryUpdate{.updates = 1000}, update, {.first_update = saved.num_updates});
///
/// The run has the seed of the saved mesh's last run, unless RunOptions::seed gives another. With EveryUpdate and Dataflow, it then
/// continues bit for bit as if it had never been interrupted, whatever the number of processes and threads, if the updates made so
/// far are a multiple of every network's period, and if no node was silent whose published values had changed: at the end of a run,
/// neighbours see all values.
///
/// A checkpoint has no older values if the last run before it was in another mode, or its edges had shorter delays. A run by
/// Dataflow then begins like the first of a mesh: edges with delays above 1 show the other values of the checkpoint at first. Older
/// values that no edge of this mesh shows are not read.
///
/// Messages that waited when the checkpoint was saved wait again, and count as put once in the accounts of this mesh. A sum waits
/// as one message.
///
/// Collective. Throws uit::InputError on every process if the folder has no checkpoint, if a file has changed, or if the checkpoint
/// is of another graph or program, or has older values for other edge delays; the state of the mesh is then unspecified.
CheckpointInfo LoadCheckpoint(Mesh& mesh, const std::filesystem::path& folder);

/// Returns what a checkpoint says of itself, for programs that need its notes before they make the mesh. Reads no values.
///
/// Collective. Throws uit::InputError on every process if the folder has no checkpoint.
CheckpointInfo ReadCheckpointInfo(const uit::World& world, const std::filesystem::path& folder);

/// Whether the folder has a checkpoint. Collective: every process gets rank 0's answer.
bool HasCheckpoint(const uit::World& world, const std::filesystem::path& folder);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/checkpoint/checkpoint.ipp>
#endif
