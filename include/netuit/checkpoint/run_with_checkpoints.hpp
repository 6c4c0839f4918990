#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <uit/config.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit {

/// When a run saves checkpoints, and where. It always saves one at its end.
struct CheckpointOptions {
  std::filesystem::path to{};               ///< the folder, see SaveCheckpoint
  std::chrono::nanoseconds every{0};        ///< time between two checkpoints; 0: does not matter
  std::uint64_t every_updates = 0;          ///< updates between two checkpoints; 0: does not matter
  std::map<std::string, std::string> notes{};  ///< saved with each
};

namespace detail {

/// Runs in parts, by `run_part`, and saves a checkpoint after each.
RunReport RunSaving(Mesh& mesh, const RunPlan& plan, const RunOptions& options, const CheckpointOptions& checkpoints,
                    uit::FunctionRef<RunReport(const RunPlan&, const RunOptions&)> run_part);

}  // namespace detail

/// Runs like Mesh::Run, and saves checkpoints meanwhile and at the end, also if a signal ends the run.
///
///     if (netuit::HasCheckpoint(team.GetWorld(), "run.ckpt")) netuit::LoadCheckpoint(mesh, "run.ckpt");
///     netuit::RunWithCheckpoints(mesh, netuit::Free{.duration = 24h}, update, {.to = "run.ckpt", .every = 10min});
///
/// Update numbers go on from Mesh::NumUpdates, or from first_update if that is larger, at the next multiple of every network's
/// period. All workers pause while a checkpoint is saved: in EveryUpdate and Dataflow after the same update, elsewhere as at the end
/// of a run. The limits of the schedule count from the call, and the time for checkpoints does not count.
///
/// The report is of the whole run; a quantile in it is the largest of any part. If an update throws or a process is lost, nothing is
/// saved, and the message names the last checkpoint. Signals that come while a checkpoint is saved end the run after it.
///
/// Collective. Throws like Mesh::Run and SaveCheckpoint.
template <ScheduleValue S, UpdateFunction F>
RunReport RunWithCheckpoints(Mesh& mesh, const S& schedule, F&& update, const CheckpointOptions& checkpoints,
                             const RunOptions& options = {}) {
  return detail::RunSaving(mesh, schedule.MakePlan(), options, checkpoints, [&](const RunPlan& plan, const RunOptions& part) {
    return mesh.Run(plan, update, part);
  });
}

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/checkpoint/run_with_checkpoints.ipp>
#endif
