#pragma once

#include <cstdint>
#include <filesystem>

#include <netuit/mesh/mesh.hpp>
#include <uit/config.hpp>

namespace netuit {

/// What TakeOver has done. The same on every process.
struct TakeOverResult {
  std::uint64_t num_nodes = 0;     ///< that no remaining process had, and that have their values from the checkpoint
  std::uint64_t num_messages = 0;  ///< that wait again, and so count as put once more
};

/// Gives a mesh the state that the remaining processes have of another one of the same graph, which has lost processes in a run of
/// mode 1, 2 or 3. Nodes of lost processes get the values that they had in the checkpoint.
///
///     const uit::World spare = team.GetWorld().Duplicate();  // before the run
///     ...
///     const auto survivors = spare.FindSurvivors(uit::After(10s));
///     Model second{team.On(survivors->world)};
///     netuit::TakeOver(first.mesh, second.mesh, "run.ckpt");
///
/// A value of an edge, and messages that wait in its channel, belong to the node at the edge's end. Messages that were on their way
/// to another process are lost. `to` is of the remaining processes. It must have the same fields and channels as `from`, added in
/// the same order. Its number of updates becomes the largest that a remaining process or the checkpoint knows. The state of `from`
/// does not change.
///
/// Resilient does all this. Collective over the processes of `to`. Throws uit::InputError on every process if there is no
/// checkpoint of this program in the folder, or if messages find no room; the state of `to` is then unspecified.
TakeOverResult TakeOver(Mesh& from, Mesh& to, const std::filesystem::path& folder);

/// Gives a mesh the whole state of a checkpoint, as LoadCheckpoint does, and tells what that has done. Collective; throws likewise.
TakeOverResult GoBack(Mesh& to, const std::filesystem::path& folder);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/checkpoint/take_over.ipp>
#endif
